//! Events: what the spikes of a batch bring to the targets of their neurons.

import package::spiking::accumulators::{add_input, port_of, slot_behind};
import package::spiking::bindings::{settings};
import package::spiking::fixed::{contribution};
import package::spiking::unpack::{Synapse};

/// Delivers the events of a synapse: one for each step of the batch in which its source fired.
///
/// `first` is the slot of the first step of the batch, `scale` what the weight is multiplied with.
fn deliver(first: u32, spikes: u32, scale: u32, synapse: Synapse) {
    let port = port_of(synapse.weight);
    var amount = synapse.weight;
    if settings.has_scales != 0u {
        amount = contribution(synapse.weight, scale);
    }
    var rest = spikes;
    while rest != 0u {
        let slot = slot_behind(slot_behind(first, firstTrailingBit(rest)), synapse.delay);
        add_input(slot, port, synapse.destination, amount);
        rest &= rest - 1u;
    }
}
