//! The small dispatch network, whose input is the top byte of a word.

import package::networks::bindings::{near};
import package::networks::elementary::{tangent};
import package::networks::layout::{SMALL_B1, SMALL_B2, SMALL_PARAMETERS, SMALL_W1, SMALL_W2};
import package::networks::logits::{Logits, greatest};
import package::networks::tuple::{FEATURES};

/// The number of units of the hidden layer, which is also the number of inputs.
const SMALL_UNITS = 8u;

/// The weights and biases of the network.
var<workgroup> small_weights: array<f32, SMALL_PARAMETERS>;

/// Loads the weights to workgroup memory. All invocations of the workgroup call it, and a barrier has to follow.
fn load_weights(member: u32, members: u32) {
    for (var index = member; index < SMALL_PARAMETERS; index += members) {
        small_weights[index] = near[index / 4u][index % 4u];
    }
}

/// Returns the values of four units of the hidden layer.
fn small_hidden(top_byte: u32, unit: u32) -> vec4<f32> {
    let at = SMALL_B1 + unit;
    var sum = vec4<f32>(small_weights[at], small_weights[at + 1u], small_weights[at + 2u], small_weights[at + 3u]);
    for (var input = 0u; input < SMALL_UNITS; input += 1u) {
        let row = SMALL_W1 + unit * SMALL_UNITS + input;
        let column = vec4<f32>(
            small_weights[row],
            small_weights[row + SMALL_UNITS],
            small_weights[row + 2u * SMALL_UNITS],
            small_weights[row + 3u * SMALL_UNITS],
        );
        sum += f32((top_byte >> input) & 1u) * column;
    }
    return tangent(sum);
}

/// Returns one output.
fn small_output(output: u32, low: vec4<f32>, high: vec4<f32>) -> f32 {
    let at = SMALL_W2 + output * SMALL_UNITS;
    let a = vec4<f32>(small_weights[at], small_weights[at + 1u], small_weights[at + 2u], small_weights[at + 3u]);
    let b = vec4<f32>(small_weights[at + 4u], small_weights[at + 5u], small_weights[at + 6u], small_weights[at + 7u]);
    return small_weights[SMALL_B2 + output] + dot(a, low) + dot(b, high);
}

/// Returns the logits of a tuple.
///
/// Twin: `kvrm_models::SmallDispatchNetwork::logits`, except for rounding errors.
fn evaluate(tuple: u32) -> Logits {
    let top_byte = tuple >> FEATURES;
    let low = small_hidden(top_byte, 0u);
    let high = small_hidden(top_byte, 4u);
    return Logits(
        vec4<f32>(small_output(0u, low, high), small_output(1u, low, high), small_output(2u, low, high), small_output(3u, low, high)),
        vec4<f32>(small_output(4u, low, high), small_output(5u, low, high), small_output(6u, low, high), -3.0e38),
    );
}

/// Returns the class that the network gives a tuple.
fn decide(tuple: u32) -> u32 {
    return greatest(evaluate(tuple));
}
