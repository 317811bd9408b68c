//! A system call that is being served.

use kvrm_arm64::Cpu;

use super::errno::{EINTR, ENOTDIR, Errno};
use super::failure::{CallResult, Failure};
use super::files::{Inode, InodeNumber, Place};
use super::guest::Guest;
use super::kernel::{ConsoleOutput, Kernel};
use super::open_files::{Description, Object};
use super::readiness::POLLNVAL;
use super::settings::EPOCH;
use super::wait::{Event, Wait, Woken};

/// Stands for the current directory instead of a descriptor.
pub(super) const AT_FDCWD: i32 = -100;

/// One system call of one thread, with access to the kernel, the memory and the registers of its lane.
pub(super) struct Call<'a> {
    pub(super) kernel: &'a mut Kernel,
    pub(super) guest: Guest<'a>,
    /// The console output of the call.
    pub(super) console: &'a mut ConsoleOutput,
    /// The arguments, X0 to X5.
    pub(super) x: [u64; 6],
    /// The registers after the call; its `svc` has retired.
    pub(super) cpu: &'a mut Cpu,
    /// If the thread has waited in this call: why it was woken, and the end of its waiting time.
    pub(super) woken: Option<(Woken, Option<u64>)>,
}

/// What a call does that a signal has interrupted, if a handler runs that asks for its repetition.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Interrupted {
    /// It is made again.
    Restarts,
    /// It fails with `EINTR`.
    Fails,
}

impl Call<'_> {
    /// Returns the directory that relative paths start at: the open directory `descriptor`, or the current directory.
    pub(super) fn base_directory(&self, descriptor: u64) -> Result<InodeNumber, Errno> {
        if descriptor as i32 == AT_FDCWD {
            return Ok(self.kernel.process().directory);
        }
        match self.kernel.description(descriptor)?.object {
            Object::Inode(number) => Ok(number),
            _ => Err(ENOTDIR),
        }
    }

    /// Reads the path at address `path` and looks it up, starting at the directory `descriptor`.
    ///
    /// `follow` says whether a symbolic link at the end of the path is followed.
    pub(super) fn place(&mut self, descriptor: u64, path: u64, follow: bool) -> Result<Place, Failure> {
        let path = self.guest.path(path)?;
        // For an absolute path, Linux ignores the descriptor, even an invalid one.
        let start = if path.starts_with(b"/") {
            self.kernel.process().root
        } else {
            self.base_directory(descriptor)?
        };
        Ok(self.kernel.walk(start, &path, follow)?)
    }

    /// Looks up a path, starting at the current directory.
    pub(super) fn place_of(&self, path: &[u8], follow: bool) -> Result<Place, Errno> {
        self.kernel.walk(self.kernel.process().directory, path, follow)
    }

    /// Returns the end of a wait that lasts `timeout` nanoseconds from the start of the call.
    pub(super) fn deadline(&self, timeout: Option<u64>) -> Option<u64> {
        match self.woken {
            Some((_, deadline)) => deadline,
            None => timeout.map(|timeout| self.later(timeout)),
        }
    }

    /// Returns the uptime after a number of nanoseconds from now, but no later than what clocks can show.
    pub(super) fn later(&self, nanoseconds: u64) -> u64 {
        const LAST: u64 = i64::MAX as u64 - EPOCH;
        self.uptime().saturating_add(nanoseconds).min(LAST)
    }

    /// Waits for an event until the deadline.
    ///
    /// Returns `Ok` if the time is over. Otherwise the call fails with the returned failure. It is served again after the event, and
    /// waits again if it still cannot go on.
    pub(super) fn wait(
        &self,
        event: Event,
        deadline: Option<u64>,
        interrupted: Interrupted,
    ) -> Result<(), Failure> {
        match self.woken {
            Some((Woken::Time, _)) => Ok(()),
            Some((Woken::Signal, _)) => {
                Err(Failure::Interrupted { restarts: interrupted == Interrupted::Restarts })
            }
            _ if deadline.is_some_and(|deadline| deadline <= self.uptime()) => Ok(()),
            _ if self.has_signal() => {
                Err(Failure::Interrupted { restarts: interrupted == Interrupted::Restarts })
            }
            _ => Err(Failure::Wait(Wait { event, deadline, value: None })),
        }
    }

    /// Returns whether a signal waits to be delivered to the thread.
    fn has_signal(&self) -> bool {
        self.kernel.deliverable(self.kernel.turns.current).is_some()
    }

    /// Returns the inode of an open file description. Nodes of `/proc`, and what is no file, have none.
    pub(super) fn inode_of(&self, open: &Description) -> Option<&Inode> {
        match open.object {
            Object::Inode(number) => self.kernel.files.inode(number),
            _ => None,
        }
    }

    /// Makes a part of the call while two descriptors have additional status flags.
    pub(super) fn with_flags(
        &mut self,
        descriptors: [u64; 2],
        added: u32,
        make: impl FnOnce(&mut Self) -> CallResult,
    ) -> CallResult {
        let ids = [self.kernel.opened(descriptors[0])?, self.kernel.opened(descriptors[1])?];
        let before = [self.kernel.open.get(ids[0])?.flags, self.kernel.open.get(ids[1])?.flags];
        for id in ids {
            self.kernel.open.get_mut(id)?.flags |= added;
        }
        let result = make(self);
        for (id, flags) in ids.into_iter().zip(before) {
            // The part of the call has closed no descriptor.
            if let Ok(open) = self.kernel.open.get_mut(id) {
                open.flags = flags;
            }
        }
        result
    }

    /// Waits until an open file description is ready for one of the poll events.
    pub(super) fn wait_until_ready(&self, description: u32, events: u16) -> Failure {
        // Another thread may close the description meanwhile.
        let event = Event::Ready(vec![(description, events | POLLNVAL)]);
        self.wait(event, None, Interrupted::Restarts).err().unwrap_or(Failure::Errno(EINTR))
    }
}
