//! The kernel that evaluates a dispatch network on some tuples, each by all invocations of a workgroup together.

import package::machine::layout::{CLASSES, SHARED_STRIDE, TOGETHER_WORDS};
import package::networks::dispatch_together::{MEMBERS, evaluate_together, load_together};
import package::networks::logits::{greatest, logit_bits};

/// The class of each tuple, followed by the bits of its logits.
@group(0) @binding(0) var<storage, read_write> answers_together: array<u32>;

/// Evaluates the network on one tuple per workgroup.
@compute @workgroup_size(MEMBERS)
fn ask_together(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) member: u32) {
    load_together(member);
    workgroupBarrier();
    let outputs = evaluate_together(workgroup.x * SHARED_STRIDE, member);
    let at = workgroup.x * TOGETHER_WORDS;
    if member != 0u || at + TOGETHER_WORDS > arrayLength(&answers_together) {
        return;
    }
    answers_together[at] = greatest(outputs);
    for (var class_number = 0u; class_number < CLASSES; class_number += 1u) {
        answers_together[at + 1u + class_number] = logit_bits(outputs, class_number);
    }
}
