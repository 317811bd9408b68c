//! The delivery of the spikes of a batch to the targets of their synapses.

import package::spiking::accumulators::{add_input, port_of, slot_behind};
import package::spiking::bindings::{Clock, Piece, pieces};
import package::spiking::fixed::{contribution};
import package::spiking::learn::{Learning, Source, learning_of, source_of, store_weight, weight_after};
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

/// Delivers the spikes of a synapse that learns: those of each step with the weight after this step. Returns the weight after
/// the batch.
fn learn_and_deliver(first: u32, piece: Piece, source: Source, learning: Learning, synapse: Synapse) -> i32 {
    var now = synapse;
    var rest = learning.visits;
    while rest != 0u {
        let step = firstTrailingBit(rest);
        now.weight = weight_after(learning, source, step, now.weight);
        deliver(first, piece.spikes & (1u << step), piece.scale, now);
        rest &= rest - 1u;
    }
    return now.weight;
}

/// Applies the plasticity rules to the synapses of a piece, and delivers the spikes of the last batch of a clock. All
/// invocations of a team call it.
fn deliver_piece(clock: Clock, index: u32, member: u32, team: u32) {
    let piece = pieces[index];
    let source = source_of(index, clock.batch);
    for (var i = member; i < piece.synapses; i += team) {
        let synapse = unpacked(piece.place, i);
        let learning = learning_of(source, synapse.destination);
        if learning.visits == 0u {
            deliver(clock.first, piece.spikes, piece.scale, synapse);
            continue;
        }
        let weight = learn_and_deliver(clock.first, piece, source, learning, synapse);
        if weight != synapse.weight {
            store_weight(index, i, weight);
        }
    }
}
