//! QARMA5, the block cipher of pointer authentication codes.
//!
//! Twin: `kvrm_arm64::semantics::qarma`, which explains it.

import package::arm64::constants::{
    ALPHA, CELL_INV_SHUFFLE, CELL_SHUFFLE, INV_SUB, ROUND_1, ROUND_2, ROUND_3, ROUND_4, SUB,
    TWEAK_INV_SHUFFLE, TWEAK_ROTATED, TWEAK_SHUFFLE,
};

/// The lowest bit of each cell.
const LOWEST = 0x1111111111111111lu;
/// The two lowest bits of each cell.
const LOW = 0x3333333333333333lu;
/// The number of rounds forwards, and backwards.
const ROUNDS = 5u;

/// Returns a state whose cell `n` is the cell of `source` with the number in cell `n` of `places`.
///
/// Twin: `kvrm_arm64::semantics::qarma::pick`.
fn pick(source: u64, places: u64) -> u64 {
    var result = 0lu;
    for (var at = 0u; at < 64u; at += 4u) {
        let place = u32(places >> at) & 15u;
        result |= ((source >> (4u * place)) & 15lu) << at;
    }
    return result;
}

/// `PACMult()`.
///
/// Twin: `kvrm_arm64::semantics::qarma::mult`.
fn mult(state: u64) -> u64 {
    let odd = (state << 16u) ^ (state >> 48u) ^ (state << 48u) ^ (state >> 16u);
    let even = (state << 32u) ^ (state >> 32u);
    let once = ((odd << 1u) & ~LOWEST) ^ ((odd >> 3u) & LOWEST);
    return once ^ ((even << 2u) & ~LOW) ^ ((even >> 2u) & LOW);
}

/// `TweakShuffle()`.
///
/// Twin: `kvrm_arm64::semantics::qarma::tweak_shuffle`.
fn tweak_shuffle(tweak: u64) -> u64 {
    let moved = pick(tweak, TWEAK_SHUFFLE);
    let rotated = ((moved >> 1u) & (LOWEST * 7lu)) | (((moved ^ (moved >> 1u)) & LOWEST) << 3u);
    return (moved & ~TWEAK_ROTATED) | (rotated & TWEAK_ROTATED);
}

/// `TweakInvShuffle()`.
///
/// Twin: `kvrm_arm64::semantics::qarma::tweak_inv_shuffle`.
fn tweak_inv_shuffle(tweak: u64) -> u64 {
    let rotated = ((tweak << 1u) & ~LOWEST) | ((tweak ^ (tweak >> 3u)) & LOWEST);
    return pick((tweak & ~TWEAK_ROTATED) | (rotated & TWEAK_ROTATED), TWEAK_INV_SHUFFLE);
}

/// Returns the constant of a round.
///
/// Twin: a part of `kvrm_arm64::semantics::qarma::compute_pac`.
fn round_constant(round: u32) -> u64 {
    switch round {
        case 0u: { return 0lu; }
        case 1u: { return ROUND_1; }
        case 2u: { return ROUND_2; }
        case 3u: { return ROUND_3; }
        default: { return ROUND_4; }
    }
}

/// `ComputePAC()`.
///
/// Twin: `kvrm_arm64::semantics::qarma::compute_pac`.
fn compute_pac(data: u64, modifier: u64, k0: u64, k1: u64) -> u64 {
    let modk0 = ((k0 >> 1u) | (k0 << 63u)) ^ (k0 >> 63u);
    var tweak = modifier;
    var state = data ^ k0;
    for (var round = 0u; round < ROUNDS; round += 1u) {
        state ^= k1 ^ tweak ^ round_constant(round);
        if round > 0u {
            state = mult(pick(state, CELL_SHUFFLE));
        }
        state = pick(SUB, state);
        tweak = tweak_shuffle(tweak);
    }
    state = pick(SUB, mult(pick(state ^ modk0 ^ tweak, CELL_SHUFFLE)));
    state = mult(pick(state, CELL_SHUFFLE)) ^ k1;
    state = pick(INV_SUB, pick(state, CELL_INV_SHUFFLE));
    state = pick(mult(state), CELL_INV_SHUFFLE) ^ k0 ^ tweak;
    for (var left = ROUNDS; left > 0u; left -= 1u) {
        state = pick(INV_SUB, state);
        if left > 1u {
            state = pick(mult(state), CELL_INV_SHUFFLE);
        }
        tweak = tweak_inv_shuffle(tweak);
        state ^= k1 ^ tweak ^ round_constant(left - 1u) ^ ALPHA;
    }
    return state ^ modk0;
}
