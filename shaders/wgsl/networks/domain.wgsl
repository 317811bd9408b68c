//! A dispatch network on all tuples: the table of its answers, or the logits to compare with the host's.

import package::machine::layout::{CLASSES, SHARED_STRIDE};
import package::networks::dispatch::{decide, evaluate, load_weights};
import package::networks::logits::{logit_bits};

/// The answers by tuple, four to a word; or the bits of logits, those of a tuple together.
@group(0) @binding(0) var<storage, read_write> answers: array<u32>;

/// Invocations of a workgroup.
override WORKGROUP_SIZE: u32 = 64u;

/// Fills the table: an invocation has four tuples. One of a workgroup's is everybody's, as that is where invocations
/// may share work, which has to be right, too.
@compute @workgroup_size(WORKGROUP_SIZE)
fn fill_domain(
    @builtin(global_invocation_id) invocation: vec3<u32>,
    @builtin(local_invocation_index) member: u32,
    @builtin(workgroup_id) workgroup: vec3<u32>,
) {
    load_weights(member, WORKGROUP_SIZE);
    workgroupBarrier();
    let tuples = 4u * WORKGROUP_SIZE;
    let shared_tuple = workgroup.x * tuples + workgroup.x % tuples;
    let own = 4u * invocation.x;
    var packed = 0u;
    var shared_class = 0u;
    // The shared one is the first, so that it is evaluated by all.
    for (var count = 0u; count < 5u; count += 1u) {
        let tuple = select(own + count - 1u, shared_tuple, count == 0u);
        let class_number = decide(tuple);
        if count == 0u {
            shared_class = class_number;
        } else {
            packed |= select(class_number, shared_class, tuple == shared_tuple) << (8u * (tuple & 3u));
        }
    }
    if invocation.x < arrayLength(&answers) {
        answers[invocation.x] = packed;
    }
}

/// The logits of an invocation's tuple.
@compute @workgroup_size(WORKGROUP_SIZE)
fn domain_logits(@builtin(global_invocation_id) invocation: vec3<u32>, @builtin(local_invocation_index) member: u32) {
    load_weights(member, WORKGROUP_SIZE);
    workgroupBarrier();
    keep_logits(invocation.x);
}

/// The logits of a workgroup's tuple, which all its invocations evaluate.
@compute @workgroup_size(WORKGROUP_SIZE)
fn shared_logits(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) member: u32) {
    load_weights(member, WORKGROUP_SIZE);
    workgroupBarrier();
    keep_logits(workgroup.x * SHARED_STRIDE);
}

/// Evaluates a tuple and keeps its logits.
fn keep_logits(tuple: u32) {
    let outputs = evaluate(tuple);
    let at = tuple * CLASSES;
    if at + CLASSES > arrayLength(&answers) {
        return;
    }
    for (var class_number = 0u; class_number < CLASSES; class_number += 1u) {
        answers[at + class_number] = logit_bits(outputs, class_number);
    }
}
