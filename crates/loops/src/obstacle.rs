//! The reasons for which iterations of a loop that is understood are not executed at once.

use core::fmt;

use kvrm_arm64::micro_op::SP;

/// Why iterations are not executed at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// This register of micro-ops changes in a way that has no closed form.
    Register(u32),
    /// An iteration depends on the flags of the iteration before.
    Flags,
    /// The address of this access of the body is not a progression though it stores, or is not aligned as the access needs it.
    Address(usize),
    /// A value that a store, a branch or a sum needs depends on flags that are not understood.
    Value,
    /// This store and another access may overlap in the iterations that follow.
    Overlap(usize),
    /// The inner loop has another number of iterations in each iteration, or it is not known.
    Trips,
    /// Fewer than two iterations are certain to follow.
    TooShort,
}

impl Obstacle {
    /// Returns a short name, the same for all registers and accesses.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Register(_) => "register",
            Self::Flags => "flags",
            Self::Address(_) => "address",
            Self::Value => "value",
            Self::Overlap(_) => "overlap",
            Self::Trips => "trips",
            Self::TooShort => "too short",
        }
    }
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Register(SP) => write!(f, "the stack pointer changes in a way without a closed form"),
            Self::Register(register) => write!(f, "x{register} changes in a way without a closed form"),
            Self::Flags => write!(f, "an iteration depends on the flags of the one before"),
            Self::Address(access) => write!(f, "the addresses of access {access} have no closed form"),
            Self::Value => write!(f, "a value depends on flags that are not analysed"),
            Self::Overlap(access) => write!(f, "store {access} may overlap another access"),
            Self::Trips => write!(f, "the number of iterations of the inner loop has no closed form"),
            Self::TooShort => write!(f, "fewer than two iterations are certain to follow"),
        }
    }
}
