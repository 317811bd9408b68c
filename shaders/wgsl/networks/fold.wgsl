//! Folds the embedding of the dispatch network into its first layer.

import package::networks::layout::{DISPATCH_EMBEDDING, DISPATCH_FC1_BIAS, DISPATCH_FC1_INPUTS, DISPATCH_FC1_WEIGHTS, DISPATCH_HIDDEN};

/// The flat weights.
@group(0) @binding(0) var<storage, read> unfolded: array<f32>;
/// Sums of the first layer, those of a top byte together.
@group(0) @binding(1) var<storage, read_write> sums: array<f32>;

/// Invocations of a workgroup.
override WORKGROUP_SIZE: u32 = 64u;

/// One sum: the bias of a unit, and what the embedding of a top byte gives it.
///
/// Twin: `kvrm_models::TupleNetwork::fold`.
@compute @workgroup_size(WORKGROUP_SIZE)
fn fold(@builtin(global_invocation_id) invocation: vec3<u32>) {
    let index = invocation.x;
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
