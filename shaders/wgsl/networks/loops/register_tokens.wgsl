//! The kernel that describes each register by the instructions of a body that use it.

import package::machine::layout::{SEQUENCE_TOKENS};
import package::networks::layers::bindings::{sequences, values};
import package::networks::loops::softmax::{LOGIT_VECTORS, softmax_of, softmax_scale};

/// The places of register tokens.
struct RegisterLayer {
    /// The first vector of the logits of the pointers Rd, Rn and Rm, a row for each word.
    pointers: u32,
    /// The distance between these rows.
    pointers_stride: u32,
    /// The first vector of the instructions, a row for each word.
    instructions: u32,
    /// The distance between instructions.
    instructions_stride: u32,
    /// The first vector of the output, a row for each of the 32 registers of each body.
    output: u32,
    /// The distance between rows of the output.
    output_stride: u32,
}

/// The layer.
@group(1) @binding(0) var<uniform> register_layer: RegisterLayer;

/// The number of pointers of a word.
const POINTERS = 3u;
/// The number of vectors of an instruction, and of invocations of a workgroup.
const INSTRUCTION_VECTORS = 32u;
/// The number of registers.
const LOOP_REGISTERS = 32u;
/// The number of registers for which a workgroup computes the output: a vector of pointers.
const REGISTERS_AT_ONCE = 4u;

/// For each word, the sums of its pointers to the registers of the workgroup.
var<workgroup> pointer_sums: array<vec4<f32>, SEQUENCE_TOKENS>;

/// Writes the sum of all instructions, each weighted with its pointers to a register, for four registers. The first
/// dimension of workgroups is the body, the second divides the registers.
@compute @workgroup_size(INSTRUCTION_VECTORS)
fn register_tokens(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_id) invocation: vec3<u32>) {
    let body = sequences[workgroup.x];
    if invocation.x < body.tokens {
        var sum = vec4<f32>(0.0);
        for (var pointer = 0u; pointer < POINTERS; pointer += 1u) {
            let first = register_layer.pointers + (body.first + invocation.x) * register_layer.pointers_stride
                + pointer * LOGIT_VECTORS;
            sum += softmax_of(values[first + workgroup.y], softmax_scale(first));
        }
        pointer_sums[invocation.x] = sum;
    }
    workgroupBarrier();
    var uses_0 = vec4<f32>(0.0);
    var uses_1 = vec4<f32>(0.0);
    var uses_2 = vec4<f32>(0.0);
    var uses_3 = vec4<f32>(0.0);
    for (var word = 0u; word < body.tokens; word += 1u) {
        let instruction = values[register_layer.instructions
            + (body.first + word) * register_layer.instructions_stride + invocation.x];
        let weights_of_word = pointer_sums[word];
        uses_0 += weights_of_word.x * instruction;
        uses_1 += weights_of_word.y * instruction;
        uses_2 += weights_of_word.z * instruction;
        uses_3 += weights_of_word.w * instruction;
    }
    let row = workgroup.x * LOOP_REGISTERS + workgroup.y * REGISTERS_AT_ONCE;
    let at = register_layer.output + row * register_layer.output_stride + invocation.x;
    values[at] = uses_0;
    values[at + register_layer.output_stride] = uses_1;
    values[at + 2u * register_layer.output_stride] = uses_2;
    values[at + 3u * register_layer.output_stride] = uses_3;
}
