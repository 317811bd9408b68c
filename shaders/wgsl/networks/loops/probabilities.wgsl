//! The kernel that turns 32 logits of each body into probabilities.

import package::networks::layers::bindings::{batch, values};
import package::networks::loops::softmax::{LOGIT_VECTORS, softmax_of, softmax_scale};

/// The places of logits and probabilities.
struct ProbabilityLayer {
    /// The first vector of the logits, a row for each body.
    input: u32,
    /// The distance between rows of logits.
    input_stride: u32,
    /// The first vector of the probabilities.
    output: u32,
    /// The distance between rows of probabilities.
    output_stride: u32,
}

/// The layer.
@group(1) @binding(0) var<uniform> probability_layer: ProbabilityLayer;

/// The invocations of a workgroup.
override WORKGROUP_SIZE: u32 = 32u;

/// Computes the probabilities of a body for each invocation.
@compute @workgroup_size(WORKGROUP_SIZE)
fn probabilities(@builtin(global_invocation_id) invocation: vec3<u32>) {
    if invocation.x >= batch.sequences {
        return;
    }
    let first = probability_layer.input + invocation.x * probability_layer.input_stride;
    let output = probability_layer.output + invocation.x * probability_layer.output_stride;
    let scale = softmax_scale(first);
    for (var index = 0u; index < LOGIT_VECTORS; index += 1u) {
        values[output + index] = softmax_of(values[first + index], scale);
    }
}
