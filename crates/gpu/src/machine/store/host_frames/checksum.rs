//! A checksum of the contents of a frame.

use crate::machine::pages::Words;

/// Odd numbers with about as many ones as zeros.
const FACTORS: [u64; 4] =
    [0x9e37_79b9_7f4a_7c15, 0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb, 0xd6e8_feb8_6659_fd93];

/// Returns a checksum. Contents that differ in one word always have different ones, and others with a chance of about 1 in 2^64
/// the same.
pub(super) fn checksum(words: &Words) -> u64 {
    // Each step is a bijection of the sum. Four sums do not wait for each other's products.
    let mut sums = FACTORS;
    for four in words.as_chunks::<4>().0 {
        for ((sum, word), factor) in sums.iter_mut().zip(four).zip(FACTORS) {
            *sum = (*sum ^ word).wrapping_mul(factor).rotate_left(29);
        }
    }
    sums.into_iter().fold(0, |all, sum| (all ^ sum).wrapping_mul(FACTORS[0]).rotate_left(31))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn contents_that_differ_in_a_bit_or_in_their_order_have_different_checksums() {
        let words: Words = std::array::from_fn(|index| index as u64 * 3);
        let mut sums = BTreeSet::from([checksum(&words)]);
        let mut wanted = 1;
        for index in 0..words.len() {
            for bit in [0, 17, 63] {
                let mut changed = words;
                changed[index] ^= 1 << bit;
                sums.insert(checksum(&changed));
                wanted += 1;
            }
            let mut swapped = words;
            swapped.swap(index, (index + 4) % words.len());
            sums.insert(checksum(&swapped));
            wanted += 1;
        }
        assert_eq!(sums.len(), wanted, "all are different");
    }
}
