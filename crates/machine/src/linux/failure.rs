//! The results of system calls.

use kvrm_arm64::Stop;

use super::errno::Errno;
use super::process::Status;
use super::wait::Wait;
use crate::error::Error;

/// The value that a system call returns in X0, or the reason that it returns none.
pub(super) type CallResult = Result<u64, Failure>;

/// The reason that a call returns no value.
pub(super) enum Failure {
    /// The call fails with this errno, negated in X0.
    Errno(Errno),
    /// A signal interrupts the wait of the call. It fails with `EINTR`, or is made again: if no handler runs, or if `restarts` is
    /// set and the handler asks for it.
    Interrupted { restarts: bool },
    /// The thread waits, and the call is served again when it is woken.
    Wait(Wait),
    /// The process ends.
    Exit(Status),
    /// The thread ends. If it is the last one of its process, this is the exit code.
    ExitThread(u8),
    /// The lane stops, and makes the call again when it continues.
    Stop(Stop),
    /// The engine has failed.
    Engine(Error),
}

impl Failure {
    /// Returns the end of a process that signal `number` kills.
    pub(super) const fn killed_by(number: u64) -> Self {
        Self::Exit(Status::killed_by(number))
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
