//! The state that the host keeps for a lane.

use kvrm_arm64::Stop;

use crate::console::Stream;
use crate::linux::Process;
use crate::semihosting::Services;

/// The state that the host keeps for a lane.
#[derive(Clone, Debug)]
pub(super) struct LaneState {
    /// The state of the semihosting services.
    pub(super) services: Services,
    /// The process of a Linux program, which serves the lane in place of `services`; `None` for other programs.
    pub(super) process: Option<Box<Process>>,
    pub(super) output: CollectedOutput,
    /// The handles of console output that the executor may serve, as a mask; `None` if the host serves all calls.
    pub(super) console: Option<u32>,
    /// The hook that the lane passes in the next run, if a hook had stopped it and it was resumed.
    pub(super) resumed: Option<ResumedAt>,
}

/// A hook that a resumed lane passes.
#[derive(Clone, Copy, Debug)]
pub(super) struct ResumedAt {
    /// The pc of the lane when it was resumed. At another pc it passes no hook.
    pub(super) pc: u64,
    /// The number of steps that the lane had retired. After another step it passes no hook.
    pub(super) steps: u64,
    /// The stop that was cleared.
    pub(super) stop: Stop,
}

/// The collected console output of a lane.
#[derive(Clone, Debug, Default)]
pub(super) struct CollectedOutput {
    pub(super) output: Vec<u8>,
    pub(super) error_output: Vec<u8>,
    /// Whether output was dropped because a stream had no room left.
    pub(super) truncated: bool,
}

impl CollectedOutput {
    /// Appends bytes to a stream, up to `max` bytes in all. Drops the rest.
    pub(super) fn collect(&mut self, stream: Stream, bytes: &[u8], max: usize) {
        let collected = if stream == Stream::Output { &mut self.output } else { &mut self.error_output };
        let kept = bytes.len().min(max - collected.len());
        collected.extend_from_slice(&bytes[..kept]);
        self.truncated |= kept < bytes.len();
    }
}
