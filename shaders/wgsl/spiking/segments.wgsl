//! The synapses of a block, for the kernel `fused`: those of a source are a segment.

import package::spiking::bindings::{segments, settings};
import package::spiking::blocks::{block_quad};
import package::spiking::layout::{BLOCK_QUAD_BITS};

/// The most segments that are staged at a time, a power of two.
override STAGE: u32 = 128u;

/// The place of a block's synapses.
struct BlockPlace {
    /// The index in `segments` of the block's first entry, if there is a table of segments.
    segments: u32,
    /// The number of the binding.
    binding: u32,
    /// The index of the first quad.
    quad: u32,
    /// The number of low bits of an entry that are the index of a quad in the block.
    place_bits: u32,
}

/// Returns the place of a block.
fn place_of(block: u32) -> BlockPlace {
    let beginning = segments[2u * block];
    let entries = 2u * settings.blocks + block * settings.neurons;
    let quad = beginning & ((1u << BLOCK_QUAD_BITS) - 1u);
    return BlockPlace(entries, beginning >> BLOCK_QUAD_BITS, quad, segments[2u * block + 1u]);
}

/// Returns a quad of the block's synapses.
fn quad_of(block: BlockPlace, place: u32) -> vec4<u32> {
    return block_quad(block.binding, block.quad + place);
}
