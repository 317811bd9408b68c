//! Condition flags: N, Z, C and V as 8, 4, 2 and 1.

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
