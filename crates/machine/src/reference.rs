//! The reference: the CPU engine, which runs the specification on all cores.

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use kvrm_arm64::{Access, Cpu, Fault, Stop};
use rayon::prelude::*;

use crate::address_space::{AddressSpace, MemorySnapshot};
use crate::audit::Violation;
use crate::call_table::ProcessState;
use crate::error::Error;
use crate::executor::{Executor, Factory, LaneAccess, Plan, Progress, RunStats};
use crate::hooks::Hooks;
use crate::loops::LoopRunner;
use crate::page_map::{Mapping, PageMap};
use crate::pick::pick;
use crate::register::Register;
use crate::runner::{Interpreter, Runner};

/// The smallest number of lanes that a thread serves.
const LANES_A_THREAD: usize = 8;
/// The smallest number of steps that each lane takes between two calls of an observer.
const SLICE_MIN: u64 = 10_000;

/// The reference, as an engine.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReferenceEngine;

impl Factory for ReferenceEngine {
    fn executor(&self, plan: &Plan<'_>) -> Result<Box<dyn Executor>, Error> {
        Ok(Box::new(Reference::new(plan)?))
    }
}

/// The executor of the engines of the host: runs lanes on all cores. With the [`Interpreter`] it is the reference, which
/// calls the semantics of [`kvrm_arm64`].
#[derive(Debug)]
pub struct Reference<R = Interpreter> {
    lanes: Vec<Lane<R>>,
}

#[derive(Debug)]
struct Lane<R> {
    runner: LoopRunner<R>,
    cpu: Cpu,
    memory: AddressSpace,
    stop: Option<Stop>,
    process: ProcessState,
    snapshot: Option<Snapshot>,
}

#[derive(Debug)]
struct Snapshot {
    cpu: Cpu,
    memory: MemorySnapshot,
    stop: Option<Stop>,
    process: ProcessState,
}

impl Reference {
    /// Creates the lanes of a plan.
    ///
    /// # Errors
    /// The host has no memory for so many lanes.
    ///
    /// # Panics
    /// The plan has no image for some lane.
    pub fn new(plan: &Plan<'_>) -> Result<Self, Error> {
        Self::with_runners(plan, || Interpreter)
    }
}

impl<R: Runner> Reference<R> {
    /// Creates the lanes of a plan with a runner each.
    ///
    /// # Errors
    /// The host has no memory for so many lanes.
    ///
    /// # Panics
    /// The plan has no image for some lane.
    pub fn with_runners(plan: &Plan<'_>, runner: impl Fn() -> R + Sync) -> Result<Self, Error> {
        // Lanes run in any order, so an advisor hears of the loops of the first one.
        let runner = |number| {
            let runner = LoopRunner::new(runner(), plan.loops.cloned());
            if number == 0 { runner.telling() } else { runner }
        };
        let lane = |number| Lane {
            runner: runner(number),
            cpu: Cpu::default(),
            memory: AddressSpace::new(Arc::clone(plan.image(number)), plan.frames_max),
            stop: None,
            process: ProcessState::default(),
            snapshot: None,
        };
        let (mut lanes, bytes) = (Vec::new(), size_of::<Lane<R>>());
        let room = lanes.try_reserve_exact(plan.lanes);
        room.map_err(|_| Error::TooManyLanes { lanes: plan.lanes, bytes })?;
        // A lane has a TLB of some KiB, so filling many lanes takes a while.
        (0..plan.lanes).into_par_iter().with_min_len(LANES_A_THREAD).map(lane).collect_into_vec(&mut lanes);
        Ok(Self { lanes })
    }
}

impl<R: Runner> Lane<R> {
    /// Runs for at most `slice` steps, up to the limit, until something stops the lane.
    fn run(&mut self, limit: u64, slice: u64) -> Progress {
        if self.stop.is_some() {
            return Progress::default();
        }
        let begin = self.cpu.steps;
        let budget = limit.saturating_sub(begin);
        let stop = self.runner.run(&mut self.cpu, &mut self.memory, budget.min(slice));
        // The end of a slice is not a stop of the lane.
        self.stop = Some(stop).filter(|stop| *stop != Stop::Budget || self.cpu.steps >= limit);
        Progress { steps: self.cpu.steps - begin, running: self.stop.is_none().into(), has_output: false }
    }
}

impl<R: Runner> LaneAccess for Lane<R> {
    fn set_stop(&mut self, stop: Option<Stop>) -> Result<(), Error> {
        self.stop = stop;
        Ok(())
    }

    fn general(&mut self) -> Result<Cpu, Error> {
        Ok(self.cpu.clone())
    }

    fn set_general(&mut self, cpu: &Cpu) -> Result<(), Error> {
        let v = self.cpu.v;
        self.cpu.clone_from(cpu);
        self.cpu.v = v;
        Ok(())
    }

