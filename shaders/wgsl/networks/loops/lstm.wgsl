//! The kernel of a layer of an LSTM of 128 units, in one direction or in both. The products with its inputs, which do not
//! depend on the order of words, are computed before.
//!
//! A workgroup takes `LOOP_SEQUENCES` bodies in one direction through their words. An invocation has a unit: its four gates
//! are a vector. So a weight is unpacked once for all bodies of the workgroup, and a step needs one barrier.

import package::machine::layout::{LOOP_SEQUENCES};
import package::networks::elementary::{logistic, tangent};
import package::networks::loops::bindings::{batch, bodies, values};
import package::networks::loops::blocks::{block_at, with_products};

/// The places of a layer of an LSTM.
struct LstmLayer {
    /// The first vector of the sums of inputs and biases: a vector of the gates i, f, g and o for each unit, of the forward
    /// direction and then of the other.
    projected: u32,
    /// The distance between rows of these sums.
    projected_stride: u32,
    /// The first vector of the output: the values of the forward direction, then those of the other.
    output: u32,
    /// The distance between rows of the output.
    output_stride: u32,
    /// The first vector of the matrix from the previous outputs to the gates of the forward direction. That of the other
    /// direction follows.
    matrix: u32,
}

/// The layer.
@group(1) @binding(0) var<uniform> lstm_layer: LstmLayer;

/// The number of units, and of invocations of a workgroup.
const LSTM_UNITS = 128u;
/// The number of vectors of the outputs of a body.
const LSTM_VECTORS = 32u;

/// The outputs of the previous step and of this one, for each body of the workgroup.
var<workgroup> lstm_outputs: array<vec4<f32>, 2u * LOOP_SEQUENCES * LSTM_VECTORS>;

/// The words of a body as a sequence.
struct Sequence {
    /// The index of the first word.
    first: u32,
    /// The number of words; 0 if there is no such body.
    words: u32,
}

/// Returns the sequence of a body.
fn sequence_of(body: u32) -> Sequence {
    if body < batch.bodies {
        return Sequence(bodies[body].first, bodies[body].words);
    }
    return Sequence(0u, 0u);
}

/// Returns the index of the word at which a sequence is in a step. Behind its end this is its last word in its direction.
fn word_at(sequence: Sequence, step: u32, reverse: bool) -> u32 {
    let index = min(step, max(sequence.words, 1u) - 1u);
    return sequence.first + select(index, max(sequence.words, 1u) - 1u - index, reverse);
}

/// Returns the gates of a unit of a sequence in a step, without the products with previous outputs.
fn projected_gates(word: u32, column: u32) -> vec4<f32> {
    return values[lstm_layer.projected + word * lstm_layer.projected_stride + column];
}

/// Writes the output of a unit for a word, if the sequence is not behind its end.
fn write_unit(sequence: Sequence, step: u32, word: u32, column: u32, unit: u32, output: f32) {
    if step < sequence.words {
        values[lstm_layer.output + word * lstm_layer.output_stride + column / 4u][unit % 4u] = output;
    }
}

/// Takes bodies through their words. The first dimension of workgroups divides the bodies, the second is the direction.
@compute @workgroup_size(LSTM_UNITS)
fn run_sequences(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_id) invocation: vec3<u32>) {
    let unit = invocation.x;
    let reverse = workgroup.y != 0u;
    let column = workgroup.y * LSTM_UNITS + unit;
    let matrix = lstm_layer.matrix + workgroup.y * (2u * LSTM_VECTORS * LSTM_UNITS) + unit;
    let body = workgroup.x * LOOP_SEQUENCES;
    let sequence_0 = sequence_of(body);
    let sequence_1 = sequence_of(body + 1u);
    let sequence_2 = sequence_of(body + 2u);
    let sequence_3 = sequence_of(body + 3u);
    var cells = vec4<f32>(0.0);
    for (var index = unit; index < 2u * LOOP_SEQUENCES * LSTM_VECTORS; index += LSTM_UNITS) {
        lstm_outputs[index] = vec4<f32>(0.0);
    }
    workgroupBarrier();
    // The first body is the longest one.
    for (var step = 0u; step < sequence_0.words; step += 1u) {
        let word_0 = word_at(sequence_0, step, reverse);
        let word_1 = word_at(sequence_1, step, reverse);
        let word_2 = word_at(sequence_2, step, reverse);
        let word_3 = word_at(sequence_3, step, reverse);
        var gates_0 = projected_gates(word_0, column);
        var gates_1 = projected_gates(word_1, column);
        var gates_2 = projected_gates(word_2, column);
        var gates_3 = projected_gates(word_3, column);
        let before = (step % 2u) * (LOOP_SEQUENCES * LSTM_VECTORS);
        for (var input = 0u; input < LSTM_VECTORS; input += 1u) {
            let weights_of = block_at(matrix + 2u * input * LSTM_UNITS, LSTM_UNITS);
            gates_0 = with_products(gates_0, lstm_outputs[before + input], weights_of);
            gates_1 = with_products(gates_1, lstm_outputs[before + LSTM_VECTORS + input], weights_of);
            gates_2 = with_products(gates_2, lstm_outputs[before + 2u * LSTM_VECTORS + input], weights_of);
            gates_3 = with_products(gates_3, lstm_outputs[before + 3u * LSTM_VECTORS + input], weights_of);
        }
        let input_gates = logistic(vec4<f32>(gates_0.x, gates_1.x, gates_2.x, gates_3.x));
        let forget_gates = logistic(vec4<f32>(gates_0.y, gates_1.y, gates_2.y, gates_3.y));
        let candidates = tangent(vec4<f32>(gates_0.z, gates_1.z, gates_2.z, gates_3.z));
        let output_gates = logistic(vec4<f32>(gates_0.w, gates_1.w, gates_2.w, gates_3.w));
        cells = forget_gates * cells + input_gates * candidates;
        let outputs = output_gates * tangent(cells);
        let after = LOOP_SEQUENCES * LSTM_VECTORS - before + unit / 4u;
        lstm_outputs[after][unit % 4u] = outputs.x;
        lstm_outputs[after + LSTM_VECTORS][unit % 4u] = outputs.y;
        lstm_outputs[after + 2u * LSTM_VECTORS][unit % 4u] = outputs.z;
        lstm_outputs[after + 3u * LSTM_VECTORS][unit % 4u] = outputs.w;
        write_unit(sequence_0, step, word_0, column, unit, outputs.x);
        write_unit(sequence_1, step, word_1, column, unit, outputs.y);
        write_unit(sequence_2, step, word_2, column, unit, outputs.z);
        write_unit(sequence_3, step, word_3, column, unit, outputs.w);
        workgroupBarrier();
    }
}
