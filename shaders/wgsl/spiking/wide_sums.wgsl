//! Sums of input of 32 bits: a neuron of a block has one for each port.

import package::spiking::bindings::{settings};
import package::spiking::record::{Arrival};

/// Returns the number of sums of a neuron in a step.
fn sums_of_neuron() -> u32 {
    return settings.ports;
}

/// Returns the weight of a synapse of a block.
fn block_weight(word: u32) -> i32 {
    return i32(word << settings.block_weight_shift) >> settings.block_weight_shift;
}

/// Returns what a spike adds to a sum through a synapse of a block.
fn increment_of(word: u32) -> i32 {
    return block_weight(word);
}

/// Adds the sums of a neuron, of which it may have only one, to its other input.
fn with_sums(earlier: Arrival, first: i32, second: i32) -> Arrival {
    var arrival = earlier;
    arrival.excitatory += first;
    arrival.inhibitory += second;
    return arrival;
}