    fn vectors(&mut self) -> Result<[u128; 32], Error> {
        Ok(self.cpu.v)
    }

    fn set_vectors(&mut self, vectors: &[u128; 32]) -> Result<(), Error> {
        self.cpu.v = *vectors;
        Ok(())
    }

    fn process_state(&mut self) -> Result<ProcessState, Error> {
        Ok(self.process)
    }

    fn set_process_state(&mut self, state: &ProcessState) -> Result<(), Error> {
        self.process = *state;
        Ok(())
    }

    fn read_memory(
        &mut self,
        address: u64,
        out: &mut [u8],
        access: Option<Access>,
    ) -> Result<Result<(), Stop>, Error> {
        Ok(self.memory.read_bytes(address, out, access).map_err(Stop::from))
    }

    fn write_memory(
        &mut self,
        address: u64,
        bytes: &[u8],
        access: Option<Access>,
    ) -> Result<Result<(), Stop>, Error> {
        Ok(self.memory.write_bytes(address, bytes, access))
    }

    // Copying the map would increment a reference count that all threads share.
    fn check(&mut self, address: u64, bytes: u64, access: Access) -> Result<Result<(), Fault>, Error> {
        Ok(self.memory.page_map().check(address, bytes, access, Some(access)))
    }

    fn page_map(&mut self) -> Result<PageMap, Error> {
        Ok(self.memory.page_map().clone())
    }

    fn map(&mut self, pages: Range<u64>, mapping: Mapping) -> Result<bool, Error> {
        Ok(self.memory.map(&pages, mapping))
    }

    fn clear_memory(&mut self) -> Result<(), Error> {
        self.memory.clear();
        Ok(())
    }

    fn private_pages(&mut self) -> Result<Vec<u64>, Error> {
        let mut pages: Vec<u64> = self.memory.private_pages().map(|(address, _)| address).collect();
        pages.sort_unstable();
        Ok(pages)
    }
}

