//! Condition flags: N, Z, C and V as 8, 4, 2 and 1.

import package::arm64::operations::{
    FLAGS_FROM_EXTERNAL, FLAGS_INVERT_CARRY, FLAGS_ROTATE, FLAGS_SET_16, FLAGS_SET_8,
};

/// Returns N and Z of a result, with C and V clear. The result has 64 bits if it is `wide`, else 32.
///
/// Twin: `kvrm_arm64::semantics::flags::nz`.
fn nz(value: u64, wide: bool) -> u32 {
    // The word with the sign.
    let sign = select(u32(value), u32(value >> 32u), wide);
    return ((sign >> 31u) << 3u) | select(0u, 4u, value == 0lu);
}

/// Returns C and V of `AddWithCarry()`, with N and Z clear. `sum` is `x + y` plus the carry. If they are not `wide`, only
/// their low words count.
///
/// Twin: `kvrm_arm64::semantics::flags::cv`.
fn cv(x: u64, y: u64, sum: u64, wide: bool) -> u32 {
    // The words with the signs.
    let a = select(u32(x), u32(x >> 32u), wide);
    let b = select(u32(y), u32(y >> 32u), wide);
    let c = select(u32(sum), u32(sum >> 32u), wide);
    // The highest bits give a carry if both are set, or if one is and that of the sum is not.
    let carry = (a & b) | ((a | b) & ~c);
    return ((carry >> 30u) & 2u) | (((a ^ c) & (b ^ c)) >> 31u);
}

/// Returns the flags after an instruction that manipulates them.
///
/// Twin: `kvrm_arm64::semantics::flags::manipulated`.
fn manipulated(operation: u32, value: u64, rotation: u32, mask: u32, nzcv: u32) -> u32 {
    let z = (nzcv >> 2u) & 1u;
    let c = (nzcv >> 1u) & 1u;
    let v = nzcv & 1u;
    switch operation {
        case FLAGS_ROTATE: {
            // Two shifts, because one shift by 64 would have no effect.
            let rotated = u32(value >> rotation) | u32((value << 1u) << (63u - rotation));
            return (nzcv & ~mask) | (rotated & mask);
        }
        case FLAGS_SET_8, FLAGS_SET_16: {
            let top = select(15u, 7u, operation == FLAGS_SET_8);
            let sign = (u32(value) >> top) & 1u;
            let above = (u32(value) >> (top + 1u)) & 1u;
            let is_zero = (u32(value) << (31u - top)) == 0u;
            return (sign << 3u) | (u32(is_zero) << 2u) | (c << 1u) | (above ^ sign);
        }
        case FLAGS_INVERT_CARRY: { return nzcv ^ 2u; }
        case FLAGS_FROM_EXTERNAL: {
            return (((c | z) ^ 1u) << 3u) | ((z & c) << 2u) | ((c | z) << 1u) | ((c ^ 1u) & z);
        }
        default: { return ((z | v) << 2u) | ((c & (v ^ 1u)) << 1u); }
    }
}

/// `ConditionHolds()`: whether a four-bit condition holds for the flags.
///
/// Twin: `kvrm_arm64::semantics::flags::condition_holds`.
fn condition_holds(cond: u32, nzcv: u32) -> bool {
    // Tables with a bit for each value of the flags: whether an even condition holds. Each constant has two conditions:
    // EQ and CS, MI and VS, HI and GE, GT and AL. The interpreter calls this in every step, and a switch would make
    // lanes diverge.
    let low = select(0xccccf0f0u, 0xaaaaff00u, (cond & 4u) != 0u);
    let high = select(0xaa550c0cu, 0xffff0a05u, (cond & 4u) != 0u);
    let table = select(low, high, (cond & 8u) != 0u);
    let holds = ((table >> ((nzcv & 15u) + 8u * (cond & 2u))) & 1u) == 1u;
    // Each odd condition is the inverse of the even one before, except that NV means AL.
    return holds != ((cond & 1u) == 1u && (cond & 15u) != 15u);
}
