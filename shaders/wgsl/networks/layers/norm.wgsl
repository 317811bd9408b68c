//! The kernel of a layer norm of 128 values, followed by an activation.

import package::networks::layers::activation::{activated};
import package::networks::layers::bindings::{values, vectors};
import package::networks::layers::sums::{component_sum};

/// The places and the activation of a layer norm.
struct NormLayer {
    /// The first vector of the input.
    input: u32,
    /// The distance between rows of the input.
    input_stride: u32,
    /// The first vector of the output, which may be the input.
    output: u32,
    /// The distance between rows of the output.
    output_stride: u32,
    /// The first vector of the factors.
    factors: u32,
    /// The first vector of the bias.
    bias: u32,
    /// The activation, one of `ACTIVATION_*`.
    activation: u32,
}

/// The layer.
@group(1) @binding(0) var<uniform> norm_layer: NormLayer;

/// The number of vectors of a row, and of invocations of a workgroup.
const NORM_VECTORS = 32u;
/// The number added to the variance.
const NORM_EPSILON = 1e-5;

/// A number of each vector of the row.
var<workgroup> norm_numbers: array<f32, NORM_VECTORS>;

/// Returns the sum of the numbers that the invocations have for their vectors.
fn row_sum(column: u32, number: f32) -> f32 {
    // The numbers of the sum before may still be read.
    workgroupBarrier();
    norm_numbers[column] = number;
    workgroupBarrier();
    var sum = 0.0;
    for (var index = 0u; index < NORM_VECTORS; index += 1u) {
        sum += norm_numbers[index];
    }
    return sum;
}

/// Normalises a row for each workgroup.
@compute @workgroup_size(NORM_VECTORS)
fn normalise(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_id) invocation: vec3<u32>) {
    let column = invocation.x;
    let x = values[norm_layer.input + workgroup.x * norm_layer.input_stride + column];
    let centred = x - row_sum(column, component_sum(x)) / f32(4u * NORM_VECTORS);
    let variance = row_sum(column, dot(centred, centred)) / f32(4u * NORM_VECTORS);
    let factor = 1.0 / sqrt(variance + NORM_EPSILON);
    let normal = centred * factor * vectors[norm_layer.factors + column] + vectors[norm_layer.bias + column];
    values[norm_layer.output + workgroup.x * norm_layer.output_stride + column] =
        activated(normal, norm_layer.activation);
}