impl<R: Runner> Executor for Reference<R> {
    fn name(&self) -> &'static str {
        R::ENGINE
    }

    fn lanes(&self) -> usize {
        self.lanes.len()
    }

    fn executor_for(&self, plan: &Plan<'_>) -> Result<Box<dyn Executor>, Error> {
        match self.lanes.first() {
            Some(lane) => {
                let runner = lane.runner.inner().for_other_code();
                Ok(Box::new(Self::with_runners(plan, || runner.another())?))
            }
            None => ReferenceEngine.executor(plan),
        }
    }

    fn run(
        &mut self,
        limits: &[u64],
        observe: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<RunStats, Error> {
        let slice = (R::OBSERVED_STEPS / self.lanes.len().max(1) as u64).max(SLICE_MIN);
        let add = |a: Progress, b: Progress| Progress {
            steps: a.steps + b.steps,
            running: a.running + b.running,
            has_output: false,
        };
        let mut steps = 0;
        loop {
            let now = if let ([lane], [limit]) = (&mut self.lanes[..], limits) {
                lane.run(*limit, slice)
            } else {
                let lanes = self.lanes.par_iter_mut().zip(limits);
                lanes.map(|(lane, limit)| lane.run(*limit, slice)).reduce(Progress::default, add)
            };
            steps += now.steps;
            let progress = Progress { steps, ..now };
            if now.running == 0 || observe(progress).is_break() {
                return Ok(RunStats { dispatches: 0, progress });
            }
        }
    }

    fn stop(&mut self, lane: usize) -> Result<Option<Stop>, Error> {
        Ok(self.lanes[lane].stop)
    }

    fn set_stop(&mut self, lane: usize, stop: Option<Stop>) -> Result<(), Error> {
        self.lanes[lane].set_stop(stop)
    }

    fn steps(&mut self, lane: usize) -> Result<u64, Error> {
        Ok(self.lanes[lane].cpu.steps)
    }

    fn cpu(&mut self, lane: usize) -> Result<Cpu, Error> {
        Ok(self.lanes[lane].cpu.clone())
    }

    fn set_cpu(&mut self, lane: usize, cpu: &Cpu) -> Result<(), Error> {
        self.lanes[lane].cpu.clone_from(cpu);
        Ok(())
    }

    fn process_state(&mut self, lane: usize) -> Result<ProcessState, Error> {
        self.lanes[lane].process_state()
    }

    fn set_process_state(&mut self, lane: usize, state: &ProcessState) -> Result<(), Error> {
        self.lanes[lane].set_process_state(state)
    }

    fn registers(&mut self, register: Register, out: &mut Vec<u64>) -> Result<(), Error> {
        out.clear();
        out.extend(self.lanes.iter().map(|lane| register.of(&lane.cpu)));
        Ok(())
    }

    fn set_registers(&mut self, register: Register, lanes: &[usize], values: &[u64]) -> Result<(), Error> {
        for (&lane, &value) in lanes.iter().zip(values) {
            register.set(&mut self.lanes[lane].cpu, value);
        }
        Ok(())
    }

    fn read_memory(
        &mut self,
        lane: usize,
        address: u64,
        out: &mut [u8],
        access: Option<Access>,
    ) -> Result<Result<(), Stop>, Error> {
        self.lanes[lane].read_memory(address, out, access)
    }

    fn write_memory(
        &mut self,
        lane: usize,
        address: u64,
        bytes: &[u8],
        access: Option<Access>,
    ) -> Result<Result<(), Stop>, Error> {
        self.lanes[lane].write_memory(address, bytes, access)
    }

    fn write_memory_of_each(
        &mut self,
        address: u64,
        rows: &[(usize, &[u8])],
    ) -> Result<Result<(), (usize, Stop)>, Error> {
        if let Err(failure) = self.check_memory_of_each(address, rows)? {
            return Ok(Err(failure));
        }
        let write = |&(lane, bytes): &(usize, &[u8])| {
            self.lanes[lane].memory.write_bytes(address, bytes, None).map_err(|stop| (lane, stop))
        };
        Ok(rows.iter().try_for_each(write))
    }

    fn check_memory_of_each(
        &mut self,
        address: u64,
        rows: &[(usize, &[u8])],
    ) -> Result<Result<(), (usize, Stop)>, Error> {
        let check = |&(lane, bytes): &(usize, &[u8])| {
            let room = self.lanes[lane].memory.check_room(address, bytes.len(), None);
            room.map_err(|stop| (lane, stop))
        };
        Ok(rows.iter().try_for_each(check))
    }

    fn page_map(&mut self, lane: usize) -> Result<PageMap, Error> {
        self.lanes[lane].page_map()
    }

    fn map(&mut self, lane: usize, pages: Range<u64>, mapping: Mapping) -> Result<bool, Error> {
        self.lanes[lane].map(pages, mapping)
    }

    fn private_pages(&mut self, lane: usize) -> Result<Vec<u64>, Error> {
        LaneAccess::private_pages(&mut self.lanes[lane])
    }

    fn clear_memory(&mut self, lane: usize) -> Result<(), Error> {
        LaneAccess::clear_memory(&mut self.lanes[lane])
    }

    fn snapshot(&mut self) -> Result<(), Error> {
        for lane in &mut self.lanes {
            let memory = lane.memory.snapshot();
            lane.snapshot =
                Some(Snapshot { cpu: lane.cpu.clone(), memory, stop: lane.stop, process: lane.process });
        }
        Ok(())
    }

    fn reset(&mut self, lanes: &[usize]) -> Result<(), Error> {
        for &index in lanes {
            let lane = &mut self.lanes[index];
            let snapshot = lane.snapshot.as_ref().ok_or(Error::NoSnapshot)?;
            lane.cpu.clone_from(&snapshot.cpu);
            lane.stop = snapshot.stop;
            lane.process = snapshot.process;
            lane.memory.reset(&snapshot.memory)?;
        }
        Ok(())
    }

    fn serve_parallel(
        &mut self,
        lanes: &[usize],
        serve: &(dyn Fn(usize, &mut dyn LaneAccess) + Sync),
    ) -> Result<(), Error> {
        let lanes = pick(&mut self.lanes, lanes).into_par_iter().enumerate();
        // Waking another thread takes longer than a few services.
        lanes.with_min_len(LANES_A_THREAD).for_each(|(index, lane)| serve(index, lane));
        Ok(())
    }

    fn set_hooks(&mut self, hooks: &Hooks) -> Result<(), Error> {
        let hooks = (!hooks.is_empty()).then(|| Arc::new(hooks.clone()));
        self.lanes.iter_mut().for_each(|lane| lane.memory.set_hooks(hooks.clone()));
        Ok(())
    }

    fn frames_used(&mut self) -> Result<usize, Error> {
        Ok(self.lanes.iter().map(|lane| lane.memory.private_pages().count()).sum())
    }

    fn audit(&mut self) -> Result<Vec<Violation>, Error> {
        let lanes = self.lanes.par_iter().enumerate();
        let mut found: Vec<Violation> = lanes
            .flat_map_iter(|(number, lane)| {
                lane.memory.audit().into_iter().map(move |violation| violation.of_lane(number))
            })
            .collect();
        found.truncate(1000);
        Ok(found)
    }

    fn set_frames_max(&mut self, frames_max: usize) -> Result<(), Error> {
        for lane in &mut self.lanes {
            lane.memory.set_frames_max(frames_max);
        }
        Ok(())
    }
}
