//! The kernel of a linear layer: `weight` times each row, plus `bias`.
//!
//! An invocation computes eight outputs of `LOOP_ROWS` rows. So a weight is unpacked once for these rows, and a value is
//! read once for these outputs. Neighbours read neighbouring weights, and the same values.

import package::machine::layout::{LINEAR_COLUMNS, LINEAR_WORKGROUP, LOOP_ROWS};
import package::networks::loops::activation::{activated};
import package::networks::loops::bindings::{batch, values, vectors};
import package::networks::loops::blocks::{block_at, with_products};

/// The place, shape and activation of a linear layer. Rows, inputs and outputs are counted in vectors of four.
struct LinearLayer {
    /// The number of rows for each body.
    rows_per_body: u32,
    /// The number of rows for each word.
    rows_per_word: u32,
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

/// Writes four outputs of a row, if row and outputs exist.
fn write_outputs(row: u32, rows: u32, outputs: u32, sum: vec4<f32>) {
    if row < rows && outputs < linear_layer.outputs {
        let at = linear_layer.output + row * linear_layer.output_stride + outputs;
        var result = sum + vectors[linear_layer.bias + outputs];
        if linear_layer.adds != 0u {
            result += values[at];
        }
        values[at] = activated(result, linear_layer.activation);
    }
}

/// Computes the outputs of some rows. The first dimension of workgroups divides the outputs, the second the rows. A
/// workgroup has `LINEAR_COLUMNS` invocations for each `LOOP_ROWS` rows.
@compute @workgroup_size(LINEAR_WORKGROUP)
fn linear(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_id) invocation: vec3<u32>) {
    let rows = linear_layer.rows_per_body * batch.bodies + linear_layer.rows_per_word * batch.words;
    let row = (workgroup.y * (LINEAR_WORKGROUP / LINEAR_COLUMNS) + invocation.x / LINEAR_COLUMNS) * LOOP_ROWS;
    let outputs = (workgroup.x * LINEAR_COLUMNS + invocation.x % LINEAR_COLUMNS) * 2u;
    if outputs >= linear_layer.outputs || row >= rows {
        return;
    }
    // Rows and outputs behind the last ones are computed as the last ones and not written.
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
    var left_0 = vec4<f32>(0.0);
    var right_0 = vec4<f32>(0.0);
    var left_1 = vec4<f32>(0.0);
    var right_1 = vec4<f32>(0.0);
    var left_2 = vec4<f32>(0.0);
    var right_2 = vec4<f32>(0.0);
    var left_3 = vec4<f32>(0.0);
    var right_3 = vec4<f32>(0.0);
    var left_4 = vec4<f32>(0.0);
    var right_4 = vec4<f32>(0.0);
    var left_5 = vec4<f32>(0.0);
    var right_5 = vec4<f32>(0.0);
    var left_6 = vec4<f32>(0.0);
    var right_6 = vec4<f32>(0.0);
    var left_7 = vec4<f32>(0.0);
    var right_7 = vec4<f32>(0.0);
    var left_at = linear_layer.matrix + outputs;
    var right_at = linear_layer.matrix + min(outputs + 1u, linear_layer.outputs - 1u);
    for (var input = 0u; input < linear_layer.inputs; input += 1u) {
        let left = block_at(left_at, linear_layer.outputs);
        let right = block_at(right_at, linear_layer.outputs);
        left_at += 2u * linear_layer.outputs;
        right_at += 2u * linear_layer.outputs;
        let x_0 = values[row_0 + input];
        left_0 = with_products(left_0, x_0, left);
        right_0 = with_products(right_0, x_0, right);
        let x_1 = values[row_1 + input];
        left_1 = with_products(left_1, x_1, left);
        right_1 = with_products(right_1, x_1, right);
        let x_2 = values[row_2 + input];
        left_2 = with_products(left_2, x_2, left);
        right_2 = with_products(right_2, x_2, right);
        let x_3 = values[row_3 + input];
        left_3 = with_products(left_3, x_3, left);
        right_3 = with_products(right_3, x_3, right);
        let x_4 = values[row_4 + input];
        left_4 = with_products(left_4, x_4, left);
        right_4 = with_products(right_4, x_4, right);
        let x_5 = values[row_5 + input];
        left_5 = with_products(left_5, x_5, left);
        right_5 = with_products(right_5, x_5, right);
        let x_6 = values[row_6 + input];
        left_6 = with_products(left_6, x_6, left);
        right_6 = with_products(right_6, x_6, right);
        let x_7 = values[row_7 + input];
        left_7 = with_products(left_7, x_7, left);
        right_7 = with_products(right_7, x_7, right);
    }
    write_outputs(row, rows, outputs, left_0);
    write_outputs(row, rows, outputs + 1u, right_0);
    write_outputs(row + 1u, rows, outputs, left_1);
    write_outputs(row + 1u, rows, outputs + 1u, right_1);
    write_outputs(row + 2u, rows, outputs, left_2);
    write_outputs(row + 2u, rows, outputs + 1u, right_2);
    write_outputs(row + 3u, rows, outputs, left_3);
    write_outputs(row + 3u, rows, outputs + 1u, right_3);
    write_outputs(row + 4u, rows, outputs, left_4);
    write_outputs(row + 4u, rows, outputs + 1u, right_4);
    write_outputs(row + 5u, rows, outputs, left_5);
    write_outputs(row + 5u, rows, outputs + 1u, right_5);
    write_outputs(row + 6u, rows, outputs, left_6);
    write_outputs(row + 6u, rows, outputs + 1u, right_6);
    write_outputs(row + 7u, rows, outputs, left_7);
    write_outputs(row + 7u, rows, outputs + 1u, right_7);
}
