//! The results of micro-ops that compute, for numbers.

use kvrm_arm64::micro_op::{Handler, MicroOp, ROTATED, SIGNED};
use kvrm_arm64::semantics::bitfield::window;
use kvrm_arm64::semantics::bits::{
    count_leading_sign_bits, count_leading_zero_bits, reverse_bits, reverse_bytes,
};
use kvrm_arm64::semantics::crc::{CRC32_POLYNOMIAL, CRC32C_POLYNOMIAL, checksum};
use kvrm_arm64::semantics::divide::divide;
use kvrm_arm64::semantics::multiply::{long_product, multiply_high};
use kvrm_arm64::semantics::operand::{ASR, LSL, LSR, ROR};
use kvrm_arm64::semantics::{sign_extend, truncate};

/// Returns whether a micro-op is the extraction of a second operand that shifts to the left and then to the right with zeros.
pub(crate) fn is_unsigned_extraction(op: MicroOp) -> bool {
    ![SIGNED, ROTATED].contains(&op.extraction())
}

/// Returns the result of a micro-op of [`Atom::Result`](crate::Atom::Result) for its operands. The handler 0 is the extraction
/// of a second operand.
pub(crate) fn result(op: MicroOp, operands: &[u64]) -> u64 {
    let bits = if op.wide() == 1 { 64 } else { 32 };
    let operand = |number: usize| operands.get(number).copied().unwrap_or(0);
    let [a, b, c] = [0, 1, 2].map(|number| truncate(operand(number), bits));
    if op.handler() == 0 {
        return extracted(op, operand(0), bits);
    }
    let value = match Handler::of(op) {
        Handler::AND => a & b,
        Handler::ORR => a | b,
        Handler::EOR => a ^ b,
        Handler::BIT_FIELD_INSERT => c & !((u64::MAX << op.left()) >> op.right()) | b,
        Handler::EXTRACT => window(a, b, op.right(), bits),
        Handler::SHIFT => shifted(a, b, op.operation(), bits),
        Handler::MULTIPLY_ADD if op.operation() == 1 => c.wrapping_sub(a.wrapping_mul(b)),
        Handler::MULTIPLY_ADD => c.wrapping_add(a.wrapping_mul(b)),
        Handler::MULTIPLY_ADD_LONG => {
            let product = long_product(a, b, op.operation() >= 2);
            if op.operation() & 1 == 1 { c.wrapping_sub(product) } else { c.wrapping_add(product) }
        }
        Handler::MULTIPLY_HIGH => multiply_high(a, b, op.operation() == 1),
        Handler::DIVIDE if op.operation() == 1 => divide(sign_extend(a, bits), sign_extend(b, bits), true),
        Handler::DIVIDE => divide(a, b, false),
        Handler::CRC32 => {
            let polynomial = if op.operation() == 1 { CRC32C_POLYNOMIAL } else { CRC32_POLYNOMIAL };
            // The accumulator is a word, and the value has the size of the instruction.
            return checksum(operand(0) as u32, operand(1), 8 << op.size(), polynomial).into();
        }
        Handler::REVERSE_BITS => reverse_bits(a) >> (64 - bits),
        Handler::REVERSE_BYTES => reverse_bytes(a, 8 << op.size()),
        Handler::COUNT_LEADING_ZEROS => count_leading_zero_bits(a, bits).into(),
        Handler::COUNT_LEADING_SIGNS => count_leading_sign_bits(a, bits).into(),
        _ => 0,
    };
    truncate(value, bits)
}

/// Returns the second operand of a micro-op, before the immediate is added.
const fn extracted(op: MicroOp, value: u64, bits: u32) -> u64 {
    match op.extraction() {
        ROTATED => truncate(shifted(truncate(value, bits), op.right() as u64, ROR, bits), bits),
        SIGNED => (((value << op.left()) as i64) >> op.right()) as u64,
        _ => (value << op.left()) >> op.right(),
    }
}

/// Returns a value of `bits` bits that is shifted or rotated by an amount modulo `bits`.
const fn shifted(value: u64, amount: u64, kind: u32, bits: u32) -> u64 {
    let amount = amount as u32 % bits;
    match kind {
        LSL => value << amount,
        LSR => value >> amount,
        ASR => (sign_extend(value, bits) as i64 >> amount) as u64,
        _ => window(value, value, amount, bits),
    }
}
