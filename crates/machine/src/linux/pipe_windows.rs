//! Pipe windows: which pipes an executor may read and write without the host, and what its rings have.
//!
//! Kernel and executor have copies of the bytes of a pipe, so only bytes that one of them does not have are copied.

use std::ops::Range;

use super::open_files::Pipe;
use crate::call_table::{PIPE_BYTES, PIPE_CALL_BYTES, PIPE_WINDOWS, PipeWindow};
use crate::error::Error;

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

/// The ring of a window: the executor's copy of the bytes of a pipe.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ring {
    /// The pipe whose bytes the ring has.
    pub(super) pipe: u32,
    /// The window when kernel and executor last agreed about it.
    pub(super) agreed: PipeWindow,
    /// The place in the ring of the first byte that was in the pipe then.
    start: usize,
    /// How many of these bytes the ring has.
    filled: usize,
    /// The number of bytes of the pipe that had been read at that time.
    taken: u64,
}

impl Ring {
    /// Creates a ring without bytes for the pipe with an ID.
    pub(super) fn new(number: u32, pipe: &Pipe) -> Self {
        Self { pipe: number, agreed: PipeWindow::default(), start: 0, filled: 0, taken: pipe.taken }
    }

    /// Returns how many bytes the executor has read since kernel and executor agreed, and how many of the bytes that are left it has
    /// written since then.
    fn changes(&self, now: &PipeWindow) -> (usize, usize) {
        let read = now.read.saturating_sub(self.agreed.read) as usize;
        let kept = (self.agreed.bytes as usize).saturating_sub(read);
        (read, (now.bytes as usize).saturating_sub(kept))
    }

    /// Returns the places of the bytes that the executor has written since then, and that are left.
    pub(super) fn fresh_parts(&self, now: &PipeWindow) -> impl Iterator<Item = Range<usize>> + use<> {
        let (_, fresh) = self.changes(now);
        parts(usize::from(now.start) + now.bytes as usize - fresh, fresh)
    }

