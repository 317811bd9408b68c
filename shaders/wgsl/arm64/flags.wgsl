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
    let n = (nzcv >> 3u) & 1u;
    let z = (nzcv >> 2u) & 1u;
    let c = (nzcv >> 1u) & 1u;
    let v = nzcv & 1u;
    var result = true;
    switch (cond >> 1u) & 7u {
        case 0u: { result = z == 1u; }            // EQ or NE
        case 1u: { result = c == 1u; }            // CS or CC
        case 2u: { result = n == 1u; }            // MI or PL
        case 3u: { result = v == 1u; }            // VS or VC
        case 4u: { result = c == 1u && z == 0u; } // HI or LS
        case 5u: { result = n == v; }             // GE or LT
        case 6u: { result = n == v && z == 0u; }  // GT or LE
        default: {}                               // AL
    }
    // Odd conditions are the inverse of even ones, except that NV means AL.
    return result != ((cond & 1u) == 1u && (cond & 15u) != 15u);
}
