//! The kernel that does a whole batch of steps in one dispatch. Each workgroup owns a block of the neurons: it sums the
//! input of the block in workgroup memory, and updates its neurons from these sums. Weights are constant.
//!
//! ```
//! spikes of the last batch --+--> sums of the block --> update neurons --> spikes of this batch
//! injections ----------------+                            ring --+
//! ```
//!
//! Synapses are sorted by block, source and target, so a workgroup reads a small part of the memory. Their words are read
//! in quads, groups of four. If the sums of a whole batch do not fit in workgroup memory, the batch is done in windows of
//! some steps. Each window has its own list of spikes: if all delays are as long as a batch, these spikes arrive in the
//! same window of the next batch.
//!
//! Spikes are received in *rounds*: each invocation has a piece of the window's lists, unless fewer segments can be staged. While
//! a round is received, the segments of the next round and the pieces of the round after that are read.
//!
//! Between the dispatches of a slice, the spikes of the last batch are lists that have not been delivered. The ring has
//! the input that was there when the slice began, and that of synapses whose delays are longer than a batch. If the
//! longest delay is a batch, only the first batch of a slice reads it. `settle` delivers the lists when the slice ends, so
//! the host and other kernels find the ring that they would have without this kernel.
//!
//! Workgroups agree without reading what others write in the same dispatch: each has its own clock, and three counters
//! take turns.

import package::spiking::accumulators::{slot_behind};
import package::spiking::advance::{moment_after, state_of, store_state, taken, with_drive};
import package::spiking::bindings::{
    Piece, Turn, fired, pieces, record_of, records, rows, settings, time, turns,
};
import package::spiking::block_size::{block_size};
import package::spiking::block_sums::{Window, block_arrival, clear_sums, inject_into_block};
import package::spiking::deliver::{deliver};
import package::spiking::inject::{inject};
import package::spiking::layout::{BATCH_MAX, BLOCK_MAX, MEMBERS, QUEUE, SETTLE_TEAM_BITS};
import package::spiking::models::{update};
import package::spiking::record::{Arrival, NO_SPIKE, signed_of};
import package::spiking::record_words::{WORD_DRIVE};
import package::spiking::segments::{STAGE, place_of, receive_staged, segment_of, stage, staged_counts};
import package::spiking::spike_recording::{record_spikes, recorded_spikes};
import package::spiking::turn::{clock_after, is_full, steps_of, stride_of};
import package::spiking::unpack::{unpacked};

/// The invocations of a workgroup.
override WORKGROUP_SIZE: u32 = 256u;

/// The neurons that fired in a window, and their spikes, a bit for each step of the batch.
var<workgroup> queue: array<vec2<u32>, QUEUE>;
/// The numbers of neurons that were queued in even and odd windows.
var<workgroup> queued: array<atomic<u32>, 2>;
/// A bit for each neuron of the block that fired in the last step of the batch.
var<workgroup> block_fired: array<atomic<u32>, BLOCK_MAX / 32u>;
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

/// Returns whether the ring may have input for a batch. After the first batch of a slice, it has input only if delays are
/// longer than a batch.
fn has_ring_input() -> bool {
    return block_turn.number == 0u || settings.batch < settings.slots;
}

/// Returns the input of a neuron from the ring in a step. There is none unless `reads_ring`.
fn ring_arrival(reads_ring: bool, step: u32, neuron: u32) -> Arrival {
    if reads_ring {
        return taken(slot_behind(block_turn.clock.head, step), neuron);
    }
    return Arrival(0, 0, false);
}

/// Lists and records the spikes of a neuron in a window.
fn list_spikes(list: u32, neuron: u32, spikes: u32) {
    let number = block_turn.number;
    let at = atomicAdd(&time.batch_pieces[list_counter(number, list)], 1u);
    pieces[list_start(number, list) + at] = Piece(neuron, 0u, spikes, 0x10000u);
    let recorded = recorded_spikes(neuron, spikes);
    if recorded != 0u {
        let first = atomicAdd(&time.batch_spikes[number % 3u], recorded);
        record_spikes(neuron, spikes, block_turn.clock, block_turn.recorded + first);
    }
}

/// Lists and records the queued spikes of a window. The last invocations do it, because they often have no segment to
/// stage meanwhile.
fn list_queue(list: u32, local: u32) {
    let count = min(atomicLoad(&queued[list % 2u]), QUEUE);
    for (var at = WORKGROUP_SIZE - 1u - local; at < count; at += WORKGROUP_SIZE) {
        list_spikes(list, queue[at].x, queue[at].y);
    }
}

