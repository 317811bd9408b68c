//! The dispatch network, evaluated for one tuple by all invocations of a workgroup together.

import package::networks::bindings::{folded};
import package::networks::layout::{
    DISPATCH_HIDDEN, DISPATCH_UNITS, GRID, NEAR_FIRST, NEAR_SECOND, NEAR_SECOND_BIAS, NEAR_THIRD,
    NEAR_THIRD_BIAS,
};
import package::networks::logits::{Logits};
import package::networks::near_weights::{load_near_weights, near_weights};
import package::networks::tuple::{FEATURES, feature_of};

/// The number of invocations of the workgroup: one for each unit of the first hidden layer.
const MEMBERS = DISPATCH_HIDDEN;
/// The number of outputs, including an unused eighth.
const OUTPUTS = 8u;

/// The values of the first hidden layer.
var<workgroup> hidden_values: array<f32, DISPATCH_HIDDEN>;
/// The sums of the second hidden layer over the first half of the inputs, then those over the second half.
var<workgroup> unit_sums: array<f32, 2u * DISPATCH_UNITS>;
/// The values of the second hidden layer.
var<workgroup> unit_values: array<f32, DISPATCH_UNITS>;
/// The logits.
var<workgroup> output_values: array<f32, OUTPUTS>;

/// Loads the weights to workgroup memory. All invocations of the workgroup call it, and a barrier has to follow.
fn load_together(member: u32) {
    load_near_weights(member, MEMBERS);
}

/// Returns a weight in workgroup memory: a component of the vectors from index `at` on.
fn near_weight(at: u32, component: u32) -> f32 {
    return near_weights[at + component / 4u][component % 4u];
}

/// ReLU, floored to the grid.
fn activation_of(x: f32) -> f32 {
    return floor(max(x, 0.0) * GRID) * (1.0 / GRID);
}

/// Returns the logits of a tuple. All invocations of the workgroup call it, with the same tuple.
fn evaluate_together(tuple: u32, member: u32) -> Logits {
    var sum = folded[(tuple >> FEATURES) * (DISPATCH_HIDDEN / 4u) + member / 4u][member % 4u];
    for (var feature = 0u; feature < FEATURES; feature += 1u) {
        sum += feature_of(tuple, feature) * near_weight(NEAR_FIRST, DISPATCH_HIDDEN * feature + member);
    }
    hidden_values[member] = activation_of(sum);
    workgroupBarrier();
    let unit = member % DISPATCH_UNITS;
    let half = member / DISPATCH_UNITS;
    sum = select(0.0, near_weight(NEAR_SECOND_BIAS, unit), half == 0u);
    for (var input = DISPATCH_UNITS * half; input < DISPATCH_UNITS * (half + 1u); input += 1u) {
        sum += hidden_values[input] * near_weight(NEAR_SECOND, DISPATCH_UNITS * input + unit);
    }
    unit_sums[member] = sum;
    workgroupBarrier();
    if member < DISPATCH_UNITS {
        unit_values[member] = activation_of(unit_sums[member] + unit_sums[DISPATCH_UNITS + member]);
    }
    workgroupBarrier();
    if member < OUTPUTS {
        sum = near_weight(NEAR_THIRD_BIAS, member);
        for (var input = 0u; input < DISPATCH_UNITS; input += 1u) {
            sum += unit_values[input] * near_weight(NEAR_THIRD, OUTPUTS * input + member);
        }
        output_values[member] = sum;
    }
    workgroupBarrier();
    return Logits(
        vec4<f32>(output_values[0], output_values[1], output_values[2], output_values[3]),
        vec4<f32>(output_values[4], output_values[5], output_values[6], output_values[7]),
    );
}
