//! A system call while it is served.

use kvrm_arm64::Cpu;

use super::descriptors::Object;
use super::errno::{ENOTDIR, Errno};
use super::failure::Failure;
use super::files::{Number, Place, ROOT};
use super::guest::Guest;
use super::process::{Process, Written};

/// A call of a lane.
pub(super) struct Call<'a> {
    pub(super) process: &'a mut Process,
    pub(super) guest: Guest<'a>,
    pub(super) console: &'a mut Written,
    /// The arguments.
    pub(super) x: [u64; 6],
    /// The registers behind the call.
    pub(super) cpu: &'a mut Cpu,
}

impl Call<'_> {
    /// The directory that a path begins at: a descriptor's, or the current one.
    pub(super) fn start(&self, descriptor: u64) -> Result<Number, Errno> {
        /// Instead of a descriptor: the current directory.
        const AT_FDCWD: i32 = -100;
        if descriptor as i32 == AT_FDCWD {
            return Ok(self.process.directory);
        }
        match self.process.descriptors.get(descriptor)?.object {
            Object::Node(number) => Ok(number),
            _ => Err(ENOTDIR),
        }
    }

    /// Where the path at an address leads, from a directory.
    pub(super) fn place(&mut self, descriptor: u64, path: u64, follow: bool) -> Result<Place, Failure> {
        let path = self.guest.path(path)?;
        // A descriptor that is not needed is not looked at.
        let start = if path.starts_with(b"/") { ROOT } else { self.start(descriptor)? };
        Ok(self.process.files.walk(start, &path, follow)?)
    }

    /// Drops a node if it has no name and nobody has it open.
    pub(super) fn release(&mut self, number: Number) {
        let is_used = self.process.descriptors.is_open(Object::Node(number));
        if !is_used && self.process.directory != number {
            self.process.files.forget(number);
        }
    }
}
