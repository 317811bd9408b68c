//! Pipe windows: which pipes an executor may read and write without the host, and what its rings have.

use std::ops::Range;

use crate::call_table::{PIPE_BYTES, PIPE_CALL_BYTES, PIPE_WINDOWS, PipeWindow};

/// The pipe windows of a lane. They change no result, and a saved machine does not have them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PipeWindows {
    /// The pipe that is to have each window.
    pub(super) pipes: [Option<u32>; PIPE_WINDOWS],
    /// The window of the pipe that was used last.
    pub(super) last: usize,
    /// What the rings have.
    pub(super) rings: [Option<Ring>; PIPE_WINDOWS],
}

/// The ring of a window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ring {
    /// The pipe whose bytes the ring has.
    pub(super) pipe: u32,
    /// The window when kernel and executor last agreed about it.
    pub(super) agreed: PipeWindow,
    /// The place in the ring of the first byte that was in the pipe then.
    pub(super) start: usize,
    /// How many of these bytes the ring has.
    pub(super) filled: usize,
    /// The number of bytes of the pipe that had been read at that time.
    pub(super) taken: u64,
}

impl Ring {
    /// Returns how many bytes the executor has read since kernel and executor agreed, and how many of the bytes that are left it has
    /// written since then.
    pub(super) fn changes(&self, now: &PipeWindow) -> (usize, usize) {
        let read = now.read.saturating_sub(self.agreed.read) as usize;
        let kept = (self.agreed.bytes as usize).saturating_sub(read);
        (read, (now.bytes as usize).saturating_sub(kept))
    }
}

/// Returns the parts of a ring in which `bytes` bytes from `start` on lie.
pub(super) fn parts(window: usize, start: usize, bytes: usize) -> impl Iterator<Item = Range<usize>> {
    let start = start % PIPE_BYTES;
    let end = (start + bytes).min(PIPE_BYTES);
    let at = window * PIPE_BYTES;
    let parts = [start..end, 0..bytes - (end - start)];
    parts.into_iter().filter(|part| !part.is_empty()).map(move |part| at + part.start..at + part.end)
}

impl PipeWindows {
    /// Notes that a call has moved bytes through a pipe. A call that moves many bytes needs the host anyway, and windows of large
    /// transfers would only be copied.
    pub(super) fn note_transfer(&mut self, pipe: u32, bytes: usize) {
        let place = self.pipes.iter().position(|known| *known == Some(pipe));
        if bytes > PIPE_CALL_BYTES {
            place.into_iter().for_each(|place| self.pipes[place] = None);
            return;
        }
        let free = || self.pipes.iter().position(Option::is_none);
        self.last = place.or_else(free).unwrap_or((self.last + 1) % PIPE_WINDOWS);
        self.pipes[self.last] = Some(pipe);
    }

    /// Notes that the memory of the lane was cleared, and the rings with it.
    pub(super) fn forget_bytes(&mut self) {
        self.rings.iter_mut().flatten().for_each(|ring| ring.filled = 0);
    }
}
