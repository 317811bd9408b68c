//! Hooks of a machine, and the resumption of lanes that they have stopped.
//!
//! A resumed lane executes the instruction at its hook in a run of one step without this hook. So engines need no code
//! for passing a hook.

use kvrm_arm64::{Cpu, Stop};

use super::lane_state::ResumedAt;
use super::{LaneSet, Machine};
use crate::error::Error;
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
}
