//! Weights in half precision, in blocks from four inputs to four outputs.

import package::networks::layers::bindings::{matrices};

/// The weights from four inputs to four outputs.
struct WeightBlock {
    /// Of the first input.
    a: vec4<f32>,
    /// Of the second input.
    b: vec4<f32>,
    /// Of the third input.
    c: vec4<f32>,
    /// Of the fourth input.
    d: vec4<f32>,
}

/// Returns the four weights in two words.
fn unpacked(low: u32, high: u32) -> vec4<f32> {
    return vec4<f32>(unpack2x16float(low), unpack2x16float(high));
}

/// Returns a block of a matrix with so many vectors of outputs. `at` is the vector of the first two inputs.
fn block_at(at: u32, outputs: u32) -> WeightBlock {
    let low = matrices[at];
    let high = matrices[at + outputs];
    return WeightBlock(
        unpacked(low.x, low.y),
        unpacked(low.z, low.w),
        unpacked(high.x, high.y),
        unpacked(high.z, high.w),
    );
}

/// Returns a sum with the products of four inputs and their weights.
fn with_products(sum: vec4<f32>, x: vec4<f32>, weights_of: WeightBlock) -> vec4<f32> {
    let first = fma(vec4<f32>(x.y), weights_of.b, fma(vec4<f32>(x.x), weights_of.a, sum));
    return fma(vec4<f32>(x.w), weights_of.d, fma(vec4<f32>(x.z), weights_of.c, first));
}
