//! The layers of the dispatch network, as one invocation evaluates them.
//!
//! The embedding is folded into the first layer, which leaves a row of sums for each top byte. The rest of the
//! weights lies in workgroup memory, where all invocations read the same at the same time. Layers go input by
//! input, four outputs at a time, so that all sums have registers of their own. Weights on the grid make all sums
//! exact, so this order gives the same bits as any other.

import package::networks::bindings::{folded, weights};
import package::networks::layout::{DISPATCH_FC1_INPUTS, DISPATCH_FC1_WEIGHTS, DISPATCH_FC2_BIAS, DISPATCH_FC2_WEIGHTS, DISPATCH_FC3_BIAS, DISPATCH_FC3_WEIGHTS, DISPATCH_HIDDEN, DISPATCH_UNITS};
import package::networks::logits::{Logits};
import package::networks::tuple::{FEATURES, feature_of};

/// The grid of activations is one over this. Powers of two multiply exactly; divisions need not be exact.
const GRID = 64.0;
/// Vectors of the first hidden layer.
const HIDDEN_VECTORS = DISPATCH_HIDDEN / 4u;
/// Vectors of the second one.
const UNIT_VECTORS = DISPATCH_UNITS / 4u;
/// Vectors of the outputs.
const OUTPUT_VECTORS = 2u;

// Where weights lie in workgroup memory: by input, then by vector of outputs.

/// The features' weights in the first layer.
const FIRST = 0u;
/// The second layer.
const SECOND = FIRST + FEATURES * HIDDEN_VECTORS;
/// Its bias.
const SECOND_BIAS = SECOND + DISPATCH_HIDDEN * UNIT_VECTORS;
/// The third layer.
const THIRD = SECOND_BIAS + UNIT_VECTORS;
/// Its bias.
const THIRD_BIAS = THIRD + DISPATCH_UNITS * OUTPUT_VECTORS;
/// The end of all.
const WEIGHT_VECTORS = THIRD_BIAS + OUTPUT_VECTORS;

/// All weights but those of the embedding.
var<workgroup> near_weights: array<vec4<f32>, WEIGHT_VECTORS>;

/// The sums of the second hidden layer.
struct Units {
    /// Units 0 to 3.
    a: vec4<f32>,
    /// Units 4 to 7.
    b: vec4<f32>,
    /// Units 8 to 11.
    c: vec4<f32>,
    /// Units 12 to 15.
    d: vec4<f32>,
}

/// ReLU, floored to the grid.
///
/// Twin: `kvrm_models`' own `activation`.
fn activation(x: vec4<f32>) -> vec4<f32> {
    return floor(max(x, vec4<f32>()) * GRID) * (1.0 / GRID);
}

/// Four weights of an input, whose outputs lie `stride` apart.
fn gathered(first: u32, stride: u32) -> vec4<f32> {
    return vec4<f32>(weights[first], weights[first + stride], weights[first + 2u * stride], weights[first + 3u * stride]);
}

/// A vector of weights as it lies in workgroup memory.
fn near_weight(index: u32) -> vec4<f32> {
    if index < SECOND {
        let unit = 4u * (index % HIDDEN_VECTORS);
        let input = DISPATCH_FC1_INPUTS - FEATURES + index / HIDDEN_VECTORS;
        return gathered(DISPATCH_FC1_WEIGHTS + unit * DISPATCH_FC1_INPUTS + input, DISPATCH_FC1_INPUTS);
    } else if index < SECOND_BIAS {
        let unit = 4u * ((index - SECOND) % UNIT_VECTORS);
        let input = (index - SECOND) / UNIT_VECTORS;
        return gathered(DISPATCH_FC2_WEIGHTS + unit * DISPATCH_HIDDEN + input, DISPATCH_HIDDEN);
    } else if index < THIRD {
        return gathered(DISPATCH_FC2_BIAS + 4u * (index - SECOND_BIAS), 1u);
    }
    // The eighth output does not exist.
    let first = select(index - THIRD, index - THIRD_BIAS, index >= THIRD_BIAS);
    let output = 4u * (first % OUTPUT_VECTORS);
    var at = DISPATCH_FC3_BIAS + output;
    var stride = 1u;
    var none = -3.0e38;
    if index < THIRD_BIAS {
        at = DISPATCH_FC3_WEIGHTS + output * DISPATCH_UNITS + first / OUTPUT_VECTORS;
        stride = DISPATCH_UNITS;
        none = 0.0;
    }
    if output == 0u {
        return gathered(at, stride);
    }
    return vec4<f32>(weights[at], weights[at + stride], weights[at + 2u * stride], none);
}

