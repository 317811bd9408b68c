//! The bindings for class selection by a network: counters, the table of answers, and words with their classes.

import package::machine::layout::{DECISION_WORDS};

/// The counters `DECISION_*`, by correct class.
@group(3) @binding(0) var<storage, read_write> decisions: array<atomic<u32>>;
/// The class that the network gives each tuple, four to a word.
@group(3) @binding(1) var<storage, read> domain: array<u32>;
/// The code word of each micro-op, and its correct class.
@group(3) @binding(2) var<storage, read_write> words: array<vec2<u32>>;

/// Adds to a counter of a class.
fn count(class_number: u32, counter: u32, amount: u32) {
    let at = class_number * DECISION_WORDS + counter;
    let before = atomicAdd(&decisions[at], amount);
    if before + amount < before {
        atomicAdd(&decisions[at + 1u], 1u);
    }
}
