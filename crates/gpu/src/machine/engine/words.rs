//! Helpers of all files of the engine: constants, and the halves of words of lane state.

use kvrm_machine::PAGE_BYTES;

/// Bytes of a page.
pub(super) const PAGE: u64 = PAGE_BYTES as u64;
/// The smallest number of lanes that a thread serves, because waking a thread takes longer than a few services.
pub(super) const LANES_MIN: usize = 16;

/// Returns the low and the high half of a word.
pub(super) const fn halves(word: u64) -> (u32, u32) {
    (word as u32, (word >> 32) as u32)
}

/// Returns the word with these halves.
pub(super) const fn word(low: u32, high: u32) -> u64 {
    low as u64 | (high as u64) << 32
}
