//! The kernels that evaluate a dispatch network on all tuples: for the table of its classes, and for the logits that
//! the host compares with its own.

import package::machine::layout::{CLASSES, SHARED_STRIDE};
import package::networks::dispatch::{decide, evaluate, load_weights};
import package::networks::logits::{logit_bits};

/// The class of each tuple, four to a word; or the bits of the logits, grouped by tuple.
@group(0) @binding(0) var<storage, read_write> answers: array<u32>;

/// The invocations of a workgroup.
override WORKGROUP_SIZE: u32 = 64u;

/// Fills the table. Each invocation evaluates four tuples. All invocations of a workgroup evaluate one of its tuples at
/// the same time, in order to also test evaluations that invocations share.
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
    // The shared tuple is the first, while all invocations are active.
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

/// Computes the logits of one tuple per invocation.
@compute @workgroup_size(WORKGROUP_SIZE)
fn domain_logits(@builtin(global_invocation_id) invocation: vec3<u32>, @builtin(local_invocation_index) member: u32) {
    load_weights(member, WORKGROUP_SIZE);
    workgroupBarrier();
    store_logits(invocation.x);
}

/// Computes the logits of one tuple per workgroup, which all its invocations evaluate.
@compute @workgroup_size(WORKGROUP_SIZE)
fn shared_logits(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) member: u32) {
    load_weights(member, WORKGROUP_SIZE);
    workgroupBarrier();
    store_logits(workgroup.x * SHARED_STRIDE);
}

/// Evaluates a tuple and stores its logits.
fn store_logits(tuple: u32) {
    let outputs = evaluate(tuple);
    let at = tuple * CLASSES;
    if at + CLASSES > arrayLength(&answers) {
        return;
    }
    for (var class_number = 0u; class_number < CLASSES; class_number += 1u) {
        answers[at + class_number] = logit_bits(outputs, class_number);
    }
}
