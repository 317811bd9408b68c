//! The acceleration of loops between slices.
//!
//! After a slice, lanes are where they spend their time. The host looks at their program counters, plans iterations of the loops
//! that are proved, from the instruction at which each lane is, and the device executes them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kvrm_arm64::Access;
use kvrm_arm64::micro_op::{REGISTERS, SP};
use kvrm_loops::{Memory, Plan, Proof};
use kvrm_machine::{ImagePage, LoopHandle, LoopListener, pieces};
use kvrm_shaders::layout::{
    COLUMN_LIMIT, COLUMN_PC, COLUMN_SP, COLUMN_STEPS, COLUMN_STOP, COUNTER_FRAMES, COUNTERS, STOP_NONE,
};
use rayon::prelude::*;

use super::accelerator::{Accelerator, KnownLoop, Outcome};
use super::lanes::GpuExecutor;
use super::registers;
use super::words::halves;
use crate::device::error::Error;
use crate::machine::columns::Columns;
use crate::machine::loop_jobs::LoopJob;
use crate::machine::pass_jobs::PassJob;
use crate::machine::store::Store;

/// The largest number of addresses that are looked at for the first time after one slice.
const LOOKS_MAX: usize = 4;
/// The part of the running lanes that has to be in loops that are proved.
const SHARE_MIN: usize = 16;
/// The largest number of iterations of all jobs together that are evaluated at once, on a GPU and on a CPU.
const EVALUATED: [u64; 2] = [1 << 28, 1 << 22];
/// The largest number of iterations of a job that are evaluated at once.
const EVALUATED_MAX: u64 = 1 << 24;
/// The largest number of times that iterations are executed at once before the observer of the run is asked again.
const ROUNDS_MAX: usize = 16;

/// The largest number of lanes whose columns are fetched before it is known that they are needed: a transfer takes longer than their
/// bytes.
const FEW_LANES: usize = 1 << 10;

/// The number of lanes, from the first one on, of whose loops an advisor hears.
const HEARD_LANES: u32 = 64;

/// A lane, the address of its next instruction, and the loop that is planned from there.
type Found = (u32, u64, Arc<Proof>, LoopHandle);

/// Jobs, each with the address of its lane and the loop.
type Planned<J> = Vec<(J, (u64, LoopHandle))>;

/// A job of either kind.
enum Job {
    Loop(LoopJob),
    Pass(PassJob),
}

/// The memory of a lane, which plans do not read: it is on the device.
struct OnDevice;

impl Memory for OnDevice {
    fn readable(&self, _: u64) -> Option<&[u8]> {
        None
    }
    fn write(&mut self, _: u64, _: &[u8]) {}
    fn fill(&mut self, _: u64, _: u64, _: &[u8]) {}
    fn copy(&mut self, _: u64, _: u64, _: u64) {}
}

impl GpuExecutor {
    /// Returns the largest number of steps of the next slice, if lanes are looked at behind it.
    pub(super) fn look_after(&self) -> Option<u32> {
        let slice = self.accelerator.as_ref()?.next_slice();
        let is_usual = self.store.hooks.is_none()
            && !self.slices.are_limited()
            && self.store.network_variant().is_none();
        is_usual.then_some(slice)
    }

    /// Returns the columns that are fetched with the counters of a slice after which lanes are looked at.
    pub(super) const fn look_columns(&self) -> Range<u32> {
        if self.store.lanes <= FEW_LANES { 0..COLUMN_STOP + 1 } else { 0..0 }
    }

    /// Executes iterations of the loops that lanes are in at once.
    ///
    /// `steps` is the number of steps of a lane in the last slice. It has `all` steps of all lanes, and took some time.
    pub(super) fn accelerate(&mut self, steps: u32, all: u64, took: Duration) -> Result<(), Error> {
        let Some(mut accelerator) = self.accelerator.take() else { return Ok(()) };
        let begin = Instant::now();
        accelerator.note_slice(all, took);
        let outcome = self.accelerate_in_rounds(&mut accelerator, steps);
        if let Ok(outcome) = &outcome {
            accelerator.note(outcome, begin.elapsed());
        }
        self.accelerator = Some(accelerator);
        outcome.map(drop)
    }

    /// Executes iterations at once, again while more are certain to follow.
    fn accelerate_in_rounds(&mut self, accelerator: &mut Accelerator, steps: u32) -> Result<Outcome, Error> {
        let mut outcome = self.accelerate_with(accelerator, steps)?;
        for _ in 1..ROUNDS_MAX {
            if !outcome.is_clipped {
                break;
            }
            let before = outcome;
            outcome = self.accelerate_with(accelerator, 0)?;
            outcome.credited += before.credited;
            outcome.tried.extend(before.tried);
        }
        Ok(outcome)
    }

