//! The kernel of a multi-head attention between its products: scores, softmax and weighted sums.

import package::machine::layout::{LOOP_WORDS};
import package::networks::elementary::{exponential};
import package::networks::loops::bindings::{bodies, values};
import package::networks::loops::sums::{component_sum};

/// The places and the shape of an attention. Columns of heads follow each other in all rows.
struct AttentionLayer {
    /// The first vector of the queries, a row for each word.
    query: u32,
    /// The distance between queries.
    query_stride: u32,
    /// The first vector of the keys.
    key: u32,
    /// The first vector of the values.
    value: u32,
    /// The distance between keys, and between values.
    key_stride: u32,
    /// The number of keys of each body, or 0 if each word has one.
    keys_per_body: u32,
    /// The first vector of the output, a row for each word.
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
var<workgroup> attention_scores: array<f32, LOOP_WORDS * LOOP_WORDS>;

/// Computes the weighted sums of a head for all words of a body. The first dimension of workgroups is the body, the second
/// the head.
@compute @workgroup_size(ATTENTION_WORKGROUP)
fn attention(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_id) invocation: vec3<u32>) {
    let body = bodies[workgroup.x];
    let is_own = attention_layer.keys_per_body == 0u;
    let keys = select(attention_layer.keys_per_body, body.words, is_own);
    let first_key = select(workgroup.x * attention_layer.keys_per_body, body.first, is_own);
    let width = attention_layer.head_vectors;
    let column = workgroup.y * width;
    let query_at = attention_layer.query + body.first * attention_layer.query_stride + column;
    let key_at = attention_layer.key + first_key * attention_layer.key_stride + column;
    let value_at = attention_layer.value + first_key * attention_layer.key_stride + column;
    let output_at = attention_layer.output + body.first * attention_layer.output_stride + column;

    for (var pair = invocation.x; pair < body.words * LOOP_WORDS; pair += ATTENTION_WORKGROUP) {
        let query = query_at + (pair / LOOP_WORDS) * attention_layer.query_stride;
        // Keys that do not exist get the score of the last one, which is not used.
        let key = key_at + min(pair % LOOP_WORDS, keys - 1u) * attention_layer.key_stride;
        var sum = vec4<f32>(0.0);
        for (var index = 0u; index < width; index += 1u) {
            sum = fma(values[query + index], values[key + index], sum);
        }
        attention_scores[pair] = component_sum(sum) * attention_layer.scale;
    }
    workgroupBarrier();

    if invocation.x < body.words {
        let row = invocation.x * LOOP_WORDS;
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

    for (var item = invocation.x; item < body.words * width; item += ATTENTION_WORKGROUP) {
        let word = item / width;
        let index = item % width;
        var sum = vec4<f32>(0.0);
        for (var key = 0u; key < keys; key += 1u) {
            let probability = attention_scores[word * LOOP_WORDS + key];
            sum = fma(vec4<f32>(probability), values[value_at + key * attention_layer.key_stride + index], sum);
        }
        values[output_at + word * attention_layer.output_stride + index] = sum;
    }
}
