//! Opening named pipes: an end waits until the other one is opened, too.

use std::sync::Arc;

use super::call::{Call, Interrupted};
use super::errno::ENXIO;
use super::failure::{CallResult, Failure};
use super::files::InodeNumber;
use super::open_files::{O_ACCMODE, O_APPEND, O_CLOEXEC, O_NONBLOCK, O_WRONLY, Object};
use super::wait::{Event, Woken};

impl Call<'_> {
    /// Opens an end of a named pipe.
    pub(super) fn open_fifo(&mut self, number: InodeNumber, path: Vec<u8>, flags: u32) -> CallResult {
        let kept = flags & (O_ACCMODE | O_NONBLOCK | O_APPEND);
        let (description, pipe) = self.kernel.open.add_fifo(number, kept);
        self.kernel.open.get_mut(description)?.path = Arc::new(path);
        // The thread holds the end until a descriptor does, so that the other end finds it.
        self.kernel.open.share(description);
        let there = self.kernel.open.pipe(pipe)?;
        let other = match flags & O_ACCMODE {
            0 => there.writers,
            O_WRONLY => there.readers,
            _ => 1,
        };
        match (other, flags & O_NONBLOCK != 0, flags & O_ACCMODE) {
            (0, true, O_WRONLY) => {
                self.kernel.release_description(description);
                Err(ENXIO.into())
            }
            (0, false, _) => self.wait_for_other_end(description, flags),
            _ => self.finish_opening(description, flags),
        }
    }

    /// Waits until the other end of a named pipe is opened, and opens a descriptor for the end that the thread holds.
    pub(super) fn wait_for_other_end(&mut self, held: u32, flags: u32) -> CallResult {
        if matches!(self.woken, Some((Woken::Event, _))) {
            return self.finish_opening(held, flags);
        }
        let (pipe, end) = match self.kernel.open.get(held)?.object {
            Object::PipeReader(pipe) => (pipe, 1),
            Object::PipeWriter(pipe) => (pipe, 0),
            _ => return self.finish_opening(held, flags),
        };
        let before = self.kernel.open.pipe(pipe)?.openings[end];
        let failure = match self.wait(Event::Opened { pipe, end, before }, None, Interrupted::Restarts) {
            Ok(()) => return self.finish_opening(held, flags),
            Err(failure) => failure,
        };
        if matches!(failure, Failure::Wait(_)) {
            self.kernel.thread_mut().held = Some(held);
        } else {
            self.kernel.release_description(held);
        }
        Err(failure)
    }

    fn finish_opening(&mut self, held: u32, flags: u32) -> CallResult {
        let number = self.kernel.process().lowest_free(0);
        if let Ok(number) = number {
            self.kernel.refer(number, held, flags & O_CLOEXEC != 0);
        }
        self.kernel.release_description(held);
        Ok(number?)
    }
}