    /// Executes iterations at once, as many as can be evaluated together.
    fn accelerate_with(&mut self, accelerator: &mut Accelerator, steps: u32) -> Result<Outcome, Error> {
        let columns = &mut self.store.columns;
        columns.fetch([COLUMN_PC, COLUMN_STOP, COLUMN_STEPS, COLUMN_LIMIT])?;
        let mut places: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
        let mut running = 0;
        for (lane, stop) in (0..).zip(columns.cached(COLUMN_STOP)) {
            if halves(*stop).0 == STOP_NONE {
                places.entry(columns.cached(COLUMN_PC)[lane as usize]).or_default().push(lane);
                running += 1;
            }
        }
        self.look_at(accelerator, &places)?;
        let (mut loops, mut candidates) = (Vec::new(), Vec::new());
        for (pc, of_pc) in &places {
            let Some(Some(known)) = accelerator.known(*pc) else { continue };
            known.handle.visit(of_pc.len() as u64, u64::from(steps) * of_pc.len() as u64);
            if known.handle.is_candidate() {
                candidates.push((&known.handle, registers::cpu(&self.words(of_pc[0] as usize)?)));
            }
            if accelerator.is_due(known.handle.head()) {
                loops.push((*pc, of_pc, known));
            }
        }
        accelerator.loops.ask(candidates.iter().map(|(handle, cpu)| (*handle, cpu)));
        let features = self.images[0].features();
        let (mut lanes, mut tried) = (Vec::new(), BTreeSet::new());
        let mut approach = (0, None);
        for (pc, of_pc, known) in loops {
            let Some((found, distance)) = known.found(pc, features) else { continue };
            approach = approach.max((of_pc.len(), *distance));
            if let Some(found) = found {
                tried.insert(known.handle.head());
                lanes.extend(of_pc.iter().map(|lane| (*lane, pc, Arc::clone(found), known.handle.clone())));
            }
        }
        if lanes.is_empty() || lanes.len() < running / SHARE_MIN {
            return Ok(Outcome { approach: approach.1, ..Outcome::default() });
        }
        if let Some(listener) = &accelerator.listener {
            self.tell(listener, &lanes)?;
        }
        let (loops, passes) = self.plan_iterations(lanes)?;
        let is_clipped =
            loops.iter().any(|(job, _)| job.is_clipped) || passes.iter().any(|(job, _)| job.is_clipped);
        let mut executed = Vec::new();
        let (jobs, of_jobs): (Vec<_>, Vec<_>) = loops.into_iter().unzip();
        executed
            .extend(of_jobs.into_iter().zip(self.execute(|store| store.execute_loops(&jobs), jobs.len())?));
        let (jobs, of_jobs): (Vec<_>, Vec<_>) = passes.into_iter().unzip();
        executed
            .extend(of_jobs.into_iter().zip(self.execute(|store| store.execute_passes(&jobs), jobs.len())?));
        let (mut credited, mut most) = (0, 0);
        for ((pc, handle), steps) in executed {
            handle.note(if steps > 0 { Ok(steps) } else { Err(None) });
            if steps == 0 {
                accelerator.forget(pc);
            }
            credited += steps;
            most = steps.max(most);
        }
        self.last_run.steps += credited;
        self.last_run.steps_max += most;
        Ok(Outcome { credited, tried, is_clipped: is_clipped && credited > 0, approach: None })
    }

    /// Tells of the loops of the first lanes.
    fn tell(&mut self, listener: &LoopListener, lanes: &[Found]) -> Result<(), Error> {
        self.store.columns.fetch(0..=COLUMN_SP)?;
        for (lane, _, found, handle) in lanes.iter().filter(|(lane, ..)| *lane < HEARD_LANES) {
            listener.hear(handle, found, &micro_op_registers(&self.store.columns, *lane));
        }
        Ok(())
    }

