//! Which neurons pieces are of.

import package::spiking::bindings::{piece_sources};

/// Says which neuron a piece is of.
fn set_source(piece: u32, neuron: u32) {
    piece_sources[piece] = neuron;
}
