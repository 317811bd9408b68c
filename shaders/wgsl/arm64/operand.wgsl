//! Shifted register operands.

import package::arm64::numbers::{sign_extend, truncate};
import package::arm64::operations::{ASR, LSL, LSR};

/// `ShiftReg()`: shifts a `datasize`-bit value by less than `datasize`.
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

/// `ROR()`: rotates a `datasize`-bit value right by less than `datasize`.
///
/// Twin: `kvrm_arm64::semantics::operand::rotate_right`.
fn rotate_right(value: u64, amount: u32, datasize: u32) -> u64 {
    // The shift to the left is modulo `datasize`: a rotation by 0 would shift by 64, which is not defined.
    let left = (datasize - amount) & (datasize - 1u);
    let whole = truncate(value, datasize);
    return truncate((whole >> amount) | (whole << left), datasize);
}
