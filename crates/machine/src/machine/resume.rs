//! Hooks of a machine, and the resumption of lanes that they have stopped.
//!
//! A resumed lane executes the instruction at its hook on the host, with the semantics of the reference. So engines need no way
//! around a hook.

use std::sync::{Mutex, PoisonError};

use kvrm_arm64::{Access, Stop};

use super::Machine;
use super::host_step::{execute, first_access};
use super::lane_state::ResumedAt;
use crate::error::Error;
use crate::executor::Register;
use crate::hooks::Hooks;

/// Whether a hook has caused a stop.
const fn is_of_hook(stop: Stop) -> bool {
    matches!(stop, Stop::HardwareBreakpoint | Stop::Watchpoint { .. } | Stop::SystemCall { .. })
}

impl Machine {
    /// Returns the hooks.
    #[must_use]
    pub const fn hooks(&self) -> &Hooks {
        &self.hooks
    }

    /// Replaces the hooks, at which lanes stop before an instruction. They hold for all lanes until they are replaced;
    /// [`Hooks::new`] removes them. Snapshot and reset do not change them.
    ///
    /// # Errors
    /// If the engine fails.
    pub fn set_hooks(&mut self, hooks: Hooks) -> Result<(), Error> {
        self.executor.set_hooks(&hooks)?;
        self.hooks = hooks;
        Ok(())
    }

    /// Clears the stop of a lane, so that the next run continues it.
    ///
    /// A lane that a hook has stopped passes this hook: the next run executes the instruction. Hooks of the same instruction that
    /// come later still stop the lane: first breakpoints, then watchpoints, then system calls.
    ///
    /// # Errors
    /// If there is no such lane, or the engine fails.
    pub fn resume(&mut self, lane: usize) -> Result<(), Error> {
        let lane = self.check(lane)?;
        let stop = self.executor.stop(lane)?;
        if let Some(stop) = stop.filter(|stop| is_of_hook(*stop)) {
            let pc = self.executor.cpu(lane)?.pc;
            self.lanes[lane].resumed = Some(ResumedAt { pc, stop });
        }
        self.executor.set_stop(lane, None)
    }

    /// Resumes all lanes that a hook has stopped, and returns how many these are.
    ///
    /// # Errors
    /// If the engine fails.
    pub fn resume_hooked(&mut self) -> Result<usize, Error> {
        let stops = self.executor.stops()?;
        let hooked: Vec<usize> =
            self.lane_numbers().filter(|&lane| stops[lane].is_some_and(is_of_hook)).collect();
        hooked.iter().try_for_each(|&lane| self.resume(lane))?;
        Ok(hooked.len())
    }

    /// Executes one instruction of each resumed lane that has steps left, on the host.
    ///
    /// The lanes in `lanes` have no stop; `ends` has the number of steps at which each lane of the machine ends.
    pub(super) fn pass_hooks(&mut self, lanes: &[usize], ends: &[u64]) -> Result<(), Error> {
        if lanes.iter().all(|&lane| self.lanes[lane].resumed.is_none()) {
            return Ok(());
        }
        let (steps, pcs) = (self.registers(Register::Steps)?, self.registers(Register::Pc)?);
        let mut passing = Vec::new();
        for &lane in lanes {
            let Some(resumed) = self.lanes[lane].resumed else { continue };
            if resumed.pc != pcs[lane] {
                self.lanes[lane].resumed = None;
            } else if steps[lane] < ends[lane] {
                passing.push((lane, resumed));
            }
        }
        self.prefetch_instructions(&passing)?;
        let numbers: Vec<usize> = passing.iter().map(|(lane, _)| *lane).collect();
        let results: Vec<_> = passing.iter().map(|_| Mutex::new(Ok(None))).collect();
        let (hooks, features) = (&self.hooks, self.features);
        let served = self.executor.serve_parallel(&numbers, &|index, lane| {
            let is_watched = passing[index].1.stop == Stop::HardwareBreakpoint;
            let result = execute(lane, features, is_watched.then_some(hooks));
            *results[index].lock().unwrap_or_else(PoisonError::into_inner) = result;
        });
        let mut failure = served;
        for ((lane, resumed), result) in passing.into_iter().zip(results) {
            match result.into_inner().unwrap_or_else(PoisonError::into_inner) {
                // The filter that the lane passes is that of the call that now waits to be served.
                Ok(Some(Stop::Syscall { .. } | Stop::Halt { .. }))
                    if matches!(resumed.stop, Stop::SystemCall { .. }) => {}
                Ok(_) => self.lanes[lane].resumed = None,
                Err(error) => failure = failure.and(Err(error)),
            }
        }
        failure
    }

    /// Returns the stop of a filter before a call that `lane` makes, unless the lane passes the filter.
    pub(super) fn stop_before_call(&mut self, lane: usize, number: u64) -> Option<Stop> {
        let resumed = self.lanes[lane].resumed.take();
        let is_passed = resumed.is_some_and(|resumed| matches!(resumed.stop, Stop::SystemCall { .. }));
        // Numbers of calls have 32 bits.
        self.hooks.stop_before_call(number as u32).filter(|_| !is_passed)
    }

    /// Has the executor fetch the instructions of lanes, and then the memory that they access.
    fn prefetch_instructions(&mut self, lanes: &[(usize, ResumedAt)]) -> Result<(), Error> {
        let code: Vec<_> = lanes.iter().map(|(lane, resumed)| (*lane, resumed.pc, 4)).collect();
        self.executor.prefetch(&code)?;
        let mut accessed = Vec::new();
        for &(lane, pc, _) in &code {
            let mut word = [0; 4];
            if self.executor.read_memory(lane, pc, &mut word, Some(Access::Execute))?.is_ok() {
                let cpu = self.executor.cpu(lane)?;
                let access = first_access(cpu, u32::from_le_bytes(word), self.features);
                accessed.extend(access.map(|(address, bytes)| (lane, address, bytes)));
            }
        }
        self.executor.prefetch(&accessed)
    }
}
