//! The bindings of the kernels of the networks that look at loops.

/// The size of a batch of bodies.
struct LoopBatch {
    /// The number of bodies.
    bodies: u32,
    /// The number of words of all bodies.
    words: u32,
}

/// A body of a loop.
struct LoopBody {
    /// The index of the first word.
    first: u32,
    /// The number of words, from 1 to `LOOP_WORDS`.
    words: u32,
    /// The low word of the address of the first word.
    pc: u32,
}

/// A word of a body.
struct LoopWord {
    /// The word.
    word: u32,
    /// The index of the word in its body.
    position: u32,
}

/// The size of the batch.
@group(0) @binding(0) var<storage, read> batch: LoopBatch;
/// The bodies, longest first.
@group(0) @binding(1) var<storage, read> bodies: array<LoopBody>;
/// The words of all bodies, body by body.
@group(0) @binding(2) var<storage, read> loop_words: array<LoopWord>;
/// The numbers of each body: 32 registers, the distance from the exit, and the step.
@group(0) @binding(3) var<storage, read> loop_numbers: array<u64>;
/// The matrices of all layers in half precision. A matrix has a row for each pair of inputs, and in it a vector for
/// four outputs: two words for the first input of the pair, then two for the second.
@group(0) @binding(4) var<storage, read> matrices: array<vec4<u32>>;
/// The biases, the factors and biases of layer norms, the prototypes and the temperature.
@group(0) @binding(5) var<storage, read> vectors: array<vec4<f32>>;
/// The inputs, intermediate values and results. A matrix of values has its first vector, and a stride between rows.
@group(0) @binding(6) var<storage, read_write> values: array<vec4<f32>>;
