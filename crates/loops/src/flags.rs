//! The flags of an iteration as functions of terms, and the conditions under which branches leave a loop.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use kvrm_arm64::semantics::flags::{add_with_carry, condition_holds, nz};

use crate::term::Term;

/// The condition that always holds, the first of two.
pub(crate) const ALWAYS: u32 = 14;

/// The flags as a function of terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flags {
    /// As the iteration began, or set in a way that is not understood.
    Unknown,
    /// Those of `x - y`, of words unless it is `wide`.
    Difference {
        /// The minuend.
        x: Term,
        /// The subtrahend.
        y: Term,
        /// Whether these have 64 bits rather than 32.
        wide: bool,
    },
    /// Those of `x + y`, of words unless it is `wide`.
    Sum {
        /// One summand.
        x: Term,
        /// The other.
        y: Term,
        /// The sum, zero-extended.
        value: Term,
        /// Whether these have 64 bits rather than 32.
        wide: bool,
    },
    /// Those of the result of a logical instruction: C and V are clear.
    Logic {
        /// The result, zero-extended.
        value: Term,
        /// Whether it has 64 bits rather than 32.
        wide: bool,
    },
    /// Those of a conditional comparison.
    Conditional {
        /// The condition.
        cond: u32,
        /// The flags before.
        before: Box<Self>,
        /// The flags if the condition holds.
        then: Box<Self>,
        /// The flags if it does not.
        nzcv: u32,
    },
}

impl Flags {
    /// Returns whether the flags are a function of terms.
    #[must_use]
    pub fn is_known(&self) -> bool {
        match self {
            Self::Unknown => false,
            Self::Difference { .. } | Self::Sum { .. } | Self::Logic { .. } => true,
            Self::Conditional { before, then, .. } => before.is_known() && then.is_known(),
        }
    }

    /// Calls a function with each term.
    pub fn terms(&self, visit: &mut dyn FnMut(&Term)) {
        match self {
            Self::Unknown => {}
            Self::Difference { x, y, .. } | Self::Sum { x, y, .. } => {
                visit(x);
                visit(y);
            }
            Self::Logic { value, .. } => visit(value),
            Self::Conditional { before, then, .. } => {
                before.terms(visit);
                then.terms(visit);
            }
        }
    }

    /// Returns N, Z, C and V as 8, 4, 2 and 1. `value` returns the value of a term. Unknown flags are clear.
    pub fn nzcv(&self, value: &mut dyn FnMut(&Term) -> u64) -> u32 {
        let sum = |x: u64, y: u64, carry, wide: bool| {
            let mask = if wide { u64::MAX } else { u32::MAX.into() };
            add_with_carry(x & mask, y & mask, carry, if wide { 64 } else { 32 }).nzcv
        };
        match self {
            Self::Unknown => 0,
            Self::Difference { x, y, wide } => sum(value(x), !value(y), 1, *wide),
            Self::Sum { x, y, wide, .. } => sum(value(x), value(y), 0, *wide),
            Self::Logic { value: result, wide } => nz(value(result), *wide),
            Self::Conditional { cond, before, then, nzcv } => {
                if condition_holds(*cond, before.nzcv(value)) {
                    then.nzcv(value)
                } else {
                    *nzcv
                }
            }
        }
    }
}

/// A condition under which a branch leaves the loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// A four-bit condition on flags.
    Flags {
        /// The condition, from 0 to 13.
        cond: u32,
        /// The flags.
        flags: Flags,
    },
    /// A value is zero, or is not zero if it is `inverted`.
    Zero {
        /// The value.
        value: Term,
        /// Whether the condition is that the value is not zero.
        inverted: bool,
    },
    /// Never: the loop has no such exit.
    Never,
}

impl Condition {
    /// Calls a function with each term.
    pub fn terms(&self, visit: &mut dyn FnMut(&Term)) {
        match self {
            Self::Flags { flags, .. } => flags.terms(visit),
            Self::Zero { value, .. } => visit(value),
            Self::Never => {}
        }
    }

    /// Returns the terms that decide the condition, and whether they have 64 bits rather than 32: the two sides of a comparison, or
    /// one value that is compared with zero. Returns none if flags are not understood, or are those of a conditional comparison.
    #[must_use]
    pub fn compared(&self) -> (Vec<&Term>, bool) {
        match self {
            Self::Never | Self::Flags { flags: Flags::Unknown | Flags::Conditional { .. }, .. } => {
                (Vec::new(), true)
            }
            Self::Zero { value, .. }
            | Self::Flags { flags: Flags::Sum { value, .. } | Flags::Logic { value, .. }, .. } => {
                (vec![value], true)
            }
            Self::Flags { flags: Flags::Difference { x, y, wide }, .. } => (vec![x, y], *wide),
        }
    }

    /// Returns whether the condition is a function of terms.
    #[must_use]
    pub fn is_known(&self) -> bool {
        match self {
            Self::Flags { flags, .. } => flags.is_known(),
            Self::Zero { .. } | Self::Never => true,
        }
    }

    /// Returns whether the condition holds. `value` returns the value of a term.
    pub fn holds(&self, value: &mut dyn FnMut(&Term) -> u64) -> bool {
        match self {
            Self::Flags { cond, flags } => condition_holds(*cond, flags.nzcv(value)),
            Self::Zero { value: term, inverted } => (value(term) == 0) != *inverted,
            Self::Never => false,
        }
    }
}
