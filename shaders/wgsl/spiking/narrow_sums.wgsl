//! Sums of input of 16 bits: a neuron of a block has one word for both ports.
//!
//! All weights of a port are multiples of a unit, and the word counts units: of excitatory input in the low half, of inhibitory
//! input in the high half. No half overflows, because all synapses of a neuron together have fewer units than it can count.

import package::spiking::bindings::{settings};
import package::spiking::record::{Arrival};

/// Returns the number of sums of a neuron in a step.
fn sums_of_neuron() -> u32 {
    return 1u;
}

/// Returns the units of a synapse of a block, which are negative for inhibition.
fn units_of(word: u32) -> i32 {
    return i32(word << settings.block_weight_shift) >> settings.block_weight_shift;
}

/// Returns the weight of a synapse of a block.
fn block_weight(word: u32) -> i32 {
    let units = units_of(word);
    return units * i32(select(settings.excitatory_unit, settings.inhibitory_unit, units < 0));
}

/// Returns what a spike adds to a sum through a synapse of a block.
fn increment_of(word: u32) -> i32 {
    let units = units_of(word);
    return select(units, -units << 16u, units < 0);
}

/// Adds the sums of a neuron, which are in one word, to its other input.
fn with_sums(earlier: Arrival, both: i32, none: i32) -> Arrival {
    let halves = u32(both);
    var arrival = earlier;
    arrival.excitatory += i32((halves & 0xffffu) * settings.excitatory_unit);
    arrival.inhibitory -= i32((halves >> 16u) * settings.inhibitory_unit);
    return arrival;
}
