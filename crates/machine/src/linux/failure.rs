//! The results of system calls.

use kvrm_arm64::Stop;

use super::errno::Errno;
use crate::error::Error;

/// The value that a system call returns in X0, or the reason that it returns none.
pub(super) type CallResult = Result<u64, Failure>;

/// The reason that a call returns no value.
pub(super) enum Failure {
    /// The call fails with this errno, negated in X0.
    Errno(Errno),
    /// The lane exits with this status.
    Exit(i32),
    /// The lane stops, and makes the call again when it continues.
    Stop(Stop),
    /// The engine has failed.
    Engine(Error),
}

impl Failure {
    /// Returns the exit for a lane that signal `number` kills: status 128 plus the number, as shells report it.
    pub(super) const fn killed_by(number: u64) -> Self {
        Self::Exit(128 + number as i32)
    }
}

impl From<Errno> for Failure {
    fn from(errno: Errno) -> Self {
        Self::Errno(errno)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Engine(error)
    }
}

/// Returns the value of X0 after a call that fails with an errno: the negated number.
pub(super) const fn negative(Errno(number): Errno) -> u64 {
    (number as u64).wrapping_neg()
}
