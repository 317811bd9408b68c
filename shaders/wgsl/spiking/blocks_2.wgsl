//! The access to the synapses that are sorted by block, in two bindings.

import package::spiking::bindings::{blocks_a, blocks_b};

/// Returns a quad of a binding.
fn block_quad(binding: u32, index: u32) -> vec4<u32> {
    switch binding {
        case 1u: { return blocks_b[index]; }
        default: { return blocks_a[index]; }
    }
}
