//! The kernel that compares the embedding of each body with the prototypes of all patterns.

import package::machine::layout::{LOOP_PATTERNS};
import package::networks::layers::bindings::{batch, values, vectors};
import package::networks::layers::sums::{component_sum};

/// The places of embeddings, prototypes and results.
struct CosineLayer {
    /// The first vector of the embeddings, a row for each body.
    embedding: u32,
    /// The first vector of the logits: the cosines multiplied with the temperature.
    logits: u32,
    /// The first vector of the cosines.
    cosines: u32,
    /// The distance between rows of embeddings, logits and cosines.
    stride: u32,
    /// The first vector of the prototypes, a row for each pattern.
    prototypes: u32,
    /// The vector that begins with the temperature.
    temperature: u32,
}

/// The layer.
@group(1) @binding(0) var<uniform> cosine_layer: CosineLayer;

/// The number of vectors of an embedding.
const EMBEDDING_VECTORS = 32u;
/// The smallest length that a cosine divides by.
const LENGTH_MIN = 1e-8;

/// The invocations of a workgroup.
override WORKGROUP_SIZE: u32 = 32u;

/// Compares the embedding of a body with one prototype for each invocation.
@compute @workgroup_size(WORKGROUP_SIZE)
fn cosines(@builtin(global_invocation_id) invocation: vec3<u32>) {
    let body = invocation.x / LOOP_PATTERNS;
    let pattern = invocation.x % LOOP_PATTERNS;
    if body >= batch.sequences {
        return;
    }
    let row = body * cosine_layer.stride;
    var product = vec4<f32>(0.0);
    var square = vec4<f32>(0.0);
    var prototype_square = vec4<f32>(0.0);
    for (var index = 0u; index < EMBEDDING_VECTORS; index += 1u) {
        let value = values[cosine_layer.embedding + row + index];
        let prototype = vectors[cosine_layer.prototypes + pattern * EMBEDDING_VECTORS + index];
        product = fma(value, prototype, product);
        square = fma(value, value, square);
        prototype_square = fma(prototype, prototype, prototype_square);
    }
    let length = max(sqrt(component_sum(square)), LENGTH_MIN);
    let prototype_length = max(sqrt(component_sum(prototype_square)), LENGTH_MIN);
    let cosine = component_sum(product) / length / prototype_length;
    values[cosine_layer.logits + row + pattern / 4u][pattern % 4u] = cosine * vectors[cosine_layer.temperature].x;
    values[cosine_layer.cosines + row + pattern / 4u][pattern % 4u] = cosine;
}
