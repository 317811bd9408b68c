//! Tuples: the bits of a word that are the input of networks.

/// The number of bits of a tuple below the top byte.
const FEATURES = 12u;

/// Returns the tuple of a word: bits 31 to 19, 16, and 15 to 10.
///
/// Twin: `kvrm_models::Tuple::of`.
fn tuple_of(word: u32) -> u32 {
    return ((word >> 19u) << 7u) | ((word >> 10u) & 0x7fu);
}

/// Returns a feature of a tuple, a bit below the top byte, as the number 1 or 0.
fn feature_of(tuple: u32, feature: u32) -> f32 {
    return f32((tuple >> (FEATURES - 1u - feature)) & 1u);
}
