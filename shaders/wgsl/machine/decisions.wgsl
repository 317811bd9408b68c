//! What is known of the decisions of a dispatch network.

import package::machine::layout::{DECISION_WORDS};

/// Counters by the class that is right: `DECISION_*`.
@group(3) @binding(0) var<storage, read_write> decisions: array<atomic<u32>>;
/// The answers of the network by tuple, four to a word.
@group(3) @binding(1) var<storage, read> domain: array<u32>;
/// Beside each micro-op: its word, and the class in which it has its row.
@group(3) @binding(2) var<storage, read_write> words: array<vec2<u32>>;

/// Adds to a counter of a class.
fn count(class_number: u32, counter: u32, amount: u32) {
    let at = class_number * DECISION_WORDS + counter;
    let before = atomicAdd(&decisions[at], amount);
    if before + amount < before {
        atomicAdd(&decisions[at + 1u], 1u);
    }
}