/// Brings the weights to workgroup memory, together with all invocations of the workgroup. A barrier has to follow.
fn load_layers(member: u32, members: u32) {
    for (var index = member; index < WEIGHT_VECTORS; index += members) {
        near_weights[index] = near_weight(index);
    }
}

/// Adds what four units of the first hidden layer give the second one.
fn second_layer(sums: Units, hidden: vec4<f32>, vector: u32) -> Units {
    let x = activation(hidden);
    let at = SECOND + 4u * UNIT_VECTORS * vector;
    return Units(
        sums.a + x.x * near_weights[at] + x.y * near_weights[at + 4u] + x.z * near_weights[at + 8u] + x.w * near_weights[at + 12u],
        sums.b + x.x * near_weights[at + 1u] + x.y * near_weights[at + 5u] + x.z * near_weights[at + 9u] + x.w * near_weights[at + 13u],
        sums.c + x.x * near_weights[at + 2u] + x.y * near_weights[at + 6u] + x.z * near_weights[at + 10u] + x.w * near_weights[at + 14u],
        sums.d + x.x * near_weights[at + 3u] + x.y * near_weights[at + 7u] + x.z * near_weights[at + 11u] + x.w * near_weights[at + 15u],
    );
}

/// Adds what four units of the second hidden layer give the outputs.
fn third_layer(sums: Logits, units: vec4<f32>, vector: u32) -> Logits {
    let x = activation(units);
    let at = THIRD + 4u * OUTPUT_VECTORS * vector;
    return Logits(
        sums.low + x.x * near_weights[at] + x.y * near_weights[at + 2u] + x.z * near_weights[at + 4u] + x.w * near_weights[at + 6u],
        sums.high + x.x * near_weights[at + 1u] + x.y * near_weights[at + 3u] + x.z * near_weights[at + 5u] + x.w * near_weights[at + 7u],
    );
}

/// The logits of a tuple.
///
/// Twin: `kvrm_models::TupleNetwork::logits`.
fn evaluate_layers(tuple: u32) -> Logits {
    let row = (tuple >> FEATURES) * HIDDEN_VECTORS;
    var h0 = folded[row];
    var h1 = folded[row + 1u];
    var h2 = folded[row + 2u];
    var h3 = folded[row + 3u];
    var h4 = folded[row + 4u];
    var h5 = folded[row + 5u];
    var h6 = folded[row + 6u];
    var h7 = folded[row + 7u];
    for (var feature = 0u; feature < FEATURES; feature += 1u) {
        let x = feature_of(tuple, feature);
        let at = FIRST + HIDDEN_VECTORS * feature;
        h0 += x * near_weights[at];
        h1 += x * near_weights[at + 1u];
        h2 += x * near_weights[at + 2u];
        h3 += x * near_weights[at + 3u];
        h4 += x * near_weights[at + 4u];
        h5 += x * near_weights[at + 5u];
        h6 += x * near_weights[at + 6u];
        h7 += x * near_weights[at + 7u];
    }
    let bias = SECOND_BIAS;
    var units = Units(near_weights[bias], near_weights[bias + 1u], near_weights[bias + 2u], near_weights[bias + 3u]);
    units = second_layer(units, h0, 0u);
    units = second_layer(units, h1, 1u);
    units = second_layer(units, h2, 2u);
    units = second_layer(units, h3, 3u);
    units = second_layer(units, h4, 4u);
    units = second_layer(units, h5, 5u);
    units = second_layer(units, h6, 6u);
    units = second_layer(units, h7, 7u);
    var outputs = Logits(near_weights[THIRD_BIAS], near_weights[THIRD_BIAS + 1u]);
    outputs = third_layer(outputs, units.a, 0u);
    outputs = third_layer(outputs, units.b, 1u);
    outputs = third_layer(outputs, units.c, 2u);
    outputs = third_layer(outputs, units.d, 3u);
    return outputs;
}
