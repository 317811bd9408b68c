//! The bits of a word.

/// The greatest number of words in a body.
pub const BODY_WORDS_MAX: usize = 32;

/// The number of bits in a word.
pub const WORD_BITS: usize = 32;

/// Returns whether networks see bodies of this many words.
#[must_use]
pub const fn is_body_length(words: usize) -> bool {
    words > 0 && words <= BODY_WORDS_MAX
}

/// Returns the bits of a word as 0 or 1, lowest bit first.
///
/// ```
/// let bits = kvrm_models::inputs::word_bits(0x8000_0002);
/// assert_eq!((bits[0], bits[1], bits[31]), (0.0, 1.0, 1.0));
/// ```
#[must_use]
pub fn word_bits(word: u32) -> [f32; WORD_BITS] {
    std::array::from_fn(|bit| f32::from((word >> bit & 1) as u8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_those_of_the_word() {
        for word in [0, 1, 0xd503_201f, u32::MAX] {
            let bits = word_bits(word);
            let again = bits.iter().rev().fold(0_u32, |word, bit| word << 1 | u32::from(*bit == 1.0));
            assert_eq!(again, word, "{word:#010x}");
        }
        assert_eq!([0, 1, 32, 33].map(is_body_length), [false, true, true, false], "lengths");
    }
}
