//! Input that sums to zero, which FEAGI's neurons know from none.

import package::spiking::bindings::{marks, settings};

/// Whether there are marks.
const HAS_MARKS = true;

/// The word that a neuron has a bit in, bit `neuron % 32`.
fn mark_place(slot: u32, neuron: u32) -> u32 {
    return slot * ((settings.neurons + 31u) / 32u) + neuron / 32u;
}

/// Marks the input of a neuron.
fn set_mark(slot: u32, neuron: u32) {
    atomicOr(&marks[mark_place(slot, neuron)], 1u << (neuron % 32u));
}

/// Whether a neuron has a mark, which is taken away.
fn take_mark(slot: u32, neuron: u32) -> bool {
    let bit = 1u << (neuron % 32u);
    let place = mark_place(slot, neuron);
    let is_marked = (atomicLoad(&marks[place]) & bit) != 0u;
    if is_marked {
        atomicAnd(&marks[place], ~bit);
    }
    return is_marked;
}
