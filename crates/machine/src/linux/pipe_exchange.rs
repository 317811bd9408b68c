//! The exchange of pipes between kernel and executor.
//!
//! The kernel has the bytes of a pipe while it serves the lane. After a service it offers the pipes that were used last, if a
//! transfer only moves bytes: it wakes nobody and reports nothing. When the next service begins, the kernel takes back what the
//! executor has done. The executor keeps the bytes in rings, so only bytes that one side does not have are copied.

use super::kernel::Kernel;
use super::open_files::{Object, Pipe};
use super::pipe_windows::{PipeWindows, Ring, parts};
use super::wait::Event;
use crate::call_table::{
    PIPE_ADDRESS, PIPE_BYTES, PIPE_HANDLES, PIPE_WINDOWS, PipeWindow, ProcessState,
};
use crate::error::Error;
use crate::executor::LaneAccess;

impl Kernel {
    /// Returns whether the executor may have changed pipes.
    pub(crate) fn has_pipe_windows(&self) -> bool {
        self.windows.rings.iter().any(Option::is_some)
    }

    /// Returns the address and the number of the bytes that the executor has written to pipes, for
    /// [`Executor::prefetch`](crate::Executor::prefetch).
    pub(crate) fn bytes_in_windows(&self, state: &ProcessState) -> Vec<(u64, usize)> {
        let mut all = Vec::new();
        for (window, (ring, now)) in self.windows.rings.iter().zip(&state.pipes).enumerate() {
            let Some(ring) = ring else { continue };
            let (_, fresh) = ring.changes(now);
            let start = usize::from(now.start) + now.bytes as usize - fresh;
            all.extend(
                parts(window, start, fresh).map(|part| (PIPE_ADDRESS + part.start as u64, part.len())),
            );
        }
        all
    }

    /// Takes back what the executor has done to pipes, before a service. The windows stay as they are, so that a service that fails
    /// can begin again.
    pub(super) fn take_pipes(&mut self, lane: &mut dyn LaneAccess) -> Result<(), Error> {
        for (window, now) in self.state.pipes.into_iter().enumerate() {
            let Some(ring) = self.windows.rings[window].as_mut().filter(|ring| ring.agreed != now) else {
                continue;
            };
            let (read, fresh) = ring.changes(&now);
            let mut bytes = vec![0; fresh];
            let mut rest = &mut bytes[..];
            for part in parts(window, usize::from(now.start) + now.bytes as usize - fresh, fresh) {
                let (piece, later) = rest.split_at_mut(part.len());
                lane.read_pipes(part.start, piece)?;
                rest = later;
            }
            if let Ok(pipe) = self.open.pipe_mut(ring.pipe) {
                // What the executor has written and read does not pass through here.
                let through = read.saturating_sub(pipe.data.len()) as u64;
                pipe.take(read.min(pipe.data.len()));
                pipe.taken += through;
                pipe.data.extend(bytes);
                ring.taken = pipe.taken;
            }
            (ring.agreed, ring.start, ring.filled) = (now, now.start.into(), now.bytes as usize);
            self.windows.last = window;
        }
        Ok(())
    }

    /// Offers pipes to the executor, after a service. `goes_on` says that the lane does.
    pub(super) fn offer_pipes(&mut self, lane: &mut dyn LaneAccess, goes_on: bool) -> Result<(), Error> {
        let has_any = self.has_pipe_windows() || self.windows.pipes.iter().any(Option::is_some);
        if !has_any || !lane.has_pipe_windows() {
            return Ok(());
        }
        for window in 0..PIPE_WINDOWS {
            let wanted = self.windows.pipes[window].filter(|_| goes_on);
            let ends = wanted.and_then(|pipe| Some((pipe, self.open_ends(pipe)?)));
            let offered = match ends {
                Some((pipe, ends)) => self.fill_ring(window, pipe, ends, lane)?,
                None => PipeWindow::default(),
            };
            self.state.pipes[window] = offered;
            if let Some(ring) = &mut self.windows.rings[window] {
                ring.agreed = offered;
            }
        }
        Ok(())
    }

