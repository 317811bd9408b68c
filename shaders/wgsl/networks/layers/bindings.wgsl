//! The bindings of the kernels of layers, which evaluate networks on batches of sequences: the words of the body of a loop,
//! or the accesses of a window. Each word or access is a token.

/// The size of a batch.
struct SequenceBatch {
    /// The number of sequences.
    sequences: u32,
    /// The number of tokens of all sequences.
    tokens: u32,
}

/// A sequence of tokens.
struct TokenSequence {
    /// The index of the first token.
    first: u32,
    /// The number of tokens, from 1 to `SEQUENCE_TOKENS`.
    tokens: u32,
}

/// The size of the batch.
@group(0) @binding(0) var<storage, read> batch: SequenceBatch;
/// The sequences, longest first. Their tokens follow one another.
@group(0) @binding(1) var<storage, read> sequences: array<TokenSequence>;
/// The matrices of all layers in half precision. A matrix has a row for each pair of inputs, and in it a vector for
/// four outputs: two words for the first input of the pair, then two for the second.
@group(0) @binding(2) var<storage, read> matrices: array<vec4<u32>>;
/// The biases, the factors and biases of layer norms, and other parameters in single precision.
@group(0) @binding(3) var<storage, read> vectors: array<vec4<f32>>;
/// The inputs, intermediate values and results. A matrix of values has its first vector, and a stride between rows.
@group(0) @binding(4) var<storage, read_write> values: array<vec4<f32>>;
