//! The access to the synapses that are sorted by block, in eight bindings.

import package::spiking::bindings::{
    blocks_a, blocks_b, blocks_c, blocks_d, blocks_e, blocks_f, blocks_g, blocks_h,
};

/// Returns a quad of a binding.
fn block_quad(binding: u32, index: u32) -> vec4<u32> {
    switch binding {
        case 1u: { return blocks_b[index]; }
        case 2u: { return blocks_c[index]; }
        case 3u: { return blocks_d[index]; }
        case 4u: { return blocks_e[index]; }
        case 5u: { return blocks_f[index]; }
        case 6u: { return blocks_g[index]; }
        case 7u: { return blocks_h[index]; }
        default: { return blocks_a[index]; }
    }
}
