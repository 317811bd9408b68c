//! The kernel of a multi-head attention between its products: scores, softmax and weighted sums.

import package::machine::layout::{SEQUENCE_TOKENS};
import package::networks::elementary::{exponential};
import package::networks::layers::bindings::{sequences, values};
import package::networks::layers::sums::{component_sum};

/// The places and the shape of an attention. Columns of heads follow each other in all rows.
struct AttentionLayer {
    /// The first vector of the queries, a row for each token.
    query: u32,
    /// The distance between queries.
    query_stride: u32,
    /// The first vector of the keys.
    key: u32,
    /// The first vector of the values.
    value: u32,
    /// The distance between keys, and between values.
    key_stride: u32,
    /// The number of keys of each sequence, or 0 if each token has one.
    keys_per_sequence: u32,
    /// The first vector of the output, a row for each token.
    output: u32,
    /// The distance between rows of the output.
    output_stride: u32,
    /// The number of vectors of a head.
    head_vectors: u32,
    /// The factor of the scores.
    scale: f32,
}

/// The layer.
@group(1) @binding(0) var<uniform> attention_layer: AttentionLayer;

/// The invocations of a workgroup.
const ATTENTION_WORKGROUP = 128u;

/// The score of each key for each query, then its probability.
var<workgroup> attention_scores: array<f32, SEQUENCE_TOKENS * SEQUENCE_TOKENS>;

/// Computes the weighted sums of a head for all tokens of a sequence. The first dimension of workgroups is the sequence, the
/// second the head.
@compute @workgroup_size(ATTENTION_WORKGROUP)
fn attention(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_id) invocation: vec3<u32>) {
    let sequence = sequences[workgroup.x];
    let is_own = attention_layer.keys_per_sequence == 0u;
    let keys = select(attention_layer.keys_per_sequence, sequence.tokens, is_own);
    let first_key = select(workgroup.x * attention_layer.keys_per_sequence, sequence.first, is_own);
    let width = attention_layer.head_vectors;
    let column = workgroup.y * width;
    let query_at = attention_layer.query + sequence.first * attention_layer.query_stride + column;
    let key_at = attention_layer.key + first_key * attention_layer.key_stride + column;
    let value_at = attention_layer.value + first_key * attention_layer.key_stride + column;
    let output_at = attention_layer.output + sequence.first * attention_layer.output_stride + column;

    for (var pair = invocation.x; pair < sequence.tokens * SEQUENCE_TOKENS; pair += ATTENTION_WORKGROUP) {
        let query = query_at + (pair / SEQUENCE_TOKENS) * attention_layer.query_stride;
        // Keys that do not exist get the score of the last one, which is not used.
        let key = key_at + min(pair % SEQUENCE_TOKENS, keys - 1u) * attention_layer.key_stride;
        var sum = vec4<f32>(0.0);
        for (var index = 0u; index < width; index += 1u) {
            sum = fma(values[query + index], values[key + index], sum);
        }
        attention_scores[pair] = component_sum(sum) * attention_layer.scale;
    }
    workgroupBarrier();

    if invocation.x < sequence.tokens {
        let row = invocation.x * SEQUENCE_TOKENS;
        var greatest = attention_scores[row];
        for (var key = 1u; key < keys; key += 1u) {
            greatest = max(greatest, attention_scores[row + key]);
        }
        var sum = 0.0;
        for (var key = 0u; key < keys; key += 1u) {
            let part = exponential(vec4<f32>(attention_scores[row + key] - greatest)).x;
            attention_scores[row + key] = part;
            sum += part;
        }
        let scale = 1.0 / sum;
        for (var key = 0u; key < keys; key += 1u) {
            attention_scores[row + key] *= scale;
        }
    }
    workgroupBarrier();

    for (var item = invocation.x; item < sequence.tokens * width; item += ATTENTION_WORKGROUP) {
        let token = item / width;
        let index = item % width;
        var sum = vec4<f32>(0.0);
        for (var key = 0u; key < keys; key += 1u) {
            let probability = attention_scores[token * SEQUENCE_TOKENS + key];
            sum = fma(vec4<f32>(probability), values[value_at + key * attention_layer.key_stride + index], sum);
        }
        values[output_at + token * attention_layer.output_stride + index] = sum;
    }
}
