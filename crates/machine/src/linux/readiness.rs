//! What open files are ready for: the events of `poll`.

use super::kernel::Kernel;
use super::open_files::{Description, Object, PIPE_ATOMIC_BYTES, PIPE_BYTES};

pub(super) const POLLIN: u16 = 1;
pub(super) const POLLOUT: u16 = 4;
pub(super) const POLLERR: u16 = 8;
pub(super) const POLLHUP: u16 = 16;
pub(super) const POLLNVAL: u16 = 32;

impl Kernel {
    /// Returns the poll events that an open file description is ready for; `POLLNVAL` if there is none.
    pub(super) fn ready_for(&self, description: u32) -> u16 {
        self.open.get(description).map_or(POLLNVAL, |description| self.readiness(description))
    }

    fn readiness(&self, description: &Description) -> u16 {
        match description.object {
            Object::Inode(_) => POLLIN | POLLOUT,
            // At the end of input, a read returns 0 at once, so input is always ready.
            Object::Input => POLLIN,
            Object::Output(_) => POLLOUT,
            Object::PipeReader(pipe) => self.open.pipe(pipe).map_or(POLLNVAL, |pipe| {
                let data = if pipe.data.is_empty() { 0 } else { POLLIN };
                data | if pipe.writers > 0 { 0 } else { POLLHUP }
            }),
            Object::PipeWriter(pipe) => self.open.pipe(pipe).map_or(POLLNVAL, |pipe| {
                // As much room as a write needs that is not divided.
                let has_room = pipe.data.len() + PIPE_ATOMIC_BYTES <= PIPE_BYTES;
                let room = if has_room { POLLOUT } else { 0 };
                room | if pipe.readers > 0 { 0 } else { POLLERR }
            }),
        }
    }
}
