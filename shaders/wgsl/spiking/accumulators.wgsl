//! The ring: the accumulated input of future steps.

import package::spiking::bindings::{ring, settings};
import package::spiking::marks::{HAS_MARKS, set_mark};

/// Returns the slot `distance` slots after another. The distance is at most the number of slots.
fn slot_behind(slot: u32, distance: u32) -> u32 {
    let sum = slot + distance;
    return sum - select(0u, settings.slots, sum >= settings.slots);
}

/// Returns the port for an amount: the last port for negative amounts, else 0.
fn port_of(amount: i32) -> u32 {
    return select(0u, settings.ports - 1u, amount < 0);
}

/// Returns the index in the ring of a sum of a neuron.
fn sum_place(slot: u32, port: u32, neuron: u32) -> u32 {
    return (slot * settings.ports + port) * settings.neurons + neuron;
}

/// Adds input to a sum of a neuron.
fn add_input(slot: u32, port: u32, neuron: u32, amount: i32) {
    let place = sum_place(slot, port, neuron);
    if !HAS_MARKS {
        atomicAdd(&ring[place], amount);
    } else if atomicAdd(&ring[place], amount) + amount == 0 {
        // A sum that becomes zero is marked. If it does not stay zero, the mark does no harm.
        set_mark(slot, neuron);
    }
}

/// Returns a sum of a neuron, and sets it to zero in the ring.
fn take_sum(slot: u32, port: u32, neuron: u32) -> i32 {
    let place = sum_place(slot, port, neuron);
    let sum = atomicLoad(&ring[place]);
    if sum != 0 {
        atomicStore(&ring[place], 0);
    }
    return sum;
}
