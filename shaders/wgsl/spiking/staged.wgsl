//! The segments of sources in a block, looked up in a table; for the kernel `fused`.
//!
//! Spikes are received in *rounds*: each invocation has a piece of the window's lists, unless fewer segments can be staged.
//! While a round is received, the segments of the next round and the pieces of the round after that are read. The segments
//! of a round are staged in workgroup memory. All staged quads together are a sequence that the invocations share equally,
//! however long the segments are.

import package::spiking::bindings::{Clock, segments};
import package::spiking::block_sums::{receive_quad};
import package::spiking::layout::{BATCH_MAX, STAGED_QUADS_BITS};
import package::spiking::lists::{Window, block_received, block_turn, received_piece, window_of};
import package::spiking::segments::{BlockPlace, STAGE, quad_of};

/// A segment that has been looked up.
struct Segment {
    /// Its entry in the table: the number of quads, and in the low bits the index of the first one in the block.
    entry: u32,
    /// The steps of the last batch in which the source fired, a bit each. 0 if there is no segment.
    spikes: u32,
}

/// Some of the pieces that a window receives.
struct Round {
    /// The number of the window.
    window: u32,
    /// The index of the first piece.
    begin: u32,
}

/// Returns the round of `size` pieces that follows a round. Each window has one at least.
fn round_after(round: Round, size: u32) -> Round {
    let begin = round.begin + size;
    if begin < block_received[min(round.window, BATCH_MAX - 1u)] {
        return Round(round.window, begin);
    }
    return Round(round.window + 1u, 0u);
}

/// What is read before it is needed.
struct Ahead {
    /// The segment of the next round.
    segment: Segment,
    /// The round after that.
    round: Round,
    /// The piece of that round.
    piece: vec2<u32>,
    /// The index of the counter in use.
    parity: u32,
}

/// For each staged segment: its first quad in the sequence of all staged ones.
var<workgroup> staged_begins: array<u32, STAGE>;
/// For each staged segment: the index of its first quad in the block, less that in the sequence.
var<workgroup> staged_shifts: array<u32, STAGE>;
/// For each staged segment: the steps of the last batch in which the source fired, a bit each.
var<workgroup> staged_spikes: array<u32, STAGE>;
/// Two counters of staged segments and quads: one counts while the other is set to zero.
var<workgroup> staged_counts: array<atomic<u32>, 2>;

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

/// Returns the lowest index of a piece of an invocation in a round. None exists if the invocation has no piece in any round.
fn index_min(local: u32, members: u32) -> u32 {
    return select(0xffffffffu, local, local < min(members, STAGE));
}

/// Prepares the counters. A barrier has to follow.
fn clear_receiver(local: u32) {
    if local < 2u {
        atomicStore(&staged_counts[local], 0u);
    }
}

/// Reads the segments and pieces that the first window of a batch needs first. `window` is that window, in a batch of `steps`
/// steps.
fn first_ahead(block: BlockPlace, window: Window, steps: u32, local: u32, members: u32) -> Ahead {
    let size = min(members, STAGE);
    let index = index_min(local, members);
    let first = received_piece(window, index);
    let segment = segment_of(block, first.x, first.y);
    let round = round_after(Round(0u, 0u), size);
    let piece = received_piece(window_of(round.window, steps, window.neuron, window.size), max(round.begin + local, index));
    return Ahead(segment, round, piece, 0u);
}

/// Receives the `received` pieces of a window, which has a round at least. Ends with a barrier.
fn receive_pieces(block: BlockPlace, window: Window, received: u32, steps: u32, local: u32, members: u32, ahead: ptr<function, Ahead>) {
    let size = min(members, STAGE);
    let index = index_min(local, members);
    for (var begin = 0u; begin == 0u || begin < received; begin += size) {
        let parity = (*ahead).parity;
        stage(block, (*ahead).segment, parity);
        (*ahead).segment = segment_of(block, (*ahead).piece.x, (*ahead).piece.y);
        let round = round_after((*ahead).round, size);
        (*ahead).round = round;
        (*ahead).piece = received_piece(window_of(round.window, steps, window.neuron, window.size), max(round.begin + local, index));
        workgroupBarrier();
        receive_staged(block, window, block_turn.clock, parity, local, members);
        (*ahead).parity = 1u - parity;
        // All invocations have read this counter before the last barrier.
        atomicStore(&staged_counts[1u - parity], 0u);
        workgroupBarrier();
    }
}
