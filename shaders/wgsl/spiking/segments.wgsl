//! The synapses of a block, for the kernel `fused`: those of a source are a segment.
//!
//! Segments are looked up in a table while the quads of other segments are read, and then staged in workgroup memory. All
//! staged quads together are a sequence that the invocations share equally, however long the segments are.

import package::spiking::bindings::{
    Clock, blocks_a, blocks_b, blocks_c, blocks_d, segments, settings,
};
import package::spiking::block_sums::{Window, receive_quad};
import package::spiking::layout::{STAGED_QUADS_BITS};

/// The most segments that are staged at a time, a power of two.
override STAGE: u32 = 128u;

/// The place of a block's synapses.
struct BlockPlace {
    /// The index in `segments` of the block's first segment.
    segments: u32,
    /// The number of the binding.
    binding: u32,
    /// The index of the first quad.
    quad: u32,
    /// The number of low bits of an entry that are the index of a quad in the block.
    place_bits: u32,
}

/// A segment that has been looked up.
struct Segment {
    /// Its entry in the table: the number of quads, and in the low bits the index of the first one in the block.
    entry: u32,
    /// The steps of the last batch in which the source fired, a bit each. 0 if there is no segment.
    spikes: u32,
}

/// For each staged segment: its first quad in the sequence of all staged ones.
var<workgroup> staged_begins: array<u32, STAGE>;
/// For each staged segment: the index of its first quad in the block, less that in the sequence.
var<workgroup> staged_shifts: array<u32, STAGE>;
/// For each staged segment: the steps of the last batch in which the source fired, a bit each.
var<workgroup> staged_spikes: array<u32, STAGE>;
/// Two counters of staged segments and quads: one counts while the other is set to zero.
var<workgroup> staged_counts: array<atomic<u32>, 2>;

/// Returns the place of a block.
fn place_of(block: u32) -> BlockPlace {
    let first = block * (settings.neurons + 2u);
    let beginning = segments[first + settings.neurons];
    let place_bits = segments[first + settings.neurons + 1u];
    return BlockPlace(first, beginning >> 30u, beginning & 0x3fffffffu, place_bits);
}

/// Looks up the segment of a source that fired in the steps `spikes` of the last batch, a bit each.
fn segment_of(block: BlockPlace, source: u32, spikes: u32) -> Segment {
    if spikes == 0u {
        return Segment(0u, 0u);
    }
    return Segment(segments[block.segments + source], spikes);
}

/// Stages a segment. `parity` is the index of the counter in use.
fn stage(block: BlockPlace, segment: Segment, parity: u32) {
    let quads = segment.entry >> block.place_bits;
    if segment.spikes == 0u || quads == 0u {
        return;
    }
    // The segments are in the order of their quads, as both are counted at once.
    let count = atomicAdd(&staged_counts[parity], (1u << STAGED_QUADS_BITS) + quads);
    let at = min(count >> STAGED_QUADS_BITS, STAGE - 1u);
    let begin = count & ((1u << STAGED_QUADS_BITS) - 1u);
    staged_begins[at] = begin;
    staged_shifts[at] = (segment.entry & ((1u << block.place_bits) - 1u)) - begin;
    staged_spikes[at] = segment.spikes;
}

/// Returns the staged segments, of `count`, that have two quads of the sequence.
fn staged_segments(quads: vec2<u32>, count: u32) -> vec2<u32> {
    var found = vec2<u32>(0u);
    for (var step = STAGE / 2u; step != 0u; step /= 2u) {
        let next = found + step;
        let within = min(next, vec2<u32>(count - 1u));
        let begins = vec2<u32>(staged_begins[within.x], staged_begins[within.y]);
        found = select(found, next, (next < vec2<u32>(count)) & (begins <= quads));
    }
    return found;
}

/// Returns a quad of synapses.
fn quad_of(block: BlockPlace, place: u32) -> vec4<u32> {
    let index = block.quad + place;
    switch block.binding {
        case 1u: { return blocks_b[index]; }
        case 2u: { return blocks_c[index]; }
        case 3u: { return blocks_d[index]; }
        default: { return blocks_a[index]; }
    }
}

/// Delivers the spikes of the staged segments. Invocation `member` of `members` reads two quads at the same time, because
/// segments lie far from each other in memory.
fn receive_staged(block: BlockPlace, window: Window, clock: Clock, parity: u32, member: u32, members: u32) {
    let counted = atomicLoad(&staged_counts[parity]);
    let count = min(counted >> STAGED_QUADS_BITS, STAGE);
    let total = counted & ((1u << STAGED_QUADS_BITS) - 1u);
    for (var first = member; first < total; first += 2u * members) {
        let is_second = first + members < total;
        // Behind the end, the last quad is read again.
        let quads = vec2<u32>(first, min(first + members, total - 1u));
        let found = staged_segments(quads, count);
        let left = quad_of(block, staged_shifts[found.x] + quads.x);
        let right = quad_of(block, staged_shifts[found.y] + quads.y);
        receive_quad(window, clock, staged_spikes[found.x], left);
        receive_quad(window, clock, select(0u, staged_spikes[found.y], is_second), right);
    }
}
