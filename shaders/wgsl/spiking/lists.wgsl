//! The lists of spikes that a batch of the kernel `fused` receives. Each window of the batch before has written one.

import package::spiking::bindings::{Turn, pieces, settings};
import package::spiking::layout::{BATCH_MAX};

/// Steps of a batch whose sums are in workgroup memory at the same time.
struct Window {
    /// The number of the window in its batch.
    number: u32,
    /// The first neuron of the block.
    neuron: u32,
    /// The number of neurons of a block.
    size: u32,
    /// The first step, counted from the first one of the batch.
    begin: u32,
    /// The end of the steps.
    end: u32,
    /// Whether it is the last window of the batch. Spikes that arrive after the batch are delivered with it.
    is_last: bool,
}

/// The turn of the workgroup. It is read from here wherever it is needed, as registers are scarce.
var<workgroup> block_turn: Turn;
/// The number of pieces in each list of the last batch.
var<workgroup> block_listed: array<u32, BATCH_MAX>;
/// The number of pieces that each window receives.
var<workgroup> block_received: array<u32, BATCH_MAX>;

/// Returns the lowest `count` bits.
fn lowest_bits(count: u32) -> u32 {
    return select((1u << (count & 31u)) - 1u, 0xffffffffu, count >= 32u);
}

/// Returns the number of windows of a whole batch. Each has its own list of pieces.
fn windows() -> u32 {
    return (settings.batch + settings.window - 1u) / settings.window;
}

/// Returns a window of a batch of `steps` steps.
fn window_of(number: u32, steps: u32, neuron: u32, size: u32) -> Window {
    let begin = number * settings.window;
    let end = min(begin + settings.window, steps);
    return Window(number, neuron, size, begin, end, end == steps);
}

/// Returns the steps of the last batch, a bit each, whose spikes may arrive in a window.
fn due_steps(window: Window, last_batch: u32) -> u32 {
    if settings.delay_mask != 0u {
        return 0xffffffffu;
    }
    let lead = settings.min_delay - last_batch;
    let begin = lowest_bits(window.begin - min(window.begin, lead));
    let end = lowest_bits(window.end - min(window.end, lead));
    return select(end, 0xffffffffu, window.is_last) & ~begin;
}

/// Returns the range of the lists of the last batch whose spikes may arrive in a window, or after the batch if it is the last
/// one: the first list, and the end.
fn lists_of(window: Window) -> vec2<u32> {
    if settings.delay_mask != 0u || settings.min_delay != settings.batch {
        return vec2<u32>(0u, windows());
    }
    // Each spike arrives a batch later, in the window that listed it.
    return vec2<u32>(window.number, select(window.number + 1u, windows(), window.is_last));
}

/// Returns the number of pieces that a window receives.
fn received_by(window: Window) -> u32 {
    let lists = lists_of(window);
    var sum = 0u;
    for (var list = lists.x; list < min(lists.y, BATCH_MAX); list += 1u) {
        sum += block_listed[list];
    }
    return sum;
}

/// Returns the index of the first piece in the list of a window of a batch.
fn list_start(number: u32, window: u32) -> u32 {
    return ((number % 2u) * windows() + window) * settings.neurons;
}

/// Returns the index in `time.batch_pieces` of the length of a list.
fn list_counter(number: u32, window: u32) -> u32 {
    return (number % 3u) * BATCH_MAX + window;
}

/// Returns a piece that a window receives: the source, and the steps of its spikes, a bit each. There are no spikes if the
/// window has fewer pieces or does not exist.
fn received_piece(window: Window, index: u32) -> vec2<u32> {
    if window.begin >= window.end || index >= block_received[min(window.number, BATCH_MAX - 1u)] {
        return vec2<u32>(0u);
    }
    var list = lists_of(window).x;
    var rest = index;
    while list + 1u < min(windows(), BATCH_MAX) && rest >= block_listed[list] {
        rest -= block_listed[list];
        list += 1u;
    }
    let piece = pieces[list_start(block_turn.number + 1u, list) + rest];
    return vec2<u32>(piece.place, piece.spikes & due_steps(window, block_turn.clock.batch));
}
