//! Condition flags.

import package::arm64::numbers::{truncate};

/// A sum and the flags it produces.
///
/// Twin: `kvrm_arm64::semantics::flags::AddResult`.
struct AddResult {
    /// The sum, `datasize` bits.
    value: u64,
    /// N, Z, C and V as 8, 4, 2 and 1.
    nzcv: u32,
}

/// `AddWithCarry()`: `x + y + carry_in` in `datasize` bits, with flags.
///
/// Twin: `kvrm_arm64::semantics::flags::add_with_carry`.
fn add_with_carry(x: u64, y: u64, carry_in: u32, datasize: u32) -> AddResult {
    let partial = x + y;
    let sum = partial + u64(carry_in);
    let value = truncate(sum, datasize);
    let carry = select(u32(partial < x || sum < partial), u32(sum >> 32u) & 1u, datasize == 32u);
    let overflow = u32(((x ^ value) & (y ^ value)) >> (datasize - 1u)) & 1u;
    return AddResult(value, nz(value, datasize) | (carry << 1u) | overflow);
}

/// N and Z of a result, with C and V clear.
///
/// Twin: `kvrm_arm64::semantics::flags::nz`.
fn nz(value: u64, datasize: u32) -> u32 {
    return ((u32(value >> (datasize - 1u)) & 1u) << 3u) | (u32(value == 0lu) << 2u);
}

/// `ConditionHolds()`: whether a four-bit condition holds for the flags.
///
/// Twin: `kvrm_arm64::semantics::flags::condition_holds`.
fn condition_holds(cond: u32, nzcv: u32) -> bool {
    // For each value of the flags a bit that says whether an even condition holds: EQ and CS, MI and VS, HI and
    // GE, GT and AL. The interpreter does this in every step, and a switch would part the lanes.
    let low = select(0xccccf0f0u, 0xaaaaff00u, (cond & 4u) != 0u);
    let high = select(0xaa550c0cu, 0xffff0a05u, (cond & 4u) != 0u);
    let table = select(low, high, (cond & 8u) != 0u);
    let holds = ((table >> ((nzcv & 15u) + 8u * (cond & 2u))) & 1u) == 1u;
    // Odd conditions are the inverse of even ones, except that NV means AL.
    return holds != ((cond & 1u) == 1u && (cond & 15u) != 15u);
}
