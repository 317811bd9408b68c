//! Magnitudes of integers as inputs of networks.

import package::networks::elementary::{binary_logarithm};

/// Returns log2(|number| + 1) of four numbers, read as signed.
///
/// Twin: `kvrm_models::inputs::magnitude`.
fn magnitudes(a: u64, b: u64, c: u64, d: u64) -> vec4<f32> {
    return binary_logarithm(vec4<f32>(above(a), above(b), above(c), above(d)));
}

/// Returns |number| + 1 of a number read as signed.
fn above(number: u64) -> f32 {
    return f32(distance_of(number) + 1lu);
}

/// Returns |number| of a number read as signed.
fn distance_of(number: u64) -> u64 {
    return select(number, 0lu - number, i64(number) < 0li);
}