/// Updates a neuron of the block for the steps of a window, and queues its spikes. `first` is its input from the ring in the
/// first of them.
fn advance_in_window(window: Window, neuron: u32, first: Arrival, words: ptr<function, vec4<u32>>) {
    // The whole record is loaded at once, in order not to wait for its words one by one.
    var record = records[record_of[neuron]];
    let before = *words;
    let drive = signed_of(&record, WORD_DRIVE);
    let reads_ring = has_ring_input();
    var earlier = first;
    var spikes = 0u;
    for (var step = window.begin; step < window.end; step += 1u) {
        if reads_ring && step != window.begin {
            earlier = ring_arrival(true, step, neuron);
        }
        let arrival = with_drive(block_arrival(window, step, neuron, earlier), drive);
        if update(&record, moment_after(block_turn.clock, step), neuron, arrival, words) != NO_SPIKE {
            spikes |= 1u << step;
        }
    }
    store_state(neuron, before, *words);
    if spikes == 0u {
        return;
    }
    let at = atomicAdd(&queued[window.number % 2u], 1u);
    if at < QUEUE {
        queue[at] = vec2<u32>(neuron, spikes);
    } else {
        list_spikes(window.number, neuron, spikes);
    }
    if window.is_last && ((spikes >> (window.end - 1u)) & 1u) != 0u {
        let member = neuron - window.neuron;
        atomicOr(&block_fired[member / 32u], 1u << (member % 32u));
    }
}

/// Sets the turns of all workgroups and the counters for the first batch of a slice.
@compute @workgroup_size(WORKGROUP_SIZE)
fn begin_turns(@builtin(local_invocation_index) local: u32) {
    var clock = time.before;
    clock.batch = 0u;
    let recorded = atomicLoad(&time.recorded);
    for (var block = local; block < min(settings.blocks, arrayLength(&turns)); block += WORKGROUP_SIZE) {
        turns[block] = Turn(clock, 0u, recorded);
    }
    for (var counter = local; counter < 3u * BATCH_MAX; counter += WORKGROUP_SIZE) {
        atomicStore(&time.batch_pieces[counter], 0u);
    }
    if local < 3u {
        atomicStore(&time.batch_spikes[local], 0u);
    }
}

