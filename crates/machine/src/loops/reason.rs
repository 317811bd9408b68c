//! The reasons for which loops are not accelerated.

use std::fmt;

use kvrm_loops::{Obstacle, Refusal};

/// The reason for which a loop is not accelerated.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reason {
    Refusal(Refusal),
    Obstacle(Obstacle),
}

impl Reason {
    /// Returns a short name, the same for all loops.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Refusal(of) => of.name(),
            Self::Obstacle(of) => of.name(),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refusal(of) => of.fmt(f),
            Self::Obstacle(of) => of.fmt(f),
        }
    }
}
