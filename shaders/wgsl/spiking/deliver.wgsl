//! Events: what the spikes of a batch bring to the targets of their neurons.

import package::spiking::accumulators::{add_input, port_of, slot_behind};
import package::spiking::bindings::{piece_sources, pieces, settings};
import package::spiking::fixed::{contribution};
import package::spiking::learn::{learned};
import package::spiking::unpack::{Synapse, set_weight, unpacked};

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

/// Lets the synapses of a piece learn, and delivers their events, together with all invocations of a team.
fn deliver_piece(first: u32, index: u32, member: u32, team: u32) {
    let piece = pieces[index];
    for (var i = member; i < piece.synapses; i += team) {
        var synapse = unpacked(piece.place, i);
        if settings.is_plastic != 0u {
            let weight = learned(synapse, piece_sources[index]);
            if weight != synapse.weight {
                synapse.weight = weight;
                set_weight(piece.place, i, weight);
            }
        }
        deliver(first, piece.spikes, piece.scale, synapse);
    }
}
