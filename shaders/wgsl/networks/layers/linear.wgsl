//! The kernel of a linear layer: `weight` times each row, plus `bias`.
//!
//! An invocation computes eight outputs of `LINEAR_ROWS` rows. So a weight is unpacked once for these rows, and a value is
//! read once for these outputs. Neighbours read neighbouring weights, and the same values.

import package::machine::layout::{LINEAR_COLUMNS, LINEAR_ROWS, LINEAR_WORKGROUP};
import package::networks::layers::activation::{activated};
import package::networks::layers::bindings::{batch, values, vectors};
import package::networks::layers::blocks::{WeightBlock, block_at, with_products};

/// The place, shape and activation of a linear layer. Rows, inputs and outputs are counted in vectors of four.
struct LinearLayer {
    /// The number of rows for each sequence.
    rows_per_sequence: u32,
    /// The number of rows for each token.
    rows_per_token: u32,
    /// The first vector of the input.
    input: u32,
    /// The distance between rows of the input.
    input_stride: u32,
    /// The first vector of the output.
    output: u32,
    /// The distance between rows of the output.
    output_stride: u32,
    /// The number of vectors of an input.
    inputs: u32,
    /// The number of vectors of an output.
    outputs: u32,
    /// The first vector of the matrix.
    matrix: u32,
    /// The first vector of the bias.
    bias: u32,
    /// The activation, one of `ACTIVATION_*`.
    activation: u32,
    /// 1 if the result is added to the output, else 0.
    adds: u32,
}

/// The layer.
@group(1) @binding(0) var<uniform> linear_layer: LinearLayer;

/// The sums of the eight outputs of a row.
struct OutputSums {
    /// The sums of the first four outputs.
    left: vec4<f32>,
    /// The sums of the others.
    right: vec4<f32>,
}

/// Returns sums with the products of four inputs, at a place in `values`, and their weights.
fn with_inputs(sums: OutputSums, at: u32, left: WeightBlock, right: WeightBlock) -> OutputSums {
    let x = values[at];
    return OutputSums(with_products(sums.left, x, left), with_products(sums.right, x, right));
}

/// Writes four outputs of a row.
fn write_outputs(row: u32, outputs: u32, sum: vec4<f32>) {
    let at = linear_layer.output + row * linear_layer.output_stride + outputs;
    var result = sum + vectors[linear_layer.bias + outputs];
    if linear_layer.adds != 0u {
        result += values[at];
    }
    values[at] = activated(result, linear_layer.activation);
}

/// Writes the eight outputs of a row, as far as row and outputs exist.
fn write_row(row: u32, rows: u32, outputs: u32, sums: OutputSums) {
    if row < rows {
        write_outputs(row, outputs, sums.left);
        if outputs + 1u < linear_layer.outputs {
            write_outputs(row, outputs + 1u, sums.right);
        }
    }
}

/// Computes the outputs of some rows. The first dimension of workgroups divides the outputs, the second the rows. A
/// workgroup has `LINEAR_COLUMNS` invocations for each `LINEAR_ROWS` rows.
@compute @workgroup_size(LINEAR_WORKGROUP)
fn linear(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_id) invocation: vec3<u32>) {
    let rows = linear_layer.rows_per_sequence * batch.sequences + linear_layer.rows_per_token * batch.tokens;
    let row = (workgroup.y * (LINEAR_WORKGROUP / LINEAR_COLUMNS) + invocation.x / LINEAR_COLUMNS) * LINEAR_ROWS;
    let outputs = (workgroup.x * LINEAR_COLUMNS + invocation.x % LINEAR_COLUMNS) * 2u;
    if outputs >= linear_layer.outputs || row >= rows {
        return;
    }
    // Rows and outputs that do not exist are computed like the last ones, and not written.
    let stride = linear_layer.input_stride;
    let first = linear_layer.input;
    let end = rows - 1u;
    let row_0 = first + row * stride;
    let row_1 = first + min(row + 1u, end) * stride;
    let row_2 = first + min(row + 2u, end) * stride;
    let row_3 = first + min(row + 3u, end) * stride;
    let row_4 = first + min(row + 4u, end) * stride;
    let row_5 = first + min(row + 5u, end) * stride;
    let row_6 = first + min(row + 6u, end) * stride;
    let row_7 = first + min(row + 7u, end) * stride;
    var sums_0 = OutputSums();
    var sums_1 = OutputSums();
    var sums_2 = OutputSums();
    var sums_3 = OutputSums();
    var sums_4 = OutputSums();
    var sums_5 = OutputSums();
    var sums_6 = OutputSums();
    var sums_7 = OutputSums();
    var left_at = linear_layer.matrix + outputs;
    var right_at = linear_layer.matrix + min(outputs + 1u, linear_layer.outputs - 1u);
    for (var input = 0u; input < linear_layer.inputs; input += 1u) {
        let left = block_at(left_at, linear_layer.outputs);
        let right = block_at(right_at, linear_layer.outputs);
        left_at += 2u * linear_layer.outputs;
        right_at += 2u * linear_layer.outputs;
        sums_0 = with_inputs(sums_0, row_0 + input, left, right);
        sums_1 = with_inputs(sums_1, row_1 + input, left, right);
        sums_2 = with_inputs(sums_2, row_2 + input, left, right);
        sums_3 = with_inputs(sums_3, row_3 + input, left, right);
        sums_4 = with_inputs(sums_4, row_4 + input, left, right);
        sums_5 = with_inputs(sums_5, row_5 + input, left, right);
        sums_6 = with_inputs(sums_6, row_6 + input, left, right);
        sums_7 = with_inputs(sums_7, row_7 + input, left, right);
    }
    write_row(row, rows, outputs, sums_0);
    write_row(row + 1u, rows, outputs, sums_1);
    write_row(row + 2u, rows, outputs, sums_2);
    write_row(row + 3u, rows, outputs, sums_3);
    write_row(row + 4u, rows, outputs, sums_4);
    write_row(row + 5u, rows, outputs, sums_5);
    write_row(row + 6u, rows, outputs, sums_6);
    write_row(row + 7u, rows, outputs, sums_7);
}
