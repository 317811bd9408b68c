//! Enumeration of words that agree in some bits.

use std::iter;

/// Returns the words that equal `fixed` except in the bits `free`, in ascending order. These bits of `fixed` must be
/// zero.
pub(super) fn members(fixed: u32, free: u32) -> impl Iterator<Item = u32> {
    let next = move |word: &u32| {
        // If all other bits are set, a carry passes through them from one free bit to the next.
        let bits = (word | !free).wrapping_add(1) & free;
        (bits != 0).then_some(fixed | bits)
    };
    iter::successors(Some(fixed), next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_all_words_that_differ_in_free_bits_only() {
        assert_eq!(members(0x10, 0b101).collect::<Vec<_>>(), [0x10, 0x11, 0x14, 0x15], "two free bits");
        assert_eq!(members(7, 0).collect::<Vec<_>>(), [7], "no free bits");
        let expected: Vec<u32> = (0..=u32::from(u8::MAX)).map(|top| top << 24).collect();
        assert_eq!(members(0, 0xff00_0000).collect::<Vec<_>>(), expected, "up to the last word there is");
    }
}