    /// Plans the iterations of lanes. Notes why lanes have none.
    fn plan_iterations(&mut self, lanes: Vec<Found>) -> Result<(Planned<LoopJob>, Planned<PassJob>), Error> {
        let columns = &mut self.store.columns;
        columns.fetch(0..=COLUMN_SP)?;
        let columns = &*columns;
        let all = EVALUATED[usize::from(self.store.device.info().is_software())];
        let evaluated_max = (all / lanes.len() as u64).clamp(1, EVALUATED_MAX);
        let jobs: Vec<_> = lanes
            .par_iter()
            .map(|(lane, _, found, handle)| {
                let of_lane = |column| columns.cached(column)[*lane as usize];
                let steps = of_lane(COLUMN_LIMIT).saturating_sub(of_lane(COLUMN_STEPS));
                let registers = micro_op_registers(columns, *lane);
                let code = (handle.head(), handle.words());
                match &**found {
                    Proof::Loop(found) => {
                        let plan = Plan::new(found, &registers, steps, &OnDevice).map_err(Some)?;
                        LoopJob::new(*lane, code, found, &plan, evaluated_max).map(Job::Loop).ok_or(None)
                    }
                    Proof::Pass(pass) => {
                        let plan = pass.plan(&registers, steps).map_err(Some)?;
                        PassJob::new(*lane, code, pass, (&plan, &registers), evaluated_max)
                            .map(Job::Pass)
                            .ok_or(None)
                    }
                }
            })
            .collect();
        let (mut loops, mut passes) = (Vec::new(), Vec::new());
        for ((_, pc, _, handle), job) in lanes.into_iter().zip(jobs) {
            match job {
                Ok(Job::Loop(job)) => loops.push((job, (pc, handle))),
                Ok(Job::Pass(job)) => passes.push((job, (pc, handle))),
                Err(obstacle) => handle.note(Err(obstacle)),
            }
        }
        Ok((loops, passes))
    }

    /// Executes some jobs, if there are any, and returns what `execute` returns besides the counters.
    fn execute(
        &mut self,
        execute: impl FnOnce(&mut Store) -> Result<(Vec<u64>, [u32; COUNTERS as usize]), Error>,
        jobs: usize,
    ) -> Result<Vec<u64>, Error> {
        if jobs == 0 {
            return Ok(Vec::new());
        }
        self.store.columns.flush()?;
        self.prepare_counters()?;
        let (steps, counters) = execute(&mut self.store)?;
        self.store.columns.invalidate();
        self.cache.forget();
        self.note_counters(&counters)?;
        let asked_for = counters[COUNTER_FRAMES as usize];
        if asked_for > self.store.capacity() {
            self.grow(asked_for)?;
        }
        Ok(steps)
    }

    /// Looks for the loops around some of the addresses that were not looked at yet, those with the most lanes first.
    fn look_at(
        &mut self,
        accelerator: &mut Accelerator,
        places: &BTreeMap<u64, Vec<u32>>,
    ) -> Result<(), Error> {
        let mut new: Vec<(usize, u64, u32)> = places
            .iter()
            .filter(|(pc, _)| accelerator.known(**pc).is_none())
            .map(|(pc, lanes)| (lanes.len(), *pc, lanes[0]))
            .collect();
        new.sort_unstable_by(|a, b| b.cmp(a));
        let features = self.images[0].features();
        for (_, pc, lane) in new.into_iter().take(LOOKS_MAX) {
            let has_changed = accelerator.has_changed(pc);
            let mut failure = None;
            let handle = accelerator.loops.around(pc, features, |at, bytes| {
                // Fetching code takes longer than a short slice. The device compares it before it executes iterations at once.
                if !has_changed && self.read_image_code(lane as usize, at, bytes) {
                    return true;
                }
                match self.read_bytes(lane as usize, at, bytes, Some(Access::Execute)) {
                    Ok(read) => read.is_ok(),
                    Err(error) => {
                        failure = Some(error);
                        false
                    }
                }
            });
            if let Some(error) = failure {
                return Err(error);
            }
            accelerator.remember(pc, handle.map(KnownLoop::new));
        }
        Ok(())
    }

    /// Reads code of a lane in pages of its image that cannot be written. Returns whether there is such code. The lane has other
    /// code if the host has changed it.
    fn read_image_code(&self, lane: usize, address: u64, out: &mut [u8]) -> bool {
        let image = self.image(lane);
        let mut done = 0;
        for (page, range) in pieces(address, out.len()) {
            let is_constant =
                |of: ImagePage| of.permissions.execute && !of.permissions.write && of.frame != 0;
            let Some(of_lane) = self.maps[lane].page(page).filter(|of| is_constant(*of)) else {
                return false;
            };
            if image.page(page) != Some(of_lane) {
                return false;
            }
            let piece = &image.frames()[of_lane.frame as usize][range];
            out[done..done + piece.len()].copy_from_slice(piece);
            done += piece.len();
        }
        true
    }
}

/// Returns the registers of a lane by their numbers in micro-ops, from columns that were fetched.
fn micro_op_registers(columns: &Columns, lane: u32) -> [u64; REGISTERS as usize] {
    let of_lane = |column| columns.cached(column)[lane as usize];
    let mut registers = [0; REGISTERS as usize];
    (0..COLUMN_SP).zip(&mut registers).for_each(|(column, of)| *of = of_lane(column));
    registers[SP as usize] = of_lane(COLUMN_SP);
    registers
}
