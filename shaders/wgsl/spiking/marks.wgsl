//! The marks of input that sums to zero, by which FEAGI's neurons distinguish it from no input.

import package::spiking::bindings::{marks, settings};

/// Whether the network has marks.
const HAS_MARKS = true;

/// Returns the index of the word with the mark of a neuron, which is bit `neuron % 32`.
fn mark_place(slot: u32, neuron: u32) -> u32 {
    return slot * ((settings.neurons + 31u) / 32u) + neuron / 32u;
}

/// Marks the input of a neuron.
fn set_mark(slot: u32, neuron: u32) {
    atomicOr(&marks[mark_place(slot, neuron)], 1u << (neuron % 32u));
}

/// Returns whether a neuron has a mark, and clears the mark.
fn take_mark(slot: u32, neuron: u32) -> bool {
    let bit = 1u << (neuron % 32u);
    let place = mark_place(slot, neuron);
    let is_marked = (atomicLoad(&marks[place]) & bit) != 0u;
    if is_marked {
        atomicAnd(&marks[place], ~bit);
    }
    return is_marked;
}
