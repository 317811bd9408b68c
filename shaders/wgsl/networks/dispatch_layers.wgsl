//! The layers of the dispatch network, evaluated by one invocation.
//!
//! The embedding is folded into the first layer, which leaves a row of sums for each top byte. The other weights are in
//! a uniform buffer. The layers are evaluated input by input, four outputs at a time. No sum is in an array, so that
//! all sums are in registers. As the weights are on the grid, all sums are exact, so any order gives the same bits.

import package::networks::bindings::{folded, near};
import package::networks::layout::{
    GRID, NEAR_FIRST, NEAR_HIDDEN_VECTORS, NEAR_OUTPUT_VECTORS, NEAR_SECOND, NEAR_SECOND_BIAS, NEAR_THIRD,
    NEAR_THIRD_BIAS, NEAR_UNIT_VECTORS,
};
import package::networks::logits::{Logits};
import package::networks::tuple::{FEATURES, feature_of};

/// The sums of the first hidden layer.
struct Hidden {
    /// Units 0 to 3.
    a: vec4<f32>,
    /// Units 4 to 7.
    b: vec4<f32>,
    /// Units 8 to 11.
    c: vec4<f32>,
    /// Units 12 to 15.
    d: vec4<f32>,
    /// Units 16 to 19.
    e: vec4<f32>,
    /// Units 20 to 23.
    f: vec4<f32>,
    /// Units 24 to 27.
    g: vec4<f32>,
    /// Units 28 to 31.
    h: vec4<f32>,
}

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

/// Adds the contribution of a feature of a tuple to the first hidden layer.
fn first_layer(sums: Hidden, tuple: u32, feature: u32) -> Hidden {
    let x = feature_of(tuple, feature);
    let at = NEAR_FIRST + NEAR_HIDDEN_VECTORS * feature;
    return Hidden(
        sums.a + x * near[at],
        sums.b + x * near[at + 1u],
        sums.c + x * near[at + 2u],
        sums.d + x * near[at + 3u],
        sums.e + x * near[at + 4u],
        sums.f + x * near[at + 5u],
        sums.g + x * near[at + 6u],
        sums.h + x * near[at + 7u],
    );
}

/// Adds the contribution of four units of the first hidden layer to the second one.
fn second_layer(sums: Units, hidden: vec4<f32>, vector: u32) -> Units {
    let x = activation(hidden);
    let at = NEAR_SECOND + 4u * NEAR_UNIT_VECTORS * vector;
    return Units(
        sums.a + x.x * near[at] + x.y * near[at + 4u] + x.z * near[at + 8u] + x.w * near[at + 12u],
        sums.b + x.x * near[at + 1u] + x.y * near[at + 5u] + x.z * near[at + 9u] + x.w * near[at + 13u],
        sums.c + x.x * near[at + 2u] + x.y * near[at + 6u] + x.z * near[at + 10u] + x.w * near[at + 14u],
        sums.d + x.x * near[at + 3u] + x.y * near[at + 7u] + x.z * near[at + 11u] + x.w * near[at + 15u],
    );
}

/// Adds the contribution of four units of the second hidden layer to the outputs.
fn third_layer(sums: Logits, units: vec4<f32>, vector: u32) -> Logits {
    let x = activation(units);
    let at = NEAR_THIRD + 4u * NEAR_OUTPUT_VECTORS * vector;
    return Logits(
        sums.low + x.x * near[at] + x.y * near[at + 2u] + x.z * near[at + 4u] + x.w * near[at + 6u],
        sums.high + x.x * near[at + 1u] + x.y * near[at + 3u] + x.z * near[at + 5u] + x.w * near[at + 7u],
    );
}

/// Returns the logits of a tuple.
///
/// Twin: `kvrm_models::TupleNetwork::logits`.
fn evaluate_layers(tuple: u32) -> Logits {
    let row = (tuple >> FEATURES) * NEAR_HIDDEN_VECTORS;
    var hidden = Hidden(
        folded[row],
        folded[row + 1u],
        folded[row + 2u],
        folded[row + 3u],
        folded[row + 4u],
        folded[row + 5u],
        folded[row + 6u],
        folded[row + 7u],
    );
    for (var feature = 0u; feature < FEATURES; feature += 1u) {
        hidden = first_layer(hidden, tuple, feature);
    }
    let bias = NEAR_SECOND_BIAS;
    var units = Units(near[bias], near[bias + 1u], near[bias + 2u], near[bias + 3u]);
    units = second_layer(units, hidden.a, 0u);
    units = second_layer(units, hidden.b, 1u);
    units = second_layer(units, hidden.c, 2u);
    units = second_layer(units, hidden.d, 3u);
    units = second_layer(units, hidden.e, 4u);
    units = second_layer(units, hidden.f, 5u);
    units = second_layer(units, hidden.g, 6u);
    units = second_layer(units, hidden.h, 7u);
    var outputs = Logits(near[NEAR_THIRD_BIAS], near[NEAR_THIRD_BIAS + 1u]);
    outputs = third_layer(outputs, units.a, 0u);
    outputs = third_layer(outputs, units.b, 1u);
    outputs = third_layer(outputs, units.c, 2u);
    outputs = third_layer(outputs, units.d, 3u);
    return outputs;
}
