//! Hooks of a machine, and the resumption of lanes that they have stopped.
//!
//! A resumed lane executes the instruction at its hook in a run of one step without this hook. So engines need no code
//! for passing a hook.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use kvrm_arm64::{Cpu, Stop};

use super::lane_state::ResumedAt;
use super::{LaneSet, Machine};
use crate::error::Error;
use crate::executor::RunStats;
use crate::hooks::Hooks;
use crate::register::Register;

/// Returns whether a hook has caused a stop.
const fn is_of_hook(stop: Stop) -> bool {
    matches!(stop, Stop::HardwareBreakpoint | Stop::Watchpoint { .. } | Stop::SystemCall { .. })
}

impl Machine {
    /// Returns the hooks.
    #[must_use]
    pub const fn hooks(&self) -> &Hooks {
        &self.hooks
    }

    /// Replaces the hooks, at which lanes stop before an instruction. They apply to all lanes until they are replaced;
    /// `Hooks::new()` removes them. Snapshot and reset do not change them.
    ///
    /// # Errors
    /// The engine fails.
    pub fn set_hooks(&mut self, hooks: Hooks) -> Result<(), Error> {
        self.executor.set_hooks(&hooks)?;
        self.hooks = hooks;
        Ok(())
    }

    /// Clears the stop of one or several lanes, so that the next run continues them.
    ///
    /// If a hook has stopped a lane, the next run executes the instruction at the hook. If the same instruction has
    /// further hooks, each of them stops the lane again; the order is breakpoint, watchpoint, system call. After
    /// another stop at an instruction, such as `brk`, the program counter is still at this instruction.
    ///
    /// # Errors
    /// - [`Error::NoSuchLane`] and [`Error::Mask`]; then no lane is resumed.
    /// - The engine fails.
    pub fn resume<'a>(&mut self, lanes: impl Into<LaneSet<'a>>) -> Result<(), Error> {
        let lanes = self.lane_numbers(lanes)?;
        let mut hooked = Vec::new();
        for &lane in &*lanes {
            if let Some(stop) = self.executor.stop(lane)?.filter(|stop| is_of_hook(*stop)) {
                hooked.push((lane, stop));
            }
        }
        self.note_hooks(&hooked)?;
        self.executor.set_stops(&lanes, None)
    }

    /// Notes the hooks that lanes pass in the next run: the lanes, and the stops that the hooks have caused.
    fn note_hooks(&mut self, hooked: &[(usize, Stop)]) -> Result<(), Error> {
        if let [(lane, stop)] = *hooked {
            let Cpu { pc, steps, .. } = self.executor.cpu(lane)?;
            self.lanes[lane].resumed = Some(ResumedAt { pc, steps, stop });
        } else if !hooked.is_empty() {
            let (steps, pcs) = (self.registers(Register::Steps)?, self.registers(Register::Pc)?);
            for &(lane, stop) in hooked {
                self.lanes[lane].resumed = Some(ResumedAt { pc: pcs[lane], steps: steps[lane], stop });
            }
        }
        Ok(())
    }

    /// Resumes all lanes that a hook has stopped, as [`Machine::resume`] does. Returns the number of these lanes.
    ///
    /// # Errors
    /// The engine fails.
    pub fn resume_hooked(&mut self) -> Result<usize, Error> {
        let stops = self.executor.stops()?.into_iter().enumerate();
        let hooked: Vec<_> =
            stops.filter_map(|(lane, stop)| Some((lane, stop.filter(|stop| is_of_hook(*stop))?))).collect();
        self.note_hooks(&hooked)?;
        let lanes: Vec<usize> = hooked.iter().map(|(lane, _)| *lane).collect();
        self.executor.set_stops(&lanes, None)?;
        Ok(lanes.len())
    }

    /// Executes one instruction of each resumed lane that has steps left, without the hooks that the lane passes. Returns
    /// the number of dispatches.
    ///
    /// The lanes in `lanes` have no stop; `ends` has the number of steps at which each lane of the machine ends.
    pub(super) fn pass_hooks(&mut self, lanes: &[usize], ends: &[u64]) -> Result<u64, Error> {
        if lanes.iter().all(|&lane| self.lanes[lane].resumed.is_none()) {
            return Ok(0);
        }
        let (steps, pcs) = (self.registers(Register::Steps)?, self.registers(Register::Pc)?);
        let mut groups: BTreeMap<&str, (Hooks, Vec<usize>)> = BTreeMap::new();
        for &lane in lanes {
            let Some(ResumedAt { pc, steps: retired, stop }) = self.lanes[lane].resumed else { continue };
            if (pc, retired) != (pcs[lane], steps[lane]) {
                self.lanes[lane].resumed = None;
            } else if retired < ends[lane] {
                let group = groups.entry(stop.name());
                group.or_insert_with(|| (self.hooks.after(stop), Vec::new())).1.push(lane);
            }
        }
        let dispatches = groups
            .into_values()
            .try_fold(0, |sum, (hooks, group)| Ok(sum + self.step_with(&hooks, &group, lanes, &steps)?));
        let restored = self.executor.set_hooks(&self.hooks);
        dispatches.and_then(|dispatches| restored.map(|()| dispatches))
    }

    /// Executes one instruction of each lane of `group` with other hooks. The other lanes of `lanes` take no step.
    ///
    /// No lane of `lanes` has a stop, before or afterwards, unless the instruction stops it.
    fn step_with(
        &mut self,
        hooks: &Hooks,
        group: &[usize],
        lanes: &[usize],
        steps: &[u64],
    ) -> Result<u64, Error> {
        self.executor.set_hooks(hooks)?;
        // A lane beyond its limit takes no step.
        let mut limits = vec![0; self.lanes.len()];
        group.iter().for_each(|&lane| limits[lane] = steps[lane] + 1);
        let RunStats { dispatches, .. } = self.executor.run(&limits, &mut |_| ControlFlow::Continue(()))?;
        let stops = self.executor.stops()?;
        for &lane in lanes.iter().filter(|&&lane| stops[lane] == Some(Stop::Budget)) {
            self.executor.set_stop(lane, None)?;
        }
        for &lane in group {
            let resumed = &mut self.lanes[lane].resumed;
            // A lane that lacks frames tries the instruction again, and the machine has yet to serve a call.
            let is_waiting = match stops[lane] {
                Some(Stop::OutOfFrames) => true,
                Some(Stop::Syscall { .. } | Stop::Halt { .. }) => {
                    resumed.is_some_and(|resumed| matches!(resumed.stop, Stop::SystemCall { .. }))
                }
                _ => false,
            };
            if !is_waiting {
                *resumed = None;
            }
        }
        Ok(dispatches)
    }

    /// Returns the stop of a filter before a call that `lane` makes, unless the lane passes the filter.
    pub(super) fn stop_before_call(&mut self, lane: usize, number: u64) -> Option<Stop> {
        let resumed = self.lanes[lane].resumed.take();
        let is_passed = resumed.is_some_and(|resumed| matches!(resumed.stop, Stop::SystemCall { .. }));
        // Numbers of calls have 32 bits.
        self.hooks.stop_before_call(number as u32).filter(|_| !is_passed)
    }
}
