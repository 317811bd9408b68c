//! The ring: what has arrived for coming steps.

import package::spiking::bindings::{ring, settings};
import package::spiking::marks::{HAS_MARKS, set_mark};

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

/// Adds input to a sum of a neuron.
fn add_input(slot: u32, port: u32, neuron: u32, amount: i32) {
    let place = sum_place(slot, port, neuron);
    if !HAS_MARKS {
        atomicAdd(&ring[place], amount);
    } else if atomicAdd(&ring[place], amount) + amount == 0 {
        // Whoever makes the sum zero says so. That it does not stay zero is seen by the sum.
        set_mark(slot, neuron);
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
