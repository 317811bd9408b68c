//! Tuples: the bits of a word that networks see.

/// The bits of a tuple below the top byte.
const FEATURES = 12u;

/// The tuple of a word: bits 31 to 19, 16, and 15 to 10.
///
/// Twin: `kvrm_models::Tuple::of`.
fn tuple_of(word: u32) -> u32 {
    return ((word >> 19u) << 7u) | ((word >> 10u) & 0x7fu);
}

/// A feature of a tuple, as a number: 1 if it is there, else 0.
fn feature_of(tuple: u32, feature: u32) -> f32 {
    return f32((tuple >> (FEATURES - 1u - feature)) & 1u);
}
