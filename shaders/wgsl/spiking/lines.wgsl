//! The segments of sources in a block, each in a line of its own, which is read without a table; for the kernel `fused`.
//!
//! A line has fifteen synapses. Its last word is zero, or the entry of more quads of the segment: their number, and in the
//! low bits the index of the first one in the block. Neighboring invocations, one for each quad, are a *team*, which reads a line.

import package::spiking::bindings::{Clock};
import package::spiking::block_sums::{receive_quad};
import package::spiking::layout::{LINE_QUADS};
import package::spiking::lists::{Window, block_turn, received_piece, window_of};
import package::spiking::segments::{BlockPlace, quad_of};

/// The pieces of the next two lines that a team reads, before they are needed.
struct Ahead {
    /// The source and the spikes of the first one.
    left: vec2<u32>,
    /// The source and the spikes of the second one.
    right: vec2<u32>,
}

/// Prepares nothing: there are no counters.
fn clear_receiver(local: u32) {}

/// Returns the pieces of the lines `index` and `index + teams` of a window.
fn pieces_at(window: Window, index: u32, teams: u32) -> Ahead {
    return Ahead(received_piece(window, index), received_piece(window, index + teams));
}

/// Reads the pieces that the first window of a batch needs first.
fn first_ahead(block: BlockPlace, window: Window, steps: u32, local: u32, members: u32) -> Ahead {
    return pieces_at(window, local / LINE_QUADS, members / LINE_QUADS);
}

/// Returns a quad of the line of a piece. It is empty if there are no spikes.
fn line_quad(block: BlockPlace, piece: vec2<u32>, number: u32) -> vec4<u32> {
    if piece.y == 0u {
        return vec4<u32>(0u);
    }
    return quad_of(block, piece.x * LINE_QUADS + number);
}

/// Delivers spikes through the synapses of a quad of a line.
fn receive_line(block: BlockPlace, window: Window, clock: Clock, spikes: u32, number: u32, words: vec4<u32>) {
    let is_last = number == LINE_QUADS - 1u;
    let synapses = vec4<u32>(words.xyz, select(words.w, 0u, is_last));
    if any(synapses != vec4<u32>(0u)) {
        receive_quad(window, clock, spikes, synapses);
    }
    if is_last && words.w != 0u {
        let quads = words.w >> block.place_bits;
        let first = words.w & ((1u << block.place_bits) - 1u);
        for (var quad = 0u; quad < quads; quad += 1u) {
            receive_quad(window, clock, spikes, quad_of(block, first + quad));
        }
    }
}

/// Receives the `received` pieces of a window. Ends with a barrier.
fn receive_pieces(block: BlockPlace, window: Window, received: u32, steps: u32, local: u32, members: u32, ahead: ptr<function, Ahead>) {
    let number = local % LINE_QUADS;
    let teams = members / LINE_QUADS;
    for (var index = local / LINE_QUADS; index < received; index += 2u * teams) {
        let now = *ahead;
        let left = line_quad(block, now.left, number);
        let right = line_quad(block, now.right, number);
        *ahead = pieces_at(window, index + 2u * teams, teams);
        receive_line(block, window, block_turn.clock, now.left.y, number, left);
        receive_line(block, window, block_turn.clock, now.right.y, number, right);
    }
    let next = window_of(window.number + 1u, steps, window.neuron, window.size);
    *ahead = pieces_at(next, local / LINE_QUADS, teams);
    workgroupBarrier();
}
