//! A system call that is being served.

use kvrm_arm64::Cpu;

use super::descriptors::Object;
use super::errno::{ENOTDIR, Errno};
use super::failure::Failure;
use super::files::{InodeNumber, Place, ROOT};
use super::guest::Guest;
use super::process::{ConsoleOutput, Process};

/// One system call of one lane, with access to the lane's process, memory and registers.
pub(super) struct Call<'a> {
    pub(super) process: &'a mut Process,
    pub(super) guest: Guest<'a>,
    /// The console output of the call.
    pub(super) console: &'a mut ConsoleOutput,
    /// The arguments, X0 to X5.
    pub(super) x: [u64; 6],
    /// The registers after the call; its `svc` has retired.
    pub(super) cpu: &'a mut Cpu,
}

impl Call<'_> {
    /// Returns the directory that relative paths start at: the open directory `descriptor`, or the current directory.
    pub(super) fn base_directory(&self, descriptor: u64) -> Result<InodeNumber, Errno> {
        /// Stands for the current directory instead of a descriptor.
        const AT_FDCWD: i32 = -100;
        if descriptor as i32 == AT_FDCWD {
            return Ok(self.process.directory);
        }
        match self.process.descriptors.get(descriptor)?.object {
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
        let start = if path.starts_with(b"/") { ROOT } else { self.base_directory(descriptor)? };
        Ok(self.process.files.walk(start, &path, follow)?)
    }

    /// Frees an inode that has no links left, unless a descriptor or the current directory still refers to it.
    pub(super) fn release(&mut self, number: InodeNumber) {
        let is_used = self.process.descriptors.is_open(Object::Inode(number));
        if !is_used && self.process.directory != number {
            self.process.files.forget(number);
        }
    }
}
