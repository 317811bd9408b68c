//! The division of the neurons into blocks.

import package::spiking::bindings::{settings};

/// Returns the number of neurons of a block, a multiple of 32, so that no two blocks share a word with a bit for each
/// neuron. The last blocks may have fewer, or none.
fn block_size() -> u32 {
    let blocks = max(settings.blocks, 1u);
    let fair = (settings.neurons + blocks - 1u) / blocks;
    return max((fair + 31u) / 32u * 32u, 32u);
}
