//! The ring: what has arrived for coming steps.

import package::spiking::bindings::{marks, ring, settings};

/// The slot so many slots behind another, at most as many as there are.
fn slot_behind(slot: u32, distance: u32) -> u32 {
    let sum = slot + distance;
    return sum - select(0u, settings.slots, sum >= settings.slots);
}

/// The port for an amount: that of its sign.
fn port_of(amount: i32) -> u32 {
    return select(0u, settings.ports - 1u, amount < 0);
}

/// Where the sum of a neuron is in the ring.
fn sum_place(slot: u32, port: u32, neuron: u32) -> u32 {
    return (slot * settings.ports + port) * settings.neurons + neuron;
}

/// The word of `marks` that a neuron has a bit in, bit `neuron % 32`.
fn mark_place(slot: u32, neuron: u32) -> u32 {
    return slot * ((settings.neurons + 31u) / 32u) + neuron / 32u;
}

/// Adds input to a sum of a neuron.
fn add_input(slot: u32, port: u32, neuron: u32, amount: i32) {
    let place = sum_place(slot, port, neuron);
    if settings.has_marks == 0u {
        atomicAdd(&ring[place], amount);
    } else if atomicAdd(&ring[place], amount) + amount == 0 {
        // Whoever makes the sum zero says so. That it does not stay zero is seen by the sum.
        atomicOr(&marks[mark_place(slot, neuron)], 1u << (neuron % 32u));
    }
}

/// The sum of a neuron, which is taken away.
fn take_sum(slot: u32, port: u32, neuron: u32) -> i32 {
    let place = sum_place(slot, port, neuron);
    let sum = atomicLoad(&ring[place]);
    if sum != 0 {
        atomicStore(&ring[place], 0);
    }
    return sum;
}

/// Whether a neuron has a mark, which is taken away.
fn take_mark(slot: u32, neuron: u32) -> bool {
    if settings.has_marks == 0u {
        return false;
    }
    let bit = 1u << (neuron % 32u);
    let place = mark_place(slot, neuron);
    let is_marked = (atomicLoad(&marks[place]) & bit) != 0u;
    if is_marked {
        atomicAnd(&marks[place], ~bit);
    }
    return is_marked;
}
