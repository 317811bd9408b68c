//! The exchange of pipes between kernel and executor.
//!
//! The kernel has the bytes of a pipe while it serves the lane. After a service it offers the pipes that were used last, if a
//! transfer only moves bytes: it wakes nobody and reports nothing. When the next service begins, the kernel takes back what the
//! executor has done.

use super::kernel::Kernel;
use super::open_files::Object;
use super::pipe_windows::{PipeWindows, Ring};
use super::wait::Event;
use crate::call_table::{PIPE_ADDRESS, PIPE_BYTES, PIPE_HANDLES, PIPE_WINDOWS, PipeWindow, ProcessState};
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
            let address = |at: usize| PIPE_ADDRESS + (window * PIPE_BYTES + at) as u64;
            all.extend(ring.fresh_parts(now).map(|part| (address(part.start), part.len())));
        }
        all
    }

    /// Takes back what the executor has done to pipes, before a service. The windows stay as they are, so that a service that fails
    /// can begin again.
    pub(super) fn take_pipes(&mut self, lane: &mut dyn LaneAccess) -> Result<(), Error> {
        for (window, now) in self.state.pipes.into_iter().enumerate() {
            let ring = self.windows.rings[window].as_mut().filter(|ring| ring.agreed != now);
            if let Some(ring) = ring
                && let Ok(pipe) = self.open.pipe_mut(ring.pipe)
            {
                ring.take_back(now, pipe, |at, out| lane.read_pipes(window * PIPE_BYTES + at, out))?;
                self.windows.last = window;
            }
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
            let number = self.windows.pipes[window].filter(|_| goes_on);
            let ends = number.and_then(|number| self.open_ends(number));
            let mut offered = PipeWindow::default();
            if let (Some(number), Some([readers, writers])) = (number, ends)
                && let Ok(pipe) = self.open.pipe(number)
            {
                let ring = self.windows.rings[window].filter(|ring| ring.pipe == number);
                let mut ring = ring.unwrap_or_else(|| Ring::new(number, pipe));
                let filled =
                    ring.fill(pipe, |at, bytes| lane.write_pipes(window * PIPE_BYTES + at, bytes))?;
                offered = PipeWindow { readers, writers, ..filled };
                self.windows.rings[window] = Some(ring);
            }
            self.state.pipes[window] = offered;
            if let Some(ring) = &mut self.windows.rings[window] {
                ring.agreed = offered;
            }
        }
        Ok(())
    }

    /// Returns the descriptors of the current process that read from a pipe, and those that write to it; `None` if there are none, or
    /// if a transfer does more than to move bytes.
    fn open_ends(&self, number: u32) -> Option<[u16; 2]> {
        // A named pipe has an inode that notices are about.
        let pipe = self.open.pipe(number).ok().filter(|pipe| pipe.fifo.is_none())?;
        if self.open.reports_changes(number) || self.is_awaited(number) {
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
                Object::PipeWriter(there) if there == number && open.is_writable() && pipe.readers > 0 => {
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
