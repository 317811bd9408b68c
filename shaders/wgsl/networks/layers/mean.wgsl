//! The kernel that computes the mean of the rows of each sequence.

import package::networks::layers::bindings::{sequences, values};

/// The places and the width of a mean.
struct MeanLayer {
    /// The first vector of the input, a row for each token.
    input: u32,
    /// The distance between rows of the input.
    input_stride: u32,
    /// The first vector of the output, a row for each sequence.
    output: u32,
    /// The distance between rows of the output.
    output_stride: u32,
    /// The number of vectors of a row.
    width: u32,
}

/// The layer.
@group(1) @binding(0) var<uniform> mean_layer: MeanLayer;

/// The invocations of a workgroup, at most as many as a row has vectors.
override WORKGROUP_SIZE: u32 = 32u;

/// Computes a vector of the mean of a sequence. The first dimension of workgroups is the sequence, the second divides the
/// row.
@compute @workgroup_size(WORKGROUP_SIZE)
fn mean(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_id) invocation: vec3<u32>) {
    let column = workgroup.y * WORKGROUP_SIZE + invocation.x;
    if column >= mean_layer.width {
        return;
    }
    let sequence = sequences[workgroup.x];
    var sum = vec4<f32>(0.0);
    for (var token = 0u; token < sequence.tokens; token += 1u) {
        sum += values[mean_layer.input + (sequence.first + token) * mean_layer.input_stride + column];
    }
    values[mean_layer.output + workgroup.x * mean_layer.output_stride + column] = sum / f32(sequence.tokens);
}