/// Does a batch of steps, one workgroup per block.
@compute @workgroup_size(WORKGROUP_SIZE)
fn fused(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let size = block_size();
    let first = workgroup.x * size;
    clear_sums(size, local, WORKGROUP_SIZE);
    for (var word = local; word < BLOCK_MAX / 32u; word += WORKGROUP_SIZE) {
        atomicStore(&block_fired[word], 0u);
    }
    if local < 2u {
        atomicStore(&staged_counts[local], 0u);
        atomicStore(&queued[local], 0u);
    }
    for (var list = local; list < min(windows(), BATCH_MAX); list += WORKGROUP_SIZE) {
        // All three counters are read at once, in order not to wait for the turn.
        let listed = vec3<u32>(
            atomicLoad(&time.batch_pieces[list_counter(0u, list)]),
            atomicLoad(&time.batch_pieces[list_counter(1u, list)]),
            atomicLoad(&time.batch_pieces[list_counter(2u, list)]),
        );
        block_listed[list] = min(listed[(turns[workgroup.x].number + 2u) % 3u], settings.neurons);
    }
    if local == 0u {
        var turn = turns[workgroup.x];
        turn.recorded += atomicLoad(&time.batch_spikes[(turn.number + 2u) % 3u]);
        turn.clock.is_halted = is_full(turn.recorded);
        block_turn = turn;
    }
    let own = first + local;
    let is_owner = local < size && own < settings.neurons;
    // The state of the first neuron of the invocation. It has more if the block has more neurons than invocations.
    var words = vec4<u32>(0u);
    if is_owner {
        words = state_of(own);
    }
    let block = place_of(workgroup.x);
    // If there are none, the turn stays as it is: the lists of the last batch remain for `settle`.
    let steps = steps_of(workgroupUniformLoad(&block_turn).clock);
    for (var number = local; number < min(windows(), BATCH_MAX); number += WORKGROUP_SIZE) {
        block_received[number] = received_by(window_of(number, steps, first, size));
    }
    var window = window_of(0u, steps, first, size);
    var received = workgroupUniformLoad(&block_received[0]);
    let round_size = min(WORKGROUP_SIZE, STAGE);
    // The lowest index of a piece of the invocation: none exists if it has no piece in any round.
    let index_min = select(0xffffffffu, local, local < round_size);
    let first_piece = received_piece(window, index_min);
    var segment = segment_of(block, first_piece.x, first_piece.y);
    var ahead = round_after(Round(0u, 0u), round_size);
    var piece = received_piece(window_of(ahead.window, steps, first, size), max(ahead.begin + local, index_min));
    var parity = 0u;
    while window.begin < steps {
        if window.number != 0u {
            list_queue(window.number - 1u, local);
        }
        var earlier = Arrival(0, 0, false);
        if is_owner {
            // This can be read early: the spikes that are received now do not arrive in this slot of the ring.
            earlier = ring_arrival(has_ring_input(), window.begin, own);
        }
        if block_turn.number != 0u {
            // The injections of the first batch are in the ring.
            inject_into_block(window, block_turn.clock, local, WORKGROUP_SIZE);
        }
        // Each window has a round at least.
        for (var begin = 0u; begin == 0u || begin < received; begin += round_size) {
            stage(block, segment, parity);
            segment = segment_of(block, piece.x, piece.y);
            ahead = round_after(ahead, round_size);
            piece = received_piece(window_of(ahead.window, steps, first, size), max(ahead.begin + local, index_min));
            workgroupBarrier();
            receive_staged(block, window, block_turn.clock, parity, local, WORKGROUP_SIZE);
            parity = 1u - parity;
            // All invocations have read this counter before the last barrier.
            atomicStore(&staged_counts[parity], 0u);
            workgroupBarrier();
        }
        if local == 0u {
            atomicStore(&queued[(window.number + 1u) % 2u], 0u);
        }
        if is_owner {
            advance_in_window(window, own, earlier, &words);
        }
        for (var neuron = own + WORKGROUP_SIZE; neuron < min(first + size, settings.neurons); neuron += WORKGROUP_SIZE) {
            var other = state_of(neuron);
            advance_in_window(window, neuron, ring_arrival(has_ring_input(), window.begin, neuron), &other);
        }
        window = window_of(window.number + 1u, steps, first, size);
        // This load is also the barrier at the end of the window.
        received = workgroupUniformLoad(&block_received[min(window.number, BATCH_MAX - 1u)]);
    }
    if steps == 0u {
        return;
    }
    list_queue((steps - 1u) / settings.window, local);
    let next = block_turn.number + 1u;
    if local == 0u {
        turns[workgroup.x] = Turn(clock_after(block_turn.clock, steps), next, block_turn.recorded);
        if workgroup.x == 0u {
            atomicStore(&time.batch_spikes[next % 3u], 0u);
        }
    }
    if workgroup.x == 0u {
        for (var list = local; list < windows(); list += WORKGROUP_SIZE) {
            atomicStore(&time.batch_pieces[list_counter(next, list)], 0u);
        }
    }
    for (var word = local; word < size / 32u; word += WORKGROUP_SIZE) {
        if first + 32u * word < settings.neurons {
            fired[first / 32u + word] = atomicLoad(&block_fired[word]);
        }
    }
}

/// Ends a slice: delivers the spikes of its last batch and the injections of the next batch to the ring, and sets the
/// clock.
@compute @workgroup_size(MEMBERS)
fn settle(
    @builtin(global_invocation_id) invocation: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
) {
    let turn = turns[0];
    let team = 1u << SETTLE_TEAM_BITS;
    let teams = stride_of(workgroups.x * MEMBERS, SETTLE_TEAM_BITS);
    for (var list = 0u; list < min(windows(), BATCH_MAX); list += 1u) {
        let first = list_start(turn.number + 1u, list);
        let count = min(atomicLoad(&time.batch_pieces[list_counter(turn.number + 2u, list)]), settings.neurons);
        for (var index = invocation.x >> SETTLE_TEAM_BITS; index < count; index += teams) {
            let piece = pieces[first + index];
            let row = rows[piece.place];
            for (var i = invocation.x & (team - 1u); i < row.y; i += team) {
                deliver(turn.clock.first, piece.spikes, piece.scale, unpacked(row.x, i));
            }
        }
    }
    if turn.number != 0u {
        inject(turn.clock, invocation.x, workgroups.x * MEMBERS);
    }
    if invocation.x == 0u {
        let recorded = turn.recorded + atomicLoad(&time.batch_spikes[(turn.number + 2u) % 3u]);
        var clock = turn.clock;
        clock.parity = 0u;
        clock.is_halted = is_full(recorded);
        time.before = clock;
        atomicStore(&time.recorded, recorded);
        atomicStore(&time.pieces[0], 0u);
        atomicStore(&time.pieces[1], 0u);
    }
}
