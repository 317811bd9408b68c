//! The substitute for `learn` in networks whose weights do not change.

import package::spiking::unpack::{Synapse};

/// Does nothing: the source neurons of pieces are not used.
fn set_source(piece: u32, neuron: u32) {}

/// Returns whether a rule visits the row of a neuron: never. There are no histories to update.
fn update_history(neuron: u32, population: u32, spike: u32) -> bool {
    return false;
}

/// Returns the synapse as it is.
fn learn_synapse(piece: u32, index: u32, synapse: Synapse) -> Synapse {
    return synapse;
}
