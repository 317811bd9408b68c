//! Tuples: the twenty bits of a word that the dispatch network and the decoder network see.

use kvrm_arm64::CLASS_BITS;

/// The positions of the twelve bits below the top byte that a network sees, feature 0 first.
pub const FEATURE_BITS: [u32; 12] = [23, 22, 21, 20, 19, 16, 15, 14, 13, 12, 11, 10];

/// The number of tuples: the whole domain of a network.
pub const TUPLES: usize = 1 << 20;

const _: () = {
    let mut bits = 0xff00_0000;
    let mut feature = 0;
    while feature < FEATURE_BITS.len() {
        bits |= 1 << FEATURE_BITS[feature];
        feature += 1;
    }
    assert!(bits == CLASS_BITS, "a network sees the bits that decide the class");
};

/// The top byte and the twelve features of a word, packed in the order of the word.
///
/// Because the order is preserved, a greater word never has a lesser tuple.
///
/// ```
/// use kvrm_models::Tuple;
///
/// let tuple = Tuple::of(0x9100_0443); // add x3, x2, #1
/// assert_eq!(tuple.top_byte(), 0x91);
/// assert_eq!(tuple, Tuple::of(0x9100_0420), "registers are not among the twenty bits");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tuple(u32);

impl Tuple {
    /// Returns the tuple of a word.
    #[must_use]
    #[inline]
    pub const fn of(word: u32) -> Self {
        // Bits 31 to 19, then 16, then 15 to 10.
        Self((word >> 19) << 7 | (word >> 10) & 0x7f)
    }

    /// Returns the tuple with this number; only the low twenty bits count.
    #[must_use]
    pub const fn new(index: u32) -> Self {
        Self(index & (TUPLES as u32 - 1))
    }

    /// Returns the number of the tuple, below [`TUPLES`].
    #[must_use]
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns the lowest word that has this tuple.
    #[must_use]
    pub const fn first_word(self) -> u32 {
        (self.0 >> 7) << 19 | (self.0 & 0x7f) << 10
    }

    /// Returns the top byte.
    #[must_use]
    pub const fn top_byte(self) -> usize {
        (self.0 >> 12) as usize
    }

    /// Returns the twelve features as a number, feature 0 in bit 11.
    #[must_use]
    pub const fn features(self) -> usize {
        (self.0 & 0xfff) as usize
    }

    /// Returns whether a feature is set.
    #[must_use]
    pub const fn has(self, feature: usize) -> bool {
        self.0 >> (FEATURE_BITS.len() - 1 - feature) & 1 == 1
    }

    /// Returns all tuples, in order.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..TUPLES as u32).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tuple_is_the_class_bits_of_its_words() {
        for tuple in Tuple::all() {
            let word = tuple.first_word();
            assert_eq!(word & !CLASS_BITS, 0, "no other bits");
            assert_eq!((Tuple::of(word), Tuple::of(word | !CLASS_BITS)), (tuple, tuple), "either way");
        }
    }

    #[test]
    fn features_are_bits_of_the_word() {
        for (feature, bit) in FEATURE_BITS.into_iter().enumerate() {
            let tuple = Tuple::of(0x9a00_0000 | 1 << bit);
            assert_eq!((tuple.top_byte(), tuple.features()), (0x9a, 0x800 >> feature), "bit {bit}");
            assert!(tuple.has(feature), "bit {bit}");
        }
    }
}
