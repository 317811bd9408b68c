//! Events: what the spikes of a batch bring to the targets of their neurons.

import package::spiking::accumulators::{add_input, port_of, slot_behind};
import package::spiking::bindings::{pieces};
import package::spiking::fixed::{contribution};
import package::spiking::learn::{let_learn};
import package::spiking::marks::{HAS_MARKS};
import package::spiking::unpack::{Synapse, unpacked};

/// What a synapse brings: its weight, unless there are FEAGI's neurons, whose spikes have a scale.
fn amount_of(weight: i32, scale: u32) -> i32 {
    if HAS_MARKS {
        return contribution(weight, scale);
    }
    return weight;
}

/// Delivers the events of a synapse: one for each step of the batch in which its source fired.
///
/// `first` is the slot of the first step of the batch, `scale` what the weight is multiplied with.
fn deliver(first: u32, spikes: u32, scale: u32, synapse: Synapse) {
    let port = port_of(synapse.weight);
    let amount = amount_of(synapse.weight, scale);
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
        let synapse = let_learn(index, i, unpacked(piece.place, i));
        deliver(first, piece.spikes, piece.scale, synapse);
    }
}
