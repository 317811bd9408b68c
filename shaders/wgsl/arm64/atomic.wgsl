//! Armv8.1 atomics (`FEAT_LSE`).

import package::arm64::numbers::{sign_extend};
import package::arm64::operations::{MEM_ADD, MEM_BIC, MEM_EOR, MEM_ORR};
import package::arm64::operations::{MEM_SMAX, MEM_SMIN, MEM_UMAX, MEM_UMIN};

/// Returns the low `8 * bytes` bits of a value.
///
/// Twin: `kvrm_arm64::semantics::atomic::low`.
fn low(value: u64, bytes: u32) -> u64 {
    return value & (0xfffffffffffffffflu >> (64u - 8u * bytes));
}

/// Returns the new value in memory. Only its low `bytes` bytes are stored.
///
/// Twin: `kvrm_arm64::semantics::atomic::mem_atomic_op`.
fn mem_atomic_op(op: u32, old: u64, operand: u64, bytes: u32) -> u64 {
    let bits = 8u * bytes;
    let signed_less = i64(sign_extend(old, bits)) < i64(sign_extend(operand, bits));
    let unsigned_less = low(old, bytes) < low(operand, bytes);
    switch op {
        case MEM_ADD: { return old + operand; }
        case MEM_BIC: { return old & ~operand; }
        case MEM_EOR: { return old ^ operand; }
        case MEM_ORR: { return old | operand; }
        case MEM_SMAX: { return select(old, operand, signed_less); }
        case MEM_SMIN: { return select(operand, old, signed_less); }
        case MEM_UMAX: { return select(old, operand, unsigned_less); }
        case MEM_UMIN: { return select(operand, old, unsigned_less); }
        // `MEM_SWP`.
        default: { return operand; }
    }
}
