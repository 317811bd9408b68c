//! The source neurons of pieces.

import package::spiking::bindings::{piece_sources};

/// Sets the source neuron of a piece.
fn set_source(piece: u32, neuron: u32) {
    piece_sources[piece] = neuron;
}
