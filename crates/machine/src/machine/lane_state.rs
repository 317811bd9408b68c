//! The host's side of a lane.

use kvrm_arm64::Stop;

use crate::console::Stream;
use crate::linux::Process;
use crate::semihosting::Services;

/// The host's side of a lane.
#[derive(Clone, Debug)]
pub(super) struct LaneState {
    pub(super) services: Services,
    /// What serves the lane instead, if its program is one for Linux.
    pub(super) process: Option<Box<Process>>,
    pub(super) written: Written,
    /// What the executor has last been told of console output; nothing if the host serves all of it.
    pub(super) console: Option<u32>,
    /// The hook that the lane passes when it goes on, if its stop at one was cleared.
    pub(super) resumed: Option<ResumedAt>,
}

/// A hook that a lane passes when it goes on.
#[derive(Clone, Copy, Debug)]
pub(super) struct ResumedAt {
    /// The pc of the lane when it was resumed. At another pc it passes no hook.
    pub(super) pc: u64,
    /// The stop that was cleared.
    pub(super) stop: Stop,
}

/// What a lane has written to its console streams, if it is collected.
#[derive(Clone, Debug, Default)]
pub(super) struct Written {
    pub(super) output: Vec<u8>,
    pub(super) error_output: Vec<u8>,
    /// Whether output was dropped for lack of room.
    pub(super) truncated: bool,
}

impl Written {
    /// Collects bytes, as far as the stream has room up to `max`.
    pub(super) fn collect(&mut self, stream: Stream, bytes: &[u8], max: usize) {
        let collected = if stream == Stream::Output { &mut self.output } else { &mut self.error_output };
        let kept = bytes.len().min(max - collected.len());
        collected.extend_from_slice(&bytes[..kept]);
        self.truncated |= kept < bytes.len();
    }
}
