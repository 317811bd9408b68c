//! Digests of spikes, by which a replay checks that it has the same results as the original run.

/// Appends words to the data that has the digest `before` and returns the new digest; the digest of no data is 0. The
/// algorithm is like FNV-1a, but takes words instead of bytes.
pub(super) fn digest(before: u64, words: impl IntoIterator<Item = u64>) -> u64 {
    const PRIME: u64 = 0x0100_0000_01b3;
    const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    let mixed = |digest: u64, word: u64| {
        let product = (digest ^ word).wrapping_mul(PRIME);
        // In the product, a bit depends only on the bits below it. This mixes the high bits into the low ones.
        product ^ product >> 32
    };
    words.into_iter().fold(before ^ BASIS, mixed) ^ BASIS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_goes_on_and_depends_on_every_bit_and_the_order() {
        let words = [3, 1 << 63, 0, 7, 7];
        let whole = digest(5, words);
        assert_eq!(
            digest(digest(5, words[..2].iter().copied()), words[2..].iter().copied()),
            whole,
            "in parts"
        );
        for index in 0..words.len() {
            for bit in 0..64 {
                let mut others = words;
                others[index] ^= 1 << bit;
                assert_ne!(digest(5, others), whole, "bit {bit} of word {index}");
            }
        }
        assert_ne!(digest(5, [1 << 63, 3, 0, 7, 7]), whole, "in another order");
        assert_eq!(digest(5, []), 5, "of nothing");
    }
}
