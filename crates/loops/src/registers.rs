//! The registers of a lane by their numbers in micro-ops.

use kvrm_arm64::Cpu;
use kvrm_arm64::micro_op::{REGISTERS, SP};

/// Returns the registers of a lane by their numbers in micro-ops.
#[must_use]
pub fn registers(cpu: &Cpu) -> [u64; REGISTERS as usize] {
    core::array::from_fn(|register| match register as u32 {
        register @ 0..=30 => cpu.x(register),
        SP => cpu.sp,
        _ => 0,
    })
}

/// Returns the values of x0 to x30 and the stack pointer by their numbers in micro-ops.
#[must_use]
pub fn micro_op_registers(values: &[u64; 32]) -> [u64; REGISTERS as usize] {
    core::array::from_fn(|register| match register as u32 {
        register @ 0..=30 => values[register as usize],
        SP => values[31],
        _ => 0,
    })
}

/// Changes the register with this number in micro-ops, one of x0 to x30 or the stack pointer.
pub fn set_register(cpu: &mut Cpu, register: u32, value: u64) {
    match register {
        SP => cpu.sp = value,
        _ => cpu.set_x(register, value),
    }
}
