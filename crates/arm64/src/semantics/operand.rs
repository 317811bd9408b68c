//! Shifted and extended register operands.

use super::{sign_extend, truncate};

/// Logical shift left. Shift types have the numbers of the field shift.
pub const LSL: u32 = 0;
/// Logical shift right.
pub const LSR: u32 = 1;
/// Arithmetic shift right.
pub const ASR: u32 = 2;
/// Rotation right.
pub const ROR: u32 = 3;

/// `ShiftReg()`: shifts a `datasize`-bit value by less than `datasize`.
#[must_use]
#[inline(always)]
pub const fn shift_reg(value: u64, shift_type: u32, amount: u32, datasize: u32) -> u64 {
    match shift_type {
        LSL => truncate(value << amount, datasize),
        LSR => value >> amount,
        ASR => truncate((sign_extend(value, datasize) as i64 >> amount) as u64, datasize),
        _ => rotate_right(value, amount, datasize),
    }
}

/// `ROR()`: rotates a `datasize`-bit value right by less than `datasize`.
#[must_use]
#[inline(always)]
pub const fn rotate_right(value: u64, amount: u32, datasize: u32) -> u64 {
    if datasize == 32 { (value as u32).rotate_right(amount) as u64 } else { value.rotate_right(amount) }
}

/// `ExtendReg()`: returns the low bits of a register, zero- or sign-extended and shifted left by up to four.
///
/// `option` is the extend type as encoded: UXTB, UXTH, UXTW, UXTX, SXTB, SXTH, SXTW, SXTX.
#[must_use]
#[inline(always)]
pub const fn extend_reg(value: u64, option: u32, shift: u32, datasize: u32) -> u64 {
    let bits = 8 << (option & 3);
    let unsigned = value & (u64::MAX >> (64 - bits));
    let extended = if option & 4 == 0 { unsigned } else { sign_extend(value, bits) };
    truncate(extended << shift, datasize)
}
