//! Halves of the words of lane state, and the sizes that all files of the engine use.

use kvrm_machine::PAGE_BYTES;

/// Bytes of a page.
pub(super) const PAGE: u64 = PAGE_BYTES as u64;
/// The fewest lanes that a thread serves: waking it takes longer than a few services.
pub(super) const LANES_MIN: usize = 16;

/// The low and the high half of a word.
pub(super) const fn halves(word: u64) -> (u32, u32) {
    (word as u32, (word >> 32) as u32)
}

/// A word of two halves.
pub(super) const fn word(low: u32, high: u32) -> u64 {
    low as u64 | (high as u64) << 32
}
