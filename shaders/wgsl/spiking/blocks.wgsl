//! The access to the synapses that are sorted by block, in one binding.

import package::spiking::bindings::{blocks_a};

/// Returns a quad of a binding.
fn block_quad(binding: u32, index: u32) -> vec4<u32> {
    return blocks_a[index];
}
