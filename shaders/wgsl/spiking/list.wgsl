//! The list of pieces: the parts of the rows of neurons that fired, which the second kernel of a step delivers.

import package::spiking::advance::{BatchOutcome};
import package::spiking::bindings::{Piece, pieces, rows, settings};
import package::spiking::learn::{set_source};

/// Returns the number of pieces of a neuron's row.
fn pieces_of(neuron: u32) -> u32 {
    let synapses = rows[neuron].y;
    return synapses / settings.piece + select(0u, 1u, synapses % settings.piece != 0u);
}

/// Writes the pieces of a neuron's row to the list, from index `place` on.
fn list_pieces(neuron: u32, outcome: BatchOutcome, place: u32) {
    let row = rows[neuron];
    var at = place;
    var begin = 0u;
    while begin < row.y {
        let synapses = min(settings.piece, row.y - begin);
        pieces[at] = Piece(row.x + begin * settings.synapse_words, synapses, outcome.spikes, outcome.scale);
        set_source(at, neuron);
        at += 1u;
        begin += synapses;
    }
}
