//! Bit reversal, byte reversal and counting.

use super::truncate;
use crate::{Cpu, Word};

/// RBIT.
#[inline(always)]
pub fn rbit<const N: u32>(cpu: &mut Cpu, w: Word) {
    cpu.set_x(w.rd(), reverse_bits(truncate(cpu.x(w.rn()), N)) >> (64 - N));
}

/// Reverses the order of 64 bits.
#[must_use]
#[inline(always)]
pub const fn reverse_bits(value: u64) -> u64 {
    value.reverse_bits()
}

/// REV16, REV32, REV: reverses the bytes of each container of `CONTAINER` bits.
#[inline(always)]
pub fn rev<const N: u32, const CONTAINER: u32>(cpu: &mut Cpu, w: Word) {
    cpu.set_x(w.rd(), truncate(reverse_bytes(cpu.x(w.rn()), CONTAINER), N));
}

/// `Reverse()`: reverses the order of the bytes in each container of 16, 32 or 64 bits.
#[must_use]
#[inline(always)]
pub const fn reverse_bytes(value: u64, container: u32) -> u64 {
    match container {
        16 => (value & 0x00ff_00ff_00ff_00ff) << 8 | (value >> 8 & 0x00ff_00ff_00ff_00ff),
        32 => value.swap_bytes().rotate_right(32),
        _ => value.swap_bytes(),
    }
}

/// CLZ.
#[inline(always)]
pub fn clz<const N: u32>(cpu: &mut Cpu, w: Word) {
    cpu.set_x(w.rd(), u64::from(count_leading_zero_bits(truncate(cpu.x(w.rn()), N), N)));
}

/// CLS.
#[inline(always)]
pub fn cls<const N: u32>(cpu: &mut Cpu, w: Word) {
    cpu.set_x(w.rd(), u64::from(count_leading_sign_bits(truncate(cpu.x(w.rn()), N), N)));
}

/// `CountLeadingZeroBits()` of a `datasize`-bit value.
#[must_use]
#[inline(always)]
pub const fn count_leading_zero_bits(value: u64, datasize: u32) -> u32 {
    value.leading_zeros() - (64 - datasize)
}

/// `CountLeadingSignBits()`: returns the number of bits below the top bit that equal it without a gap.
#[must_use]
#[inline(always)]
pub const fn count_leading_sign_bits(value: u64, datasize: u32) -> u32 {
    // A bit of `changes` is set if two adjacent bits differ; the top pair of the value is bit datasize - 2.
    let changes = (value >> 1 ^ value) & (u64::MAX >> (65 - datasize));
    count_leading_zero_bits(changes, datasize) - 1
}
