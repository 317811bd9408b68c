//! Shifted register operands.

import package::arm64::numbers::{sign_extend, truncate};
import package::arm64::operations::{ASR, LSL, LSR};

/// `ShiftReg()`: a `datasize`-bit value shifted by less than `datasize`.
///
/// Twin: `kvrm_arm64::semantics::operand::shift_reg`.
fn shift_reg(value: u64, shift_type: u32, amount: u32, datasize: u32) -> u64 {
    switch shift_type {
        case LSL: { return truncate(value << amount, datasize); }
        case LSR: { return value >> amount; }
        case ASR: { return truncate(u64(i64(sign_extend(value, datasize)) >> amount), datasize); }
        default: { return rotate_right(value, amount, datasize); }
    }
}

/// `ROR()`: a `datasize`-bit value rotated right by less than `datasize`.
///
/// Twin: `kvrm_arm64::semantics::operand::rotate_right`.
fn rotate_right(value: u64, amount: u32, datasize: u32) -> u64 {
    // By modulus, because a shift by 64 is not defined: rotated by zero, a value is not shifted at all.
    let left = (datasize - amount) & (datasize - 1u);
    let whole = truncate(value, datasize);
    return truncate((whole >> amount) | (whole << left), datasize);
}
