//! The registers that can be read and set in all lanes at once.

use kvrm_arm64::Cpu;

/// A register of at most 64 bits, or the number of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Register {
    /// A general register, from 0 to 30; 31 is zero.
    X(u32),
    /// The stack pointer.
    Sp,
    /// The address of the next instruction.
    Pc,
    /// The condition flags as four bits: N is 8, Z is 4, C is 2, V is 1.
    Nzcv,
    /// Floating-point control.
    Fpcr,
    /// Floating-point status.
    Fpsr,
    /// The thread pointer.
    TpidrEl0,
    /// The number of steps that the lane has retired.
    Steps,
}

impl Register {
    /// Returns the value of the register in the registers of a lane.
    #[must_use]
    pub fn of(self, cpu: &Cpu) -> u64 {
        match self {
            Self::X(n) => cpu.x(n),
            Self::Sp => cpu.sp,
            Self::Pc => cpu.pc,
            Self::Nzcv => cpu.nzcv.into(),
            Self::Fpcr => cpu.fpcr.into(),
            Self::Fpsr => cpu.fpsr.into(),
            Self::TpidrEl0 => cpu.tpidr_el0,
            Self::Steps => cpu.steps,
        }
    }

    /// Sets the register in the registers of a lane to the bits of `value` that it has.
    pub fn set(self, cpu: &mut Cpu, value: u64) {
        let value = self.bits_of(value);
        match self {
            Self::X(n @ 0..31) => cpu.set_x(n, value),
            Self::X(_) => {}
            Self::Sp => cpu.sp = value,
            Self::Pc => cpu.pc = value,
            Self::Nzcv => cpu.nzcv = value as u32,
            Self::Fpcr => cpu.fpcr = value as u32,
            Self::Fpsr => cpu.fpsr = value as u32,
            Self::TpidrEl0 => cpu.tpidr_el0 = value,
            Self::Steps => cpu.steps = value,
        }
    }

    /// Returns the bits of a value that the register has.
    #[must_use]
    pub const fn bits_of(self, value: u64) -> u64 {
        match self {
            Self::X(31..) => 0,
            Self::Nzcv => value & 0xf,
            Self::Fpcr | Self::Fpsr => value & 0xffff_ffff,
            Self::X(_) | Self::Sp | Self::Pc | Self::TpidrEl0 | Self::Steps => value,
        }
    }
}
