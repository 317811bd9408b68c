//! Condition flags.

use super::truncate;
use crate::{Cpu, Word};

/// A sum and the flags it produces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddResult {
    /// The sum, in `datasize` bits.
    pub value: u64,
    /// N, Z, C and V as 8, 4, 2 and 1.
    pub nzcv: u32,
}

/// `AddWithCarry()`: returns `x + y + carry_in` in `datasize` bits, with flags.
#[must_use]
#[inline(always)]
pub const fn add_with_carry(x: u64, y: u64, carry_in: u32, datasize: u32) -> AddResult {
    let sum = x.wrapping_add(y).wrapping_add(carry_in as u64);
    let value = truncate(sum, datasize);
    let wide = datasize == 64;
    AddResult { value, nzcv: nz(value, wide) | cv(x, y, carry_in, sum, wide) }
}

/// Returns N and Z of a result, which has 64 bits if it is `wide`, else 32. C and V are clear.
#[must_use]
#[inline(always)]
pub const fn nz(value: u64, wide: bool) -> u32 {
    let sign = if wide { value >> 63 } else { value >> 31 & 1 };
    (sign as u32) << 3 | ((value == 0) as u32) << 2
}

/// Returns C and V of [`add_with_carry`]. N and Z are clear. `sum` is `x + y + carry_in` in 64 bits; operands that are
/// not `wide` are zero-extended.
#[must_use]
#[inline(always)]
pub const fn cv(x: u64, y: u64, carry_in: u32, sum: u64, wide: bool) -> u32 {
    let (partial, carry_a) = x.overflowing_add(y);
    let carry_b = partial.overflowing_add(carry_in as u64).1;
    let carry = if wide { (carry_a | carry_b) as u32 } else { (sum >> 32) as u32 & 1 };
    let overflow = ((x ^ sum) & (y ^ sum)) >> (if wide { 63 } else { 31 }) & 1;
    carry << 1 | overflow as u32
}

/// `ConditionHolds()`: whether a four-bit condition holds for the flags.
#[must_use]
#[inline(always)]
pub const fn condition_holds(cond: u32, nzcv: u32) -> bool {
    let (n, z, c, v) = (nzcv >> 3 & 1, nzcv >> 2 & 1, nzcv >> 1 & 1, nzcv & 1);
    let result = match cond >> 1 & 7 {
        0b000 => z == 1,           // EQ or NE
        0b001 => c == 1,           // CS or CC
        0b010 => n == 1,           // MI or PL
        0b011 => v == 1,           // VS or VC
        0b100 => c == 1 && z == 0, // HI or LS
        0b101 => n == v,           // GE or LT
        0b110 => n == v && z == 0, // GT or LE
        _ => true,                 // AL
    };
    // Odd conditions are the inverse of even ones, except that NV means AL.
    if cond & 1 == 1 && cond & 15 != 15 { !result } else { result }
}

/// Instructions that manipulate flags, by their numbers: RMIF.
pub const FLAGS_ROTATE: u32 = 0;
/// SETF8.
pub const FLAGS_SET_8: u32 = 1;
/// SETF16.
pub const FLAGS_SET_16: u32 = 2;
/// CFINV.
pub const FLAGS_INVERT_CARRY: u32 = 3;
/// XAFLAG.
pub const FLAGS_FROM_EXTERNAL: u32 = 4;
/// AXFLAG.
pub const FLAGS_TO_EXTERNAL: u32 = 5;

/// Returns the flags after an instruction that manipulates them. `value` is Xn, which RMIF rotates right by `rotation`
/// and SETF8 and SETF16 compare; `mask` has the flags that RMIF changes.
#[must_use]
#[inline]
pub const fn manipulated(operation: u32, value: u64, rotation: u32, mask: u32, nzcv: u32) -> u32 {
    let (z, c, v) = (nzcv >> 2 & 1, nzcv >> 1 & 1, nzcv & 1);
    match operation {
        FLAGS_ROTATE => nzcv & !mask | value.rotate_right(rotation) as u32 & mask,
        FLAGS_SET_8 | FLAGS_SET_16 => {
            // The sign is the highest bit of the byte or halfword. V is set if the bit above it differs.
            let top = if operation == FLAGS_SET_8 { 7 } else { 15 };
            let sign = (value >> top) as u32 & 1;
            let above = (value >> (top + 1)) as u32 & 1;
            let is_zero = value << (63 - top) == 0;
            sign << 3 | (is_zero as u32) << 2 | c << 1 | (above ^ sign)
        }
        FLAGS_INVERT_CARRY => nzcv ^ 2,
        // N is set if both C and Z are clear.
        FLAGS_FROM_EXTERNAL => ((c | z) ^ 1) << 3 | (z & c) << 2 | (c | z) << 1 | ((c ^ 1) & z),
        _ => (z | v) << 2 | (c & (v ^ 1)) << 1,
    }
}

/// RMIF.
#[inline]
pub fn rmif(cpu: &mut Cpu, w: Word) {
    cpu.nzcv = manipulated(FLAGS_ROTATE, cpu.x(w.rn()), w.bits(15, 6), w.nzcv(), cpu.nzcv);
}

/// SETF8 and SETF16.
#[inline]
pub fn setf<const BITS: u32>(cpu: &mut Cpu, w: Word) {
    let operation = if BITS == 8 { FLAGS_SET_8 } else { FLAGS_SET_16 };
    cpu.nzcv = manipulated(operation, cpu.x(w.rn()), 0, 0, cpu.nzcv);
}

/// CFINV.
#[inline]
pub fn cfinv(cpu: &mut Cpu, _: Word) {
    cpu.nzcv = manipulated(FLAGS_INVERT_CARRY, 0, 0, 0, cpu.nzcv);
}

/// XAFLAG.
#[inline]
pub fn xaflag(cpu: &mut Cpu, _: Word) {
    cpu.nzcv = manipulated(FLAGS_FROM_EXTERNAL, 0, 0, 0, cpu.nzcv);
}

/// AXFLAG.
#[inline]
pub fn axflag(cpu: &mut Cpu, _: Word) {
    cpu.nzcv = manipulated(FLAGS_TO_EXTERNAL, 0, 0, 0, cpu.nzcv);
}