    /// Takes back what the executor has done to the pipe. `read` reads bytes of the ring. If it fails, nothing has changed.
    pub(super) fn take_back(
        &mut self,
        now: PipeWindow,
        pipe: &mut Pipe,
        mut read: impl FnMut(usize, &mut [u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (taken, fresh) = self.changes(&now);
        let mut bytes = vec![0; fresh];
        let mut rest = &mut bytes[..];
        for part in self.fresh_parts(&now) {
            let (piece, later) = rest.split_at_mut(part.len());
            read(part.start, piece)?;
            rest = later;
        }
        // Bytes that the executor has both written and read do not pass through here.
        let known = taken.min(pipe.data.len());
        pipe.take(known);
        pipe.taken += (taken - known) as u64;
        pipe.data.extend(bytes);
        *self = Self {
            agreed: now,
            start: now.start.into(),
            filled: now.bytes as usize,
            taken: pipe.taken,
            ..*self
        };
        Ok(())
    }

    /// Copies the bytes of the pipe that the ring does not have to it, and returns the window, without descriptors. `write` writes
    /// bytes of the ring.
    pub(super) fn fill(
        &mut self,
        pipe: &Pipe,
        mut write: impl FnMut(usize, &[u8]) -> Result<(), Error>,
    ) -> Result<PipeWindow, Error> {
        // What was read meanwhile was at the front.
        let read = (pipe.taken - self.taken).min(PIPE_BYTES as u64) as usize;
        let filled = self.filled.saturating_sub(read);
        let start = if filled == 0 { 0 } else { (self.start + read) % PIPE_BYTES };
        let bytes: Vec<u8> = pipe.data.iter().skip(filled).copied().collect();
        let mut rest = &bytes[..];
        for part in parts(start + filled, bytes.len()) {
            let (piece, later) = rest.split_at(part.len());
            write(part.start, piece)?;
            rest = later;
        }
        let bytes = pipe.data.len();
        let window = PipeWindow { start: start as u16, bytes: bytes as u32, ..PipeWindow::default() };
        *self = Self { start, filled: bytes, taken: pipe.taken, ..*self };
        Ok(window)
    }
}

/// Returns the parts of a ring in which `bytes` bytes from `start` on lie.
fn parts(start: usize, bytes: usize) -> impl Iterator<Item = Range<usize>> {
    let start = start % PIPE_BYTES;
    let end = (start + bytes).min(PIPE_BYTES);
    [start..end, 0..bytes - (end - start)].into_iter().filter(|part| !part.is_empty())
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

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    /// An executor with a ring, as the shader has it.
    struct Executor {
        ring: Vec<u8>,
        window: PipeWindow,
    }

    impl Executor {
        fn write(&mut self, bytes: &[u8]) {
            for byte in bytes {
                let place = usize::from(self.window.start) + self.window.bytes as usize;
                self.ring[place % PIPE_BYTES] = *byte;
                self.window.bytes += 1;
            }
        }

        fn read(&mut self, bytes: usize) -> Vec<u8> {
            let count = bytes.min(self.window.bytes as usize);
            let start = usize::from(self.window.start);
            let read = (start..start + count).map(|place| self.ring[place % PIPE_BYTES]).collect();
            self.window.bytes -= count as u32;
            self.window.read += count as u32;
            let is_empty = self.window.bytes == 0;
            self.window.start = if is_empty { 0 } else { ((start + count) % PIPE_BYTES) as u16 };
            read
        }
    }

    proptest! {
        /// Transfers of kernel and executor in turns, with rings that are lost: the reads give what a queue gives, and a repeated
        /// take-back changes nothing.
        #[test]
        fn pipes_are_queues(turns in prop::collection::vec((0..6_u8, 0..30_000_usize), 1..60)) {
            let (mut pipe, mut queue) = (Pipe::default(), VecDeque::new());
            let mut executor = Executor { ring: vec![0; PIPE_BYTES], window: PipeWindow::default() };
            let mut windows = PipeWindows::default();
            let mut ring = Ring::new(0, &pipe);
            let (mut next, mut read) = (0_u8, 0);
            let mut fresh = |count: usize| -> Vec<u8> {
                (0..count).map(|_| { next = next.wrapping_mul(5).wrapping_add(3); next }).collect()
            };
            for (turn, bytes) in turns {
                let of_ring = |ring: &mut Ring, pipe: &mut Pipe, executor: &Executor| {
                    ring.take_back(executor.window, pipe, |at, out| {
                        out.copy_from_slice(&executor.ring[at..at + out.len()]);
                        Ok(())
                    })
                };
                let room = PIPE_BYTES - queue.len();
                match turn {
                    0 | 1 => {
                        let data = fresh(bytes.min(room));
                        queue.extend(&data);
                        executor.write(&data);
                    }
                    2 | 3 => {
                        let expected: Vec<u8> = queue.drain(..bytes.min(queue.len())).collect();
                        read += expected.len() as u64;
                        prop_assert_eq!(executor.read(bytes), expected, "of the executor");
                    }
                    _ => {
                        of_ring(&mut ring, &mut pipe, &executor).unwrap();
                        of_ring(&mut ring, &mut pipe, &executor).unwrap();
                        prop_assert_eq!(&pipe.data, &queue, "taken back");
                        prop_assert_eq!(pipe.taken, read, "bytes that were read");
                        // The kernel reads, writes, and switches to other memory.
                        let count = bytes.min(queue.len()) / 2;
                        queue.drain(..count);
                        read += count as u64;
                        pipe.take(count);
                        let data = fresh(bytes.min(PIPE_BYTES - queue.len()) / 3);
                        queue.extend(&data);
                        pipe.data.extend(&data);
                        if turn == 5 {
                            windows.rings[0] = Some(ring);
                            windows.forget_bytes();
                            ring = windows.rings[0].unwrap();
                            executor.ring.fill(0xff);
                        }
                        let offered = ring.fill(&pipe, |at, data| {
                            executor.ring[at..at + data.len()].copy_from_slice(data);
                            Ok(())
                        });
                        executor.window = offered.unwrap();
                        ring.agreed = executor.window;
                    }
                }
            }
        }
    }

    #[test]
    fn the_last_two_pipes_with_short_transfers_have_windows() {
        let mut windows = PipeWindows::default();
        for (pipe, bytes, expected) in [
            (7, 10, [Some(7), None]),
            (9, PIPE_CALL_BYTES, [Some(7), Some(9)]),
            (7, 1, [Some(7), Some(9)]),
            (11, 1, [Some(7), Some(11)]),
            (12, 5, [Some(12), Some(11)]),
            (11, PIPE_CALL_BYTES + 1, [Some(12), None]),
            (9, PIPE_CALL_BYTES + 1, [Some(12), None]),
        ] {
            windows.note_transfer(pipe, bytes);
            assert_eq!(windows.pipes, expected, "after {bytes} bytes of {pipe}");
        }
    }
}
