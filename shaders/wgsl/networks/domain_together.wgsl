//! A dispatch network on some tuples, each evaluated by a workgroup together.

import package::networks::dispatch_together::{MEMBERS, evaluate_together, load_together};
import package::networks::logits::{greatest};

/// Of each tuple the class, and then the bits of the logits.
@group(0) @binding(0) var<storage, read_write> answers_together: array<u32>;

/// How far the next tuple is.
const TUPLE_STRIDE = 61u;
/// Words of a tuple.
const TUPLE_WORDS = 8u;

/// Evaluates the network on a workgroup's tuple.
@compute @workgroup_size(MEMBERS)
fn ask_together(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) member: u32) {
    load_together(member);
    workgroupBarrier();
    let outputs = evaluate_together(workgroup.x * TUPLE_STRIDE, member);
    let at = workgroup.x * TUPLE_WORDS;
    if member != 0u || at + TUPLE_WORDS > arrayLength(&answers_together) {
        return;
    }
    answers_together[at] = greatest(outputs);
    answers_together[at + 1u] = bitcast<u32>(outputs.low.x);
    answers_together[at + 2u] = bitcast<u32>(outputs.low.y);
    answers_together[at + 3u] = bitcast<u32>(outputs.low.z);
    answers_together[at + 4u] = bitcast<u32>(outputs.low.w);
    answers_together[at + 5u] = bitcast<u32>(outputs.high.x);
    answers_together[at + 6u] = bitcast<u32>(outputs.high.y);
    answers_together[at + 7u] = bitcast<u32>(outputs.high.z);
}
