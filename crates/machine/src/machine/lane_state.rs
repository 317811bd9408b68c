//! The state that the host keeps for a lane.

use std::sync::Arc;

use kvrm_arm64::Stop;
use serde::{Deserialize, Serialize};

use crate::console::Stream;
use crate::linux::Kernel;
use crate::semihosting::{Host, Services};
use crate::shared::assign_with;

/// The state that the host keeps for a lane.
#[derive(Clone, Debug)]
pub(super) struct LaneState {
    /// The state of the semihosting services.
    pub(super) services: Services,
    /// The kernel of a Linux program, which serves the lane in place of `services`; `None` for other programs. It is
    /// shared with snapshots and with other lanes of a fork until it changes.
    pub(super) kernel: Option<Arc<Kernel>>,
    pub(super) output: CollectedOutput,
    /// The handles of console output that the executor may serve, as a mask; `None` if the host serves all calls.
    pub(super) console: Option<u32>,
    /// The hook that the lane passes in the next run, if a hook had stopped it and it was resumed.
    pub(super) resumed: Option<ResumedAt>,
    /// The number of steps at which the kernel has to be asked how to go on, because the turn of a thread ends.
    pub(super) turn_end: u64,
}

impl LaneState {
    /// Makes this equal to `source` without needless writes; see [`shared`](crate::shared).
    pub(super) fn assign(&mut self, source: &Self) {
        let Self { services, kernel, output, console, resumed, turn_end } = source;
        self.services.assign(services);
        match (&mut self.kernel, kernel) {
            (Some(own), Some(kernel)) => assign_with(own, kernel, Kernel::assign),
            (own, kernel) => own.clone_from(kernel),
        }
        self.output.assign(output);
        (self.console, self.resumed, self.turn_end) = (*console, *resumed, *turn_end);
    }

    /// Returns the handles of console output of the lane, as a mask.
    pub(super) fn console_handles(&self) -> u32 {
        self.kernel.as_ref().map_or_else(|| self.services.console(), |kernel| kernel.console())
    }
}

/// Returns whether calls of several lanes may be served at the same time.
///
/// If lanes share files or a console of the caller, the caller can see the order in which they are served.
pub(super) const fn serves_in_parallel(lanes: usize, host: &Host, has_console: bool) -> bool {
    lanes == 1 || (host.directory.is_none() && !has_console)
}

/// A hook that a resumed lane passes.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct ResumedAt {
    /// The pc of the lane when it was resumed. At another pc it passes no hook.
    pub(super) pc: u64,
    /// The number of steps that the lane had retired. After another step it passes no hook.
    pub(super) steps: u64,
    /// The stop that was cleared.
    #[serde(with = "crate::arm64_forms::stop")]
    pub(super) stop: Stop,
}

/// The collected console output of a lane.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct CollectedOutput {
    pub(super) output: Vec<u8>,
    pub(super) error_output: Vec<u8>,
    /// Whether output was dropped because a stream had no room left.
    pub(super) truncated: bool,
}

impl CollectedOutput {
    /// Makes this equal to `source` without needless writes; see [`shared`](crate::shared).
    pub(super) fn assign(&mut self, source: &Self) {
        let Self { output, error_output, truncated } = source;
        self.output.clone_from(output);
        self.error_output.clone_from(error_output);
        self.truncated = *truncated;
    }

    /// Appends bytes to a stream, up to `max` bytes in all. Drops the rest.
    pub(super) fn collect(&mut self, stream: Stream, bytes: &[u8], max: usize) {
        let collected = if stream == Stream::Output { &mut self.output } else { &mut self.error_output };
        let kept = bytes.len().min(max - collected.len());
        collected.extend_from_slice(&bytes[..kept]);
        self.truncated |= kept < bytes.len();
    }
}
