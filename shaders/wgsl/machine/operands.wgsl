//! The operands of micro-ops.

import package::arm64::operand::{rotate_right};
import package::machine::memory::{joined};
import package::machine::micro_op::{
    EXTRACTION_PLAIN, EXTRACTION_ROTATED, EXTRACTION_SIGNED, INDEX_LITERAL, INDEX_POST, get_a, get_b,
    get_extraction, get_index, get_left, get_right, get_wide,
};
import package::machine::registers::{x};

/// Returns a register shifted left and then right, or rotated, as the parameters of a micro-op specify.
fn extract(value: u64, p: u32) -> u64 {
    let right = get_right(p);
    let extraction = get_extraction(p);
    if extraction == EXTRACTION_ROTATED {
        return rotate_right(value, right, 32u << get_wide(p));
    }
    let shifted = value << get_left(p);
    return select(shifted >> right, u64(i64(shifted) >> right), extraction == EXTRACTION_SIGNED);
}

/// Returns the address of an access of the micro-op `op`, which is at the address `pc`, by its addressing mode.
fn address_of(op: vec4<u32>, pc: u64) -> u64 {
    switch get_index(op.y) {
        case INDEX_LITERAL: { return pc + joined(op.z, op.w); }
        case INDEX_POST: { return x[get_a(op.x)]; }
        default: { return indexed(op); }
    }
}

/// Returns the base register plus the index or offset.
fn indexed(op: vec4<u32>) -> u64 {
    let index = x[get_b(op.x)];
    let extracted = select(extract(index, op.y), index, get_extraction(op.y) == EXTRACTION_PLAIN);
    return x[get_a(op.x)] + extracted + joined(op.z, op.w);
}
