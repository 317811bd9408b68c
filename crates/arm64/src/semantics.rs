//! The meaning of every encoding, in the words of the manual's shared pseudocode.
//!
//! Leaf functions (`add_with_carry`, `shift_reg`, ...) take values and return values. Functions named in the
//! table read operands by their field names, call leaf functions and write the result. `N` is the manual's
//! `datasize`, 32 or 64; values of 32 bits are held zero-extended in 64.
//!
//! A function that returns an error returns the stop the instruction ends in, and has then changed nothing;
//! only SVC retires first.

#![expect(clippy::missing_errors_doc, reason = "said once above for all of them")]

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
pub mod pc_rel;
pub mod shift;
pub mod simd;
pub mod system;

/// The low `datasize` bits of a value, zero-extended.
#[must_use]
#[inline(always)]
pub const fn truncate(value: u64, datasize: u32) -> u64 {
    if datasize == 32 { value & 0xffff_ffff } else { value }
}

/// `SignExtend()`: the low `bits` bits of a value, sign-extended to 64.
#[must_use]
#[inline(always)]
pub const fn sign_extend(value: u64, bits: u32) -> u64 {
    ((value << (64 - bits)) as i64 >> (64 - bits)) as u64
}
