//! The CPU engine: the specification, run on all cores.

use std::sync::Arc;

use kvrm_arm64::{Access, Cpu, Stop};
use rayon::prelude::*;

use crate::address_space::{AddressSpace, MemorySnapshot};
use crate::engine::Engine;
use crate::error::Error;
use crate::image::Image;

/// Runs lanes with the semantics of [`kvrm_arm64`], spread over the cores.
#[derive(Debug)]
pub struct Reference {
    lanes: Vec<Lane>,
}

#[derive(Debug)]
struct Lane {
    cpu: Cpu,
    memory: AddressSpace,
    stop: Option<Stop>,
    snapshot: Option<Snapshot>,
}

#[derive(Debug)]
struct Snapshot {
    cpu: Cpu,
    memory: MemorySnapshot,
    stop: Option<Stop>,
}

impl Reference {
    /// An engine with `lanes` lanes on `image`, each of which may own `frames_max` frames.
    ///
    /// # Errors
    /// If there is no memory for so many lanes.
    pub fn new(image: &Arc<Image>, lanes: usize, frames_max: usize) -> Result<Self, Error> {
        let lane = || Lane {
            cpu: Cpu::default(),
            memory: AddressSpace::new(Arc::clone(image), frames_max),
            stop: None,
            snapshot: None,
        };
        let mut all = Vec::new();
        all.try_reserve_exact(lanes).map_err(|_| Error::TooManyLanes { lanes, bytes: size_of::<Lane>() })?;
        all.extend((0..lanes).map(|_| lane()));
        Ok(Self { lanes: all })
    }
}

impl Lane {
    fn run(&mut self, limit: u64) {
        if self.stop.is_none() {
            let budget = limit.saturating_sub(self.cpu.steps);
            self.stop = Some(kvrm_arm64::run(&mut self.cpu, &mut self.memory, budget));
        }
    }
}

impl Engine for Reference {
    fn name(&self) -> &'static str {
        "reference"
    }

    fn lanes(&self) -> usize {
        self.lanes.len()
    }

    fn run(&mut self, limits: &[u64]) -> Result<(), Error> {
        if let ([lane], [limit]) = (&mut self.lanes[..], limits) {
            lane.run(*limit);
        } else {
            self.lanes.par_iter_mut().zip(limits).for_each(|(lane, limit)| lane.run(*limit));
        }
        Ok(())
    }

    fn stop(&self, lane: usize) -> Option<Stop> {
        self.lanes[lane].stop
    }

    fn set_stop(&mut self, lane: usize, stop: Option<Stop>) {
        self.lanes[lane].stop = stop;
    }

    fn cpu(&self, lane: usize) -> Cpu {
        self.lanes[lane].cpu.clone()
    }

    fn steps(&self, lane: usize) -> u64 {
        self.lanes[lane].cpu.steps
    }

    fn set_cpu(&mut self, lane: usize, cpu: &Cpu) {
        self.lanes[lane].cpu = cpu.clone();
    }

    fn read_memory(
        &self,
        lane: usize,
        address: u64,
        out: &mut [u8],
        access: Option<Access>,
    ) -> Result<(), Stop> {
        Ok(self.lanes[lane].memory.read_bytes(address, out, access)?)
    }

    fn write_memory(
        &mut self,
        lane: usize,
        address: u64,
        bytes: &[u8],
        access: Option<Access>,
    ) -> Result<(), Stop> {
        self.lanes[lane].memory.write_bytes(address, bytes, access)
    }

    fn dirty_pages(&self, lane: usize) -> Vec<u64> {
        self.lanes[lane].memory.dirty_pages().map(|(address, _)| address).collect()
    }

    fn snapshot(&mut self) -> Result<(), Error> {
        for lane in &mut self.lanes {
            let memory = lane.memory.snapshot();
            lane.snapshot = Some(Snapshot { cpu: lane.cpu.clone(), memory, stop: lane.stop });
        }
        Ok(())
    }

    fn reset(&mut self, lanes: &[usize]) -> Result<(), Error> {
        for &index in lanes {
            let lane = &mut self.lanes[index];
            let snapshot = lane.snapshot.as_ref().ok_or(Error::NoSnapshot)?;
            lane.cpu.clone_from(&snapshot.cpu);
            lane.stop = snapshot.stop;
            lane.memory.reset(&snapshot.memory)?;
        }
        Ok(())
    }

    fn frames_used(&self) -> usize {
        self.lanes.iter().map(|lane| lane.memory.dirty_pages().count()).sum()
    }

    fn set_frames_max(&mut self, frames_max: usize) {
        for lane in &mut self.lanes {
            lane.memory.set_frames_max(frames_max);
        }
    }
}
