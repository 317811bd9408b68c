//! The kernels that evaluate a network on tuples outside of a machine, to compare it with its twin: for the logits of
//! tuples, and for the number of words that get a wrong class.

import package::networks::layout::{GRID};
import package::networks::tuple::{FEATURES, tuple_of};

/// The range of tuples or words of a dispatch.
struct Range {
    /// The first tuple or word.
    first: u32,
    /// The number of tuples or words.
    count: u32,
    /// The number of consecutive words per invocation.
    each: u32,
}

/// The result of a sweep.
struct SweepResult {
    /// The number of words that were evaluated.
    words: atomic<u32>,
    /// The number of words that got a wrong answer.
    wrong: atomic<u32>,
    /// The smallest word that got a wrong answer.
    first_wrong: atomic<u32>,
}

/// The tuples or words of a dispatch.
@group(0) @binding(0) var<storage, read> range: Range;
/// The weights, in their original order.
@group(0) @binding(1) var<storage, read> weights: array<f32>;
/// The right answer for each tuple, four to a word.
@group(0) @binding(2) var<storage, read> labels: array<u32>;
/// The logits, grouped by tuple.
@group(0) @binding(3) var<storage, read_write> logits: array<f32>;
/// The result of a sweep.
@group(0) @binding(4) var<storage, read_write> result: SweepResult;

/// The invocations of a workgroup.
override WORKGROUP_SIZE: u32 = 64u;
/// The number of units of the second hidden layer.
override UNITS: u32 = 16u;
/// The number of outputs.
override OUTPUTS: u32 = 7u;

/// The number of values of the embedding of a top byte.
const EMBEDDING = 32u;
/// The number of units of the first hidden layer.
const HIDDEN = 32u;
/// The most units of the second hidden layer.
const UNITS_MAX = 24u;
/// The most outputs.
const OUTPUTS_MAX = 15u;
/// The index of the first weight of the first layer, behind the embeddings.
const FC1 = 256u * EMBEDDING;
/// The index of the first weight of the second layer.
const FC2 = FC1 + HIDDEN * (EMBEDDING + FEATURES) + HIDDEN;
/// The logits of the tuple that was evaluated last.
var<private> outputs: array<f32, OUTPUTS_MAX>;

/// ReLU, floored to the grid.
fn activation(x: f32) -> f32 {
    return floor(max(x, 0.0) * GRID) * (1.0 / GRID);
}

/// Evaluates the network, and sets `outputs`, as `kvrm_models::TupleNetwork::logits` does.
fn evaluate(tuple: u32) {
    var hidden: array<f32, HIDDEN>;
    let embedding = (tuple >> FEATURES) * EMBEDDING;
    for (var unit = 0u; unit < HIDDEN; unit += 1u) {
        let row = FC1 + unit * (EMBEDDING + FEATURES);
        var sum = weights[FC2 - HIDDEN + unit];
        for (var i = 0u; i < EMBEDDING; i += 1u) {
            sum += weights[row + i] * weights[embedding + i];
        }
        for (var i = 0u; i < FEATURES; i += 1u) {
            sum += weights[row + EMBEDDING + i] * f32((tuple >> (FEATURES - 1u - i)) & 1u);
        }
        hidden[unit] = activation(sum);
    }
    let fc3 = FC2 + UNITS * HIDDEN + UNITS;
    var units: array<f32, UNITS_MAX>;
    for (var unit = 0u; unit < UNITS; unit += 1u) {
        var sum = weights[fc3 - UNITS + unit];
        for (var i = 0u; i < HIDDEN; i += 1u) {
            sum += weights[FC2 + unit * HIDDEN + i] * hidden[i];
        }
        units[unit] = activation(sum);
    }
    for (var output = 0u; output < OUTPUTS; output += 1u) {
        var sum = weights[fc3 + OUTPUTS * UNITS + output];
        for (var i = 0u; i < UNITS; i += 1u) {
            sum += weights[fc3 + output * UNITS + i] * units[i];
        }
        outputs[output] = sum;
    }
}

/// Returns the index of the greatest logit, the first of several.
fn greatest() -> u32 {
    var best = 0u;
    for (var output = 1u; output < OUTPUTS; output += 1u) {
        best = select(best, output, outputs[output] > outputs[best]);
    }
    return best;
}

/// Computes the logits of consecutive tuples.
@compute @workgroup_size(WORKGROUP_SIZE)
fn tuple_logits(@builtin(global_invocation_id) invocation: vec3<u32>) {
    let index = invocation.x;
    if index >= range.count {
        return;
    }
    evaluate(range.first + index);
    for (var output = 0u; output < OUTPUTS; output += 1u) {
        logits[index * OUTPUTS + output] = outputs[output];
    }
}

/// Compares the network's answers for words with the labels of their tuples.
@compute @workgroup_size(WORKGROUP_SIZE)
fn sweep_words(@builtin(global_invocation_id) invocation: vec3<u32>) {
    let begin = invocation.x * range.each;
    let end = min(begin + range.each, range.count);
    for (var index = begin; index < end; index += 1u) {
        let word = range.first + index;
        let tuple = tuple_of(word);
        evaluate(tuple);
        let label = (labels[tuple >> 2u] >> (8u * (tuple & 3u))) & 0xffu;
        if greatest() != label {
            atomicAdd(&result.wrong, 1u);
            atomicMin(&result.first_wrong, word);
        }
    }
    if begin < end {
        atomicAdd(&result.words, end - begin);
    }
}
