//! The delivery of the spikes of a batch to the targets of their synapses.

import package::spiking::accumulators::{add_input, port_of, slot_behind};
import package::spiking::bindings::{pieces};
import package::spiking::fixed::{contribution};
import package::spiking::learn::{learn_synapse};
import package::spiking::marks::{HAS_MARKS};
import package::spiking::unpack::{Synapse, unpacked};

/// Returns the input that a synapse delivers: its weight, times the scale if the network has neurons of FEAGI.
fn amount_of(weight: i32, scale: u32) -> i32 {
    if HAS_MARKS {
        return contribution(weight, scale);
    }
    return weight;
}

/// Delivers the spikes of a synapse, one for each step of the batch in which its source fired.
///
/// `first` is the slot of the first step of the batch, and `scale` the factor of the weight.
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

/// Applies the plasticity rules to the synapses of a piece, and delivers their spikes. All invocations of a team call
/// it.
fn deliver_piece(first: u32, index: u32, member: u32, team: u32) {
    let piece = pieces[index];
    for (var i = member; i < piece.synapses; i += team) {
        let synapse = learn_synapse(index, i, unpacked(piece.place, i));
        deliver(first, piece.spikes, piece.scale, synapse);
    }
}
