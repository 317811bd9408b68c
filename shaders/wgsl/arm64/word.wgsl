//! Fields of a code word.

/// Returns the `width` bits of a word from bit `low` up.
///
/// Twin: `kvrm_arm64::word::Word::bits`.
fn bits(word: u32, low: u32, width: u32) -> u32 {
    return (word >> low) & ((1u << width) - 1u);
}
