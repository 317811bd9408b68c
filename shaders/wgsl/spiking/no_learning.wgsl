//! Takes the place of `learn` where weights do not change.

import package::spiking::unpack::{Synapse};

/// Adds a step to the history of a neuron, which it has not; whether a rule then visits its row: never.
fn remember(neuron: u32, population: u32, spike: u32) -> bool {
    return false;
}

/// Lets a synapse of a piece learn: nothing.
fn let_learn(piece: u32, index: u32, synapse: Synapse) -> Synapse {
    return synapse;
}
