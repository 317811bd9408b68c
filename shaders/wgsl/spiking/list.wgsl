//! What neurons leave behind that fired: pieces of their rows to deliver.

import package::spiking::advance::{Advanced};
import package::spiking::bindings::{Piece, pieces, rows, settings};
import package::spiking::sources::{set_source};

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
        set_source(at, neuron);
        at += 1u;
        begin += synapses;
    }
}