    /// Copies the bytes of a pipe that its ring does not have there, and returns the window of the pipe.
    fn fill_ring(
        &mut self,
        window: usize,
        number: u32,
        [readers, writers]: [u16; 2],
        lane: &mut dyn LaneAccess,
    ) -> Result<PipeWindow, Error> {
        let Ok(Pipe { data, taken, .. }) = self.open.pipe(number) else { return Ok(PipeWindow::default()) };
        let empty = Ring { pipe: number, agreed: PipeWindow::default(), start: 0, filled: 0, taken: *taken };
        let ring = self.windows.rings[window].filter(|ring| ring.pipe == number).unwrap_or(empty);
        let since = (taken - ring.taken).min(PIPE_BYTES as u64) as usize;
        let filled = ring.filled.saturating_sub(since);
        let start = if filled == 0 { 0 } else { (ring.start + since) % PIPE_BYTES };
        let bytes: Vec<u8> = data.iter().skip(filled).copied().collect();
        let mut rest = &bytes[..];
        for part in parts(window, start + filled, bytes.len()) {
            let (piece, later) = rest.split_at(part.len());
            lane.write_pipes(part.start, piece)?;
            rest = later;
        }
        let (taken, filled) = (*taken, data.len());
        self.windows.rings[window] = Some(Ring { start, filled, taken, ..ring });
        Ok(PipeWindow { readers, writers, start: start as u16, bytes: filled as u32, read: 0 })
    }

    /// Returns the descriptors of the current process that read from a pipe, and those that write to it; `None` if there are none, or
    /// if a transfer does more than to move bytes.
    fn open_ends(&self, number: u32) -> Option<[u16; 2]> {
        // A named pipe has an inode that notices are about.
        let pipe = self.open.pipe(number).ok().filter(|pipe| pipe.fifo.is_none())?;
        if self.open.has_edges(number) || self.is_awaited(number) {
            return None;
        }
        let [mut reading, mut writing] = [0_u16; 2];
        for (descriptor, of) in self.process().descriptors.iter().filter(|(of, _)| *of < PIPE_HANDLES) {
            let Ok(open) = self.open.get(of.description) else { continue };
            match open.object {
                Object::PipeReader(there) if there == number && open.is_readable() => {
                    reading |= 1 << descriptor;
                }
                // Without readers, a write raises a signal.
                Object::PipeWriter(there)
                    if there == number && open.is_writable() && pipe.readers > 0 =>
                {
                    writing |= 1 << descriptor;
                }
                _ => {}
            }
        }
        (reading | writing != 0).then_some([reading, writing])
    }

    /// Returns whether a thread may wait for a pipe.
    fn is_awaited(&self, number: u32) -> bool {
        let waits = self.turns.waiting.iter().filter_map(|id| self.threads.get(id)?.wait.as_ref());
        let mut awaited = waits.flat_map(|wait| match &wait.event {
            Event::Ready(all) => &all[..],
            _ => &[],
        });
        awaited.any(|(description, _)| {
            // An epoll file may watch the pipe.
            let may_be = |object: Object| object.pipe() == Some(number) || matches!(object, Object::Event(_));
            self.open.get(*description).is_ok_and(|open| may_be(open.object))
        })
    }

    /// Takes back what the executor has done to pipes, and ends their windows, before the state of the lane leaves the machine.
    pub(crate) fn end_pipe_windows(&mut self, lane: &mut dyn LaneAccess) -> Result<(), Error> {
        self.state = lane.process_state()?;
        self.take_pipes(lane)?;
        self.windows = PipeWindows::default();
        self.state.pipes = <[PipeWindow; PIPE_WINDOWS]>::default();
        lane.set_process_state(&self.state)
    }
}
