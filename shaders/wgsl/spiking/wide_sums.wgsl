//! Sums of input of 32 bits: a neuron of a block has one for each port.

import package::spiking::bindings::{settings};
import package::spiking::record::{Arrival};

/// Returns the number of sums of a neuron in a step.
fn sums_of_neuron() -> u32 {
    return settings.ports;
}

/// Returns the weight of a synapse of a block that has this amount.
fn weight_of(amount: i32) -> i32 {
    return amount;
}

/// Returns what a spike adds to a sum through a synapse with this amount.
fn increment_of(amount: i32) -> i32 {
    return amount;
}

/// Adds the sums of a neuron to its other input. If it has one sum, the second one is 0.
fn with_sums(earlier: Arrival, first: i32, second: i32) -> Arrival {
    var arrival = earlier;
    arrival.excitatory += first;
    arrival.inhibitory += second;
    return arrival;
}
