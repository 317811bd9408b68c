//! Multiplication.

use super::{sign_extend, truncate};
use crate::{Cpu, Word};

/// MADD.
#[inline(always)]
pub fn madd<const N: u32>(cpu: &mut Cpu, w: Word) {
    let product = cpu.x(w.rn()).wrapping_mul(cpu.x(w.rm()));
    cpu.set_x(w.rd(), truncate(cpu.x(w.ra()).wrapping_add(product), N));
}

/// MSUB.
#[inline(always)]
pub fn msub<const N: u32>(cpu: &mut Cpu, w: Word) {
    let product = cpu.x(w.rn()).wrapping_mul(cpu.x(w.rm()));
    cpu.set_x(w.rd(), truncate(cpu.x(w.ra()).wrapping_sub(product), N));
}

/// Returns the product of the low words of two numbers, after both are extended to 64 bits.
#[must_use]
#[inline(always)]
pub const fn long_product(x: u64, y: u64, signed: bool) -> u64 {
    if signed {
        sign_extend(x, 32).wrapping_mul(sign_extend(y, 32))
    } else {
        truncate(x, 32).wrapping_mul(truncate(y, 32))
    }
}

/// SMADDL.
#[inline(always)]
pub fn smaddl(cpu: &mut Cpu, w: Word) {
    cpu.set_x(w.rd(), cpu.x(w.ra()).wrapping_add(long_product(cpu.x(w.rn()), cpu.x(w.rm()), true)));
}

/// SMSUBL.
#[inline(always)]
pub fn smsubl(cpu: &mut Cpu, w: Word) {
    cpu.set_x(w.rd(), cpu.x(w.ra()).wrapping_sub(long_product(cpu.x(w.rn()), cpu.x(w.rm()), true)));
}

/// UMADDL.
#[inline(always)]
pub fn umaddl(cpu: &mut Cpu, w: Word) {
    cpu.set_x(w.rd(), cpu.x(w.ra()).wrapping_add(long_product(cpu.x(w.rn()), cpu.x(w.rm()), false)));
}

/// UMSUBL.
#[inline(always)]
pub fn umsubl(cpu: &mut Cpu, w: Word) {
    cpu.set_x(w.rd(), cpu.x(w.ra()).wrapping_sub(long_product(cpu.x(w.rn()), cpu.x(w.rm()), false)));
}

/// SMULH.
#[inline(always)]
pub fn smulh(cpu: &mut Cpu, w: Word) {
    cpu.set_x(w.rd(), multiply_high_signed(cpu.x(w.rn()), cpu.x(w.rm())));
}

/// UMULH.
#[inline(always)]
pub fn umulh(cpu: &mut Cpu, w: Word) {
    cpu.set_x(w.rd(), multiply_high_unsigned(cpu.x(w.rn()), cpu.x(w.rm())));
}

/// Returns the high half of the product of two numbers.
#[must_use]
#[inline(always)]
pub const fn multiply_high(x: u64, y: u64, signed: bool) -> u64 {
    if signed { multiply_high_signed(x, y) } else { multiply_high_unsigned(x, y) }
}

/// Returns the high half of the product of two unsigned numbers.
#[must_use]
#[inline(always)]
pub const fn multiply_high_unsigned(x: u64, y: u64) -> u64 {
    ((x as u128 * y as u128) >> 64) as u64
}

/// Returns the high half of the product of two signed numbers.
#[must_use]
#[inline(always)]
pub const fn multiply_high_signed(x: u64, y: u64) -> u64 {
    ((x as i64 as i128 * y as i64 as i128) >> 64) as u64
}
