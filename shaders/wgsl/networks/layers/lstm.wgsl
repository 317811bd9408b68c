//! The kernel of a layer of an LSTM of 128 units, in one direction or in both. The products with its inputs, which do not
//! depend on the order of tokens, are computed before.
//!
//! A workgroup takes `LSTM_SEQUENCES` sequences in one direction through their tokens. An invocation has a unit: its four
//! gates are a vector. So a weight is unpacked once for all sequences of the workgroup, and a step needs one barrier.

import package::machine::layout::{LSTM_SEQUENCES};
import package::networks::elementary::{logistic, tangent};
import package::networks::layers::bindings::{TokenSequence, batch, sequences, values};
import package::networks::layers::blocks::{block_at, with_products};

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
    /// 1 if the output has a row for each sequence, with what its last step gives. 0 if it has a row for each token.
    only_last: u32,
}

/// The layer.
@group(1) @binding(0) var<uniform> lstm_layer: LstmLayer;

/// The number of units, and of invocations of a workgroup.
const LSTM_UNITS = 128u;
/// The number of vectors of the outputs of a sequence.
const LSTM_VECTORS = 32u;

/// The outputs of the previous step and of this one, for each sequence of the workgroup.
var<workgroup> lstm_outputs: array<vec4<f32>, 2u * LSTM_SEQUENCES * LSTM_VECTORS>;

/// Returns a sequence, which has no tokens if there is none with this number.
fn sequence_of(number: u32) -> TokenSequence {
    if number < batch.sequences {
        return sequences[number];
    }
    return TokenSequence(0u, 0u);
}

/// Returns the index of the token at which a sequence is in a step. Behind its end this is its last token in its direction.
fn token_at(sequence: TokenSequence, step: u32, reverse: bool) -> u32 {
    let end = max(sequence.tokens, 1u) - 1u;
    let index = min(step, end);
    return sequence.first + select(index, end - index, reverse);
}

/// Returns the gates of a unit of a sequence in a step, without the products with previous outputs.
fn projected_gates(token: u32, column: u32) -> vec4<f32> {
    return values[lstm_layer.projected + token * lstm_layer.projected_stride + column];
}

/// Writes the output of a unit in a step to a row, if the sequence is not behind its end and all steps or this one are
/// wanted.
fn write_unit(sequence: TokenSequence, step: u32, row: u32, column: u32, output: f32) {
    let first_wanted = select(0u, sequence.tokens - 1u, lstm_layer.only_last != 0u);
    if step < sequence.tokens && step >= first_wanted {
        values[lstm_layer.output + row * lstm_layer.output_stride + column / 4u][column % 4u] = output;
    }
}

/// Takes sequences through their tokens. The first dimension of workgroups divides the sequences, the second is the
/// direction.
@compute @workgroup_size(LSTM_UNITS)
fn run_sequences(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_id) invocation: vec3<u32>) {
    let unit = invocation.x;
    let reverse = workgroup.y != 0u;
    let column = workgroup.y * LSTM_UNITS + unit;
    let matrix = lstm_layer.matrix + workgroup.y * (2u * LSTM_VECTORS * LSTM_UNITS) + unit;
    let number = workgroup.x * LSTM_SEQUENCES;
    let sequence_0 = sequence_of(number);
    let sequence_1 = sequence_of(number + 1u);
    let sequence_2 = sequence_of(number + 2u);
    let sequence_3 = sequence_of(number + 3u);
    let has_row_each = lstm_layer.only_last == 0u;
    var cells = vec4<f32>(0.0);
    for (var index = unit; index < 2u * LSTM_SEQUENCES * LSTM_VECTORS; index += LSTM_UNITS) {
        lstm_outputs[index] = vec4<f32>(0.0);
    }
    workgroupBarrier();
    // The first sequence is the longest one.
    for (var step = 0u; step < sequence_0.tokens; step += 1u) {
        let token_0 = token_at(sequence_0, step, reverse);
        let token_1 = token_at(sequence_1, step, reverse);
        let token_2 = token_at(sequence_2, step, reverse);
        let token_3 = token_at(sequence_3, step, reverse);
        var gates_0 = projected_gates(token_0, column);
        var gates_1 = projected_gates(token_1, column);
        var gates_2 = projected_gates(token_2, column);
        var gates_3 = projected_gates(token_3, column);
        let before = (step % 2u) * (LSTM_SEQUENCES * LSTM_VECTORS);
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
        let after = LSTM_SEQUENCES * LSTM_VECTORS - before + unit / 4u;
        lstm_outputs[after][unit % 4u] = outputs.x;
        lstm_outputs[after + LSTM_VECTORS][unit % 4u] = outputs.y;
        lstm_outputs[after + 2u * LSTM_VECTORS][unit % 4u] = outputs.z;
        lstm_outputs[after + 3u * LSTM_VECTORS][unit % 4u] = outputs.w;
        write_unit(sequence_0, step, select(number, token_0, has_row_each), column, outputs.x);
        write_unit(sequence_1, step, select(number + 1u, token_1, has_row_each), column, outputs.y);
        write_unit(sequence_2, step, select(number + 2u, token_2, has_row_each), column, outputs.z);
        write_unit(sequence_3, step, select(number + 3u, token_3, has_row_each), column, outputs.w);
        workgroupBarrier();
    }
}
