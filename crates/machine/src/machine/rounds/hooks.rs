//! Resumed lanes pass the hook that has stopped them.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use kvrm_arm64::Stop;

use super::super::lane_state::ResumedAt;
use super::Rounds;
use crate::error::Error;
use crate::executor::RunStats;
use crate::hooks::Hooks;
use crate::register::Register;

impl Rounds<'_> {
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
        let restored = self.executor.set_hooks(self.hooks);
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
