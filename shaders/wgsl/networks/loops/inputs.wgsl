//! The kernels that compute the inputs of the networks from words and registers.

import package::networks::layers::bindings::{batch, matrices, values};
import package::networks::layers::blocks::{unpacked};
import package::networks::layers::magnitudes::{magnitudes};

/// The places of inputs.
struct InputLayer {
    /// The first vector of the fields of words, which the host writes: eight vectors for each word.
    fields: u32,
    /// The first vector of the features of words: eight vectors of bits, then eight of fields.
    features: u32,
    /// The first vector of the embeddings of words.
    tokens: u32,
    /// The first vector of the rows of an embedding for each top byte, in `matrices`.
    opcodes: u32,
    /// The first vector of the rows of an embedding for each position, in `matrices`.
    positions: u32,
    /// The first vector of the encodings of single registers, 32 rows for each body.
    single: u32,
    /// The first vector of the encodings of all registers, a row for each body.
    registers: u32,
    /// The first vector of the numbers of the iteration predictor.
    iteration: u32,
    /// The distance between these vectors.
    iteration_stride: u32,
}

/// A word of a body.
struct LoopWord {
    /// The word.
    word: u32,
    /// The index of the word in its body.
    position: u32,
}

/// The layer.
@group(1) @binding(0) var<uniform> input_layer: InputLayer;
/// The words of all bodies, body by body.
@group(1) @binding(1) var<storage, read> loop_words: array<LoopWord>;
/// The numbers of each body: 32 registers, the distance from the exit, the step, and the address of the first word.
@group(1) @binding(2) var<storage, read> loop_numbers: array<u64>;

/// The invocations of a workgroup.
override WORKGROUP_SIZE: u32 = 32u;

/// The number of vectors of bits or fields of a word, and of registers.
const FIELD_VECTORS = 8u;
/// The number of vectors of an embedding of a word.
const TOKEN_VECTORS = 32u;
/// The number of vectors of a row of embeddings in `matrices`, which have eight weights each.
const PACKED_VECTORS = 16u;
/// The number of numbers of a body.
const NUMBERS = 35u;
/// The index of the distance from the exit in these numbers. The step and the address follow.
const DISTANCE = 32u;
/// log10(2) / 10.
const REGISTER_SCALE = 0.030102999566;

/// Returns -1, 0 or 1, the sign of a number read as signed.
fn sign_of(number: u64) -> f32 {
    if number == 0lu {
        return 0.0;
    }
    return select(1.0, -1.0, i64(number) < 0li);
}

/// Writes the bits and fields of words: a vector of each for an invocation.
@compute @workgroup_size(WORKGROUP_SIZE)
fn word_features(@builtin(global_invocation_id) invocation: vec3<u32>) {
    let word = invocation.x / FIELD_VECTORS;
    let index = invocation.x % FIELD_VECTORS;
    if word >= batch.tokens {
        return;
    }
    let bits = vec4<u32>(loop_words[word].word) >> (vec4<u32>(4u * index) + vec4<u32>(0u, 1u, 2u, 3u));
    let at = input_layer.features + word * (2u * FIELD_VECTORS) + index;
    values[at] = vec4<f32>(bits & vec4<u32>(1u));
    values[at + FIELD_VECTORS] = values[input_layer.fields + word * FIELD_VECTORS + index];
}

/// Writes the sum of the embeddings of the top byte and of the position of words: two vectors for an invocation.
@compute @workgroup_size(WORKGROUP_SIZE)
fn word_embeddings(@builtin(global_invocation_id) invocation: vec3<u32>) {
    let word = invocation.x / PACKED_VECTORS;
    let index = invocation.x % PACKED_VECTORS;
    if word >= batch.tokens {
        return;
    }
    let of_word = loop_words[word];
    let opcode = matrices[input_layer.opcodes + (of_word.word >> 24u) * PACKED_VECTORS + index];
    let position = matrices[input_layer.positions + of_word.position * PACKED_VECTORS + index];
    let at = input_layer.tokens + word * TOKEN_VECTORS + 2u * index;
    values[at] = unpacked(opcode.x, opcode.y) + unpacked(position.x, position.y);
    values[at + 1u] = unpacked(opcode.z, opcode.w) + unpacked(position.z, position.w);
}

/// Writes the encodings of four registers for an invocation: for each register alone, with zeros for the others, and for
/// all of them.
@compute @workgroup_size(WORKGROUP_SIZE)
fn register_features(@builtin(global_invocation_id) invocation: vec3<u32>) {
    let body = invocation.x / FIELD_VECTORS;
    let index = invocation.x % FIELD_VECTORS;
    if body >= batch.sequences {
        return;
    }
    let first = body * NUMBERS + 4u * index;
    let a = loop_numbers[first];
    let b = loop_numbers[first + 1u];
    let c = loop_numbers[first + 2u];
    let d = loop_numbers[first + 3u];
    let signs = vec4<f32>(sign_of(a), sign_of(b), sign_of(c), sign_of(d));
    let encoding = signs * magnitudes(a, b, c, d) * REGISTER_SCALE;
    let flags = abs(signs);
    let row = 2u * FIELD_VECTORS;
    let all = input_layer.registers + body * row + index;
    values[all] = encoding;
    values[all + FIELD_VECTORS] = flags;
    let numbers = vec4<u32>(4u * index) + vec4<u32>(0u, 1u, 2u, 3u);
    for (var single = 0u; single < 4u * FIELD_VECTORS; single += 1u) {
        let only = vec4<f32>(numbers == vec4<u32>(single));
        let at = input_layer.single + (body * 4u * FIELD_VECTORS + single) * row + index;
        values[at] = encoding * only;
        values[at + FIELD_VECTORS] = flags * only;
    }
}

/// Writes the numbers of the iteration predictor of a body for an invocation: distance, step and place.
@compute @workgroup_size(WORKGROUP_SIZE)
fn iteration_features(@builtin(global_invocation_id) invocation: vec3<u32>) {
    let body = invocation.x;
    if body >= batch.sequences {
        return;
    }
    let distance = loop_numbers[body * NUMBERS + DISTANCE];
    let step = loop_numbers[body * NUMBERS + DISTANCE + 1u];
    let scaled = magnitudes(distance, step, 0lu, 0lu) / 64.0;
    let pc = u32(loop_numbers[body * NUMBERS + DISTANCE + 2u]);
    let place = f32(pc & 0xfffffu) / 1048576.0;
    values[input_layer.iteration + body * input_layer.iteration_stride] = vec4<f32>(scaled.xy, place, 0.0);
}
