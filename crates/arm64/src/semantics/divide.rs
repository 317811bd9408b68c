//! Division. Division by zero gives zero, and the only overflow (the least integer divided by -1) wraps.

use super::{sign_extend, truncate};
use crate::{Cpu, Word};

/// UDIV.
#[inline(always)]
pub fn udiv<const N: u32>(cpu: &mut Cpu, w: Word) {
    cpu.set_x(w.rd(), divide_unsigned(truncate(cpu.x(w.rn()), N), truncate(cpu.x(w.rm()), N)));
}

/// SDIV, rounding towards zero.
#[inline(always)]
pub fn sdiv<const N: u32>(cpu: &mut Cpu, w: Word) {
    let quotient = divide_signed(sign_extend(cpu.x(w.rn()), N), sign_extend(cpu.x(w.rm()), N));
    cpu.set_x(w.rd(), truncate(quotient, N));
}

/// Returns the quotient of two numbers, rounded towards zero.
#[must_use]
#[inline(always)]
pub const fn divide(dividend: u64, divisor: u64, signed: bool) -> u64 {
    if signed { divide_signed(dividend, divisor) } else { divide_unsigned(dividend, divisor) }
}

/// Returns the quotient of two unsigned numbers, rounded down.
#[must_use]
#[inline(always)]
pub const fn divide_unsigned(dividend: u64, divisor: u64) -> u64 {
    match dividend.checked_div(divisor) {
        Some(quotient) => quotient,
        None => 0,
    }
}

/// Returns the quotient of two signed numbers, rounded towards zero.
#[must_use]
#[inline(always)]
pub const fn divide_signed(dividend: u64, divisor: u64) -> u64 {
    if divisor == 0 { 0 } else { (dividend as i64).wrapping_div(divisor as i64) as u64 }
}
