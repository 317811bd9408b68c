//! The kernel that folds the embedding of the dispatch network into its first layer, and reorders the other weights.

import package::machine::layout::{NEAR_VECTORS};
import package::networks::layout::{
    DISPATCH_EMBEDDING, DISPATCH_FC1_BIAS, DISPATCH_FC1_INPUTS, DISPATCH_FC1_WEIGHTS, DISPATCH_FC2_BIAS,
    DISPATCH_FC2_WEIGHTS, DISPATCH_FC3_BIAS, DISPATCH_FC3_WEIGHTS, DISPATCH_HIDDEN, DISPATCH_UNITS,
    NEAR_HIDDEN_VECTORS, NEAR_OUTPUT_VECTORS, NEAR_SECOND, NEAR_SECOND_BIAS, NEAR_THIRD, NEAR_THIRD_BIAS,
    NEAR_UNIT_VECTORS,
};
import package::networks::tuple::{FEATURES};

/// All weights of the network, in their original order.
@group(0) @binding(0) var<storage, read> unfolded: array<f32>;
/// The sums of the first layer, grouped by top byte.
@group(0) @binding(1) var<storage, read_write> sums: array<f32>;
/// The other weights, by input, then by four outputs.
@group(0) @binding(2) var<storage, read_write> others: array<vec4<f32>>;

/// The invocations of a workgroup.
override WORKGROUP_SIZE: u32 = 64u;

/// Returns four weights that are `stride` apart.
fn strided_weights(first: u32, stride: u32) -> vec4<f32> {
    return vec4<f32>(unfolded[first], unfolded[first + stride], unfolded[first + 2u * stride], unfolded[first + 3u * stride]);
}

/// Returns a vector of the other weights.
fn other_weight(index: u32) -> vec4<f32> {
    if index < NEAR_SECOND {
        let unit = 4u * (index % NEAR_HIDDEN_VECTORS);
        let input = DISPATCH_FC1_INPUTS - FEATURES + index / NEAR_HIDDEN_VECTORS;
        return strided_weights(DISPATCH_FC1_WEIGHTS + unit * DISPATCH_FC1_INPUTS + input, DISPATCH_FC1_INPUTS);
    } else if index < NEAR_SECOND_BIAS {
        let unit = 4u * ((index - NEAR_SECOND) % NEAR_UNIT_VECTORS);
        let input = (index - NEAR_SECOND) / NEAR_UNIT_VECTORS;
        return strided_weights(DISPATCH_FC2_WEIGHTS + unit * DISPATCH_HIDDEN + input, DISPATCH_HIDDEN);
    } else if index < NEAR_THIRD {
        return strided_weights(DISPATCH_FC2_BIAS + 4u * (index - NEAR_SECOND_BIAS), 1u);
    }
    // There is no eighth output: its weights are zero, and its bias is too small to be the greatest logit.
    let first = select(index - NEAR_THIRD, index - NEAR_THIRD_BIAS, index >= NEAR_THIRD_BIAS);
    let output = 4u * (first % NEAR_OUTPUT_VECTORS);
    var at = DISPATCH_FC3_BIAS + output;
    var stride = 1u;
    var none = -3.0e38;
    if index < NEAR_THIRD_BIAS {
        at = DISPATCH_FC3_WEIGHTS + output * DISPATCH_UNITS + first / NEAR_OUTPUT_VECTORS;
        stride = DISPATCH_UNITS;
        none = 0.0;
    }
    if output == 0u {
        return strided_weights(at, stride);
    }
    return vec4<f32>(unfolded[at], unfolded[at + stride], unfolded[at + 2u * stride], none);
}

/// Computes one sum per invocation: the bias of a unit plus the contribution of the embedding of a top byte. The first
/// invocations also copy one vector of the other weights each.
///
/// Twin: `kvrm_models::TupleNetwork::fold`.
@compute @workgroup_size(WORKGROUP_SIZE)
fn fold(@builtin(global_invocation_id) invocation: vec3<u32>) {
    let index = invocation.x;
    if index < NEAR_VECTORS {
        others[index] = other_weight(index);
    }
    if index >= 256u * DISPATCH_HIDDEN {
        return;
    }
    let unit = index % DISPATCH_HIDDEN;
    let embedding = (index / DISPATCH_HIDDEN) * DISPATCH_EMBEDDING;
    let row = DISPATCH_FC1_WEIGHTS + unit * DISPATCH_FC1_INPUTS;
    var sum = unfolded[DISPATCH_FC1_BIAS + unit];
    for (var input = 0u; input < DISPATCH_EMBEDDING; input += 1u) {
        sum += unfolded[row + input] * unfolded[embedding + input];
    }
    sums[index] = sum;
}
