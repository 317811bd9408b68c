//! How calls end.

use kvrm_arm64::Stop;

use super::errno::Errno;
use crate::error::Error;

/// What a call returns.
pub(super) type Served = Result<u64, Failure>;

/// Why a call returns no value.
pub(super) enum Failure {
    Errno(Errno),
    Exit(i32),
    Stop(Stop),
    Engine(Error),
}

impl Failure {
    /// The end by a signal, as a shell tells it.
    pub(super) const fn killed(number: u64) -> Self {
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

/// An error as calls return it.
pub(super) const fn negative(Errno(number): Errno) -> u64 {
    (number as u64).wrapping_neg()
}
