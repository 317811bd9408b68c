//! Sums of input of 16 bits: a neuron of a block has one word for both ports.
//!
//! All weights of a port are multiples of a divisor, and the word counts multiples: those of excitatory input in the low half,
//! those of inhibitory input in the high half. No half overflows, because it can count the multiples of all synapses of a neuron
//! together.

import package::spiking::bindings::{settings};
import package::spiking::record::{Arrival};

/// Returns the number of sums of a neuron in a step.
fn sums_of_neuron() -> u32 {
    return 1u;
}

/// Returns the weight of a synapse of a block. Its amount is a multiple of a divisor, and negative for inhibition.
fn weight_of(amount: i32) -> i32 {
    return amount * i32(select(settings.excitatory_divisor, settings.inhibitory_divisor, amount < 0));
}

/// Returns what a spike adds to a sum through a synapse with this amount.
fn increment_of(amount: i32) -> i32 {
    return select(amount, -amount << 16u, amount < 0);
}

/// Adds the sum of a neuron, which is the first one, to its other input.
fn with_sums(earlier: Arrival, first: i32, second: i32) -> Arrival {
    let halves = u32(first);
    var arrival = earlier;
    arrival.excitatory += i32((halves & 0xffffu) * settings.excitatory_divisor);
    arrival.inhibitory -= i32((halves >> 16u) * settings.inhibitory_divisor);
    return arrival;
}
