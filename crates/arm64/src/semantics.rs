//! The semantics of every encoding, in the terms of the manual's shared pseudocode.
//!
//! Leaf functions (`add_with_carry`, `shift_reg`, ...) take values and return values. Functions named in the
//! table read operands by their field names, call leaf functions and write the result. `N` is the manual's
//! `datasize`, 32 or 64; 32-bit values are zero-extended to 64 bits.
//!
//! A function that fails returns the reason why the lane stops, and has changed nothing. The only exception is SVC,
//! which retires before it stops the lane.

#![expect(clippy::missing_errors_doc, reason = "described above, once for all functions")]

pub mod add_sub;
pub mod atomic;
pub mod bitfield;
pub mod bitmask;
pub mod bits;
pub mod branch;
pub mod conditional;
pub mod crc;
pub mod divide;
pub mod exclusive;
pub mod flags;
pub mod float;
pub mod load_store;
pub mod logical;
pub mod move_wide;
pub mod multiply;
pub mod operand;
pub mod ordered;
pub mod pair;
pub mod pauth;
pub mod pc_rel;
pub mod qarma;
pub mod shift;
pub mod simd;
pub mod system;

/// Returns the low `datasize` bits of a value, zero-extended.
#[must_use]
#[inline(always)]
pub const fn truncate(value: u64, datasize: u32) -> u64 {
    if datasize == 32 { value & 0xffff_ffff } else { value }
}

/// `SignExtend()`: returns the low `bits` bits of a value, sign-extended to 64.
#[must_use]
#[inline(always)]
pub const fn sign_extend(value: u64, bits: u32) -> u64 {
    ((value << (64 - bits)) as i64 >> (64 - bits)) as u64
}
