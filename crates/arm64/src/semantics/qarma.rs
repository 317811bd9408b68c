//! QARMA5, the block cipher of pointer authentication codes: QARMA-64 with five rounds and the S-box `sigma_2`.
//!
//! A state is sixteen cells of four bits. The manual's functions on cells are all [`pick`] with a table, because a
//! permutation takes a cell of the state for each place, and a substitution takes a cell of the table for each value.
//!
//! WGSL twin: `arm64/qarma.wgsl`.

/// `PACCellShuffle()`: the place from which each cell comes, in the cell of its new place.
pub const CELL_SHUFFLE: u64 = 0xf492_5e38_a1c7_0b6d;
/// `PACCellInvShuffle()`.
pub const CELL_INV_SHUFFLE: u64 = inverse(CELL_SHUFFLE);
/// The permutation of `TweakShuffle()`.
pub const TWEAK_SHUFFLE: u64 = 0x9a10_fedc_832b_7654;
/// The permutation of `TweakInvShuffle()`.
pub const TWEAK_INV_SHUFFLE: u64 = inverse(TWEAK_SHUFFLE);
/// The cells that `TweakShuffle()` rotates after its permutation.
pub const TWEAK_ROTATED: u64 = 0xff0f_f000_f00f_0f00;
/// `PACSub()`: the substitute of each value, in the cell of this number.
pub const SUB: u64 = 0xa12d_5473_e90c_f86b;
/// `PACInvSub()`.
pub const INV_SUB: u64 = inverse(SUB);
/// The constant of the second round. That of the first is 0.
pub const ROUND_1: u64 = 0x1319_8a2e_0370_7344;
/// The constant of the third round.
pub const ROUND_2: u64 = 0xa409_3822_299f_31d0;
/// The constant of the fourth round.
pub const ROUND_3: u64 = 0x082e_fa98_ec4e_6c89;
/// The constant of the fifth round.
pub const ROUND_4: u64 = 0x4528_21e6_38d0_1377;
/// The constant of the rounds backwards.
pub const ALPHA: u64 = 0xc0ac_29b7_c97c_50dd;

/// The constants of the rounds.
const ROUND_CONSTANTS: [u64; 5] = [0, ROUND_1, ROUND_2, ROUND_3, ROUND_4];
/// The lowest bit of each cell.
const LOWEST: u64 = 0x1111_1111_1111_1111;

/// Returns cell `n` of a state.
const fn cell(state: u64, n: u64) -> u64 {
    state >> (4 * n) & 15
}

/// Returns the inverse of a permutation or substitution.
const fn inverse(table: u64) -> u64 {
    let (mut result, mut n) = (0, 0);
    while n < 16 {
        result |= n << (4 * cell(table, n));
        n += 1;
    }
    result
}

/// Returns a state whose cell `n` is the cell of `from` with the number in cell `n` of `places`.
#[must_use]
pub const fn pick(from: u64, places: u64) -> u64 {
    let (mut result, mut n) = (0, 0);
    while n < 16 {
        result |= cell(from, cell(places, n)) << (4 * n);
        n += 1;
    }
    result
}

/// `PACMult()`: multiplies each column of cells by the matrix circ(0, rot 1, rot 2, rot 1).
#[must_use]
pub const fn mult(state: u64) -> u64 {
    let odd = state.rotate_left(16) ^ state.rotate_left(48);
    let even = state.rotate_left(32);
    // No bit is in both terms of a rotation.
    (odd << 1 & !LOWEST) ^ (odd >> 3 & LOWEST) ^ (even << 2 & !(3 * LOWEST)) ^ (even >> 2 & (3 * LOWEST))
}

/// `TweakShuffle()`.
#[must_use]
pub const fn tweak_shuffle(tweak: u64) -> u64 {
    let moved = pick(tweak, TWEAK_SHUFFLE);
    let rotated = (moved >> 1 & (7 * LOWEST)) | ((moved ^ moved >> 1) & LOWEST) << 3;
    moved & !TWEAK_ROTATED | rotated & TWEAK_ROTATED
}

/// `TweakInvShuffle()`.
#[must_use]
pub const fn tweak_inv_shuffle(tweak: u64) -> u64 {
    let rotated = (tweak << 1 & !LOWEST) | ((tweak ^ tweak >> 3) & LOWEST);
    pick(tweak & !TWEAK_ROTATED | rotated & TWEAK_ROTATED, TWEAK_INV_SHUFFLE)
}

/// `ComputePAC()`: enciphers `data` with the tweak `modifier`. `key` is K0 and K1, the high and the low half of a key.
#[must_use]
pub const fn compute_pac(data: u64, modifier: u64, key: [u64; 2]) -> u64 {
    let [k0, k1] = key;
    let modk0 = k0.rotate_right(1) ^ k0 >> 63;
    let mut tweak = modifier;
    let mut state = data ^ k0;
    let mut round = 0;
    while round < ROUND_CONSTANTS.len() {
        state ^= k1 ^ tweak ^ ROUND_CONSTANTS[round];
        if round > 0 {
            state = mult(pick(state, CELL_SHUFFLE));
        }
        state = pick(SUB, state);
        tweak = tweak_shuffle(tweak);
        round += 1;
    }
    state = pick(SUB, mult(pick(state ^ modk0 ^ tweak, CELL_SHUFFLE)));
    state = mult(pick(state, CELL_SHUFFLE)) ^ k1;
    state = pick(INV_SUB, pick(state, CELL_INV_SHUFFLE));
    state = pick(mult(state), CELL_INV_SHUFFLE) ^ k0 ^ tweak;
    while round > 0 {
        round -= 1;
        state = pick(INV_SUB, state);
        if round > 0 {
            state = pick(mult(state), CELL_INV_SHUFFLE);
        }
        tweak = tweak_inv_shuffle(tweak);
        state ^= k1 ^ tweak ^ ROUND_CONSTANTS[round] ^ ALPHA;
    }
    state ^ modk0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cipher_gives_the_published_result() {
        // R. Avanzi, "The QARMA Block Cipher Family", IACR ToSC 2017: QARMA-64 with sigma_2 and r = 5.
        let key = [0x84be_85ce_9804_e94b, 0xec28_02d4_e0a4_88e9];
        let result = compute_pac(0xfb62_3599_da6e_8127, 0x477d_469d_ec0b_8762, key);
        assert_eq!(result, 0xc003_b939_99b3_3765, "the ciphertext");
    }

    #[test]
    fn tables_are_permutations_and_tweaks_have_inverses() {
        for table in [CELL_SHUFFLE, TWEAK_SHUFFLE, SUB] {
            assert_eq!(pick(table, inverse(table)), 0xfedc_ba98_7654_3210, "{table:#x}");
        }
        for n in 0..64 {
            let state = 0x0123_4567_89ab_cdef_u64.wrapping_mul(2 * n + 1).rotate_left(n as u32);
            assert_eq!(tweak_inv_shuffle(tweak_shuffle(state)), state, "tweak {state:#x}");
            assert_eq!(mult(mult(state)), state, "the matrix is its own inverse");
        }
    }
}
