//! What neurons leave behind that fired: pieces of their rows to deliver, and their spikes for the host.

import package::spiking::advance::{Advanced};
import package::spiking::bindings::{Clock, Piece, piece_sources, pieces, recording, rows, settings};

/// How many pieces the row of a neuron has.
fn pieces_of(neuron: u32) -> u32 {
    let synapses = rows[neuron].y;
    return synapses / settings.piece + select(0u, 1u, synapses % settings.piece != 0u);
}

/// Lists the row of a neuron, from there on.
fn list_pieces(neuron: u32, advanced: Advanced, place: u32) {
    let row = rows[neuron];
    var at = place;
    var begin = 0u;
    while begin < row.y {
        let synapses = min(settings.piece, row.y - begin);
        pieces[at] = Piece(row.x + begin * settings.synapse_words, synapses, advanced.spikes, advanced.scale);
        if settings.has_sources != 0u {
            piece_sources[at] = neuron;
        }
        at += 1u;
        begin += synapses;
    }
}

/// How many spikes of a neuron are recorded.
fn recorded_spikes(neuron: u32, spikes: u32) -> u32 {
    let is_recorded = settings.recording != 0u && neuron - settings.recorded_first < settings.recorded;
    return select(0u, countOneBits(spikes), is_recorded);
}

/// Records the spikes of a neuron, from there on.
fn record_spikes(neuron: u32, spikes: u32, clock: Clock, place: u32) {
    if recorded_spikes(neuron, spikes) == 0u {
        return;
    }
    let step = settings.steps - clock.remaining;
    var at = place;
    var rest = spikes;
    while rest != 0u {
        recording[at] = vec2<u32>(step + firstTrailingBit(rest), neuron);
        at += 1u;
        rest &= rest - 1u;
    }
}
