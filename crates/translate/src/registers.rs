//! Sets of registers.

use kvrm_arm64::micro_op::{REGISTERS, SINK, ZERO};

/// The number of V0. V1 to V31 follow. Smaller numbers are those of the registers of the interpreter.
pub const VECTORS: u32 = REGISTERS;
/// The number of FPCR and FPSR, which share a word: FPSR is the upper half.
pub const FLOAT_CONTROL: u32 = VECTORS + 32;

/// A set of registers. It never has the zero register or the sink: they hold nothing that a guest can see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Registers(u128);

impl Registers {
    /// No registers.
    pub const NONE: Self = Self(0);

    /// Returns the set of one register; of none for the zero register and the sink.
    #[must_use]
    pub const fn of(register: u32) -> Self {
        Self(if register == ZERO || register == SINK { 0 } else { 1 << register })
    }

    /// Returns the set of one SIMD&FP register.
    #[must_use]
    pub const fn vector(register: u32) -> Self {
        Self::of(VECTORS + register)
    }

    /// Whether the set has a register.
    #[must_use]
    pub const fn has(self, register: u32) -> bool {
        self.0 >> register & 1 == 1
    }

    /// Whether the set has no register.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the registers that one of two sets has.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the registers that `other` does not have.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Returns the registers in ascending order.
    pub fn iter(self) -> impl Iterator<Item = u32> {
        (0..=FLOAT_CONTROL).filter(move |register| self.has(*register))
    }
}
