//! The access to the synapses that are sorted by block, in four bindings.

import package::spiking::bindings::{blocks_a, blocks_b, blocks_c, blocks_d};

/// Returns a quad of a binding.
fn block_quad(binding: u32, index: u32) -> vec4<u32> {
    switch binding {
        case 1u: { return blocks_b[index]; }
        case 2u: { return blocks_c[index]; }
        case 3u: { return blocks_d[index]; }
        default: { return blocks_a[index]; }
    }
}
