//! The kernel that does a whole batch of steps in one dispatch. Each workgroup owns a block of the neurons: it sums the
//! input of the block in workgroup memory, and updates its neurons from these sums. Weights are constant.
//!
//! ```
//! spikes of the last batch --> sums of the block --+--> update neurons --> spikes of this batch
//! injections --> ring -----------------------------+
//! ```
//!
//! Synapses are sorted by block, source and target, so a workgroup reads a small part of the memory. Their words are read
//! in quads, groups of four. If the sums of a whole batch do not fit in workgroup memory, the batch is done in windows of
//! some steps. Each window has its own list of spikes: if all delays are as long as a batch, these spikes arrive in the
//! same window of the next batch.
//!
//! Between the dispatches of a slice, the spikes of the last batch are lists that have not been delivered. The ring has
//! the input that was there when the slice began, injections, and the input of synapses whose delays are longer than a batch.
//! If the longest delay is a batch, only the first batch of a slice and those with injections read it. `settle` delivers the
//! lists when the slice ends, so the host and other kernels find the ring that they would have without this kernel.
//!
//! Workgroups agree without reading what others write in the same dispatch: each has its own clock, and three counters
//! take turns.

import package::spiking::accumulators::{slot_behind};
import package::spiking::advance::{moment_after, state_of, store_state, taken, with_drive};
import package::spiking::bindings::{Piece, Turn, fired, pieces, record_of, records, settings, time, turns};
import package::spiking::block_size::{block_size};
import package::spiking::block_sums::{block_arrival, clear_sums};
import package::spiking::inject::{has_injections, inject_into};
import package::spiking::layout::{BATCH_MAX, BLOCK_MAX, QUEUE};
import package::spiking::lists::{
    Window, block_listed, block_received, block_turn, list_counter, list_start, received_by, window_of, windows,
};
import package::spiking::models::{update};
import package::spiking::poisson::{poisson_events, poisson_events_ahead};
import package::spiking::record::{Arrival, NO_SPIKE, signed_of};
import package::spiking::record_words::{WORD_DRIVE};
import package::spiking::segments::{place_of};
import package::spiking::spike_recording::{record_spikes, recorded_spikes};
import package::spiking::staged::{clear_receiver, first_ahead, receive_pieces};
import package::spiking::turn::{clock_after, is_full, steps_of};

/// The invocations of a workgroup.
override WORKGROUP_SIZE: u32 = 256u;

/// The neurons that fired in a window, and their spikes, a bit for each step of the batch.
var<workgroup> queue: array<vec2<u32>, QUEUE>;
/// The numbers of neurons that were queued in even and odd windows.
var<workgroup> queued: array<atomic<u32>, 2>;
/// A bit for each neuron of the block that fired in the last step of the batch.
var<workgroup> block_fired: array<atomic<u32>, BLOCK_MAX / 32u>;

/// Whether the batch has injections. It is not set if the chunk has none.
var<workgroup> has_block_injections: bool;

/// Returns whether the ring may have input for a batch. After the first batch of a slice, it has input only if there are
/// injections or delays are longer than a batch.
fn has_ring_input() -> bool {
    return block_turn.number == 0u
        || (settings.injections != 0u && has_block_injections)
        || settings.batch < settings.slots;
}

/// Returns the input of a neuron from the ring in a step. There is none unless `reads_ring`.
fn ring_arrival(reads_ring: bool, step: u32, neuron: u32) -> Arrival {
    if reads_ring {
        return taken(slot_behind(block_turn.clock.head, step), neuron);
    }
    return Arrival(0, 0, false, 0u);
}

/// Returns the input of a neuron in the first step of a window from the ring and from its Poisson input. That from the sums of
/// the block is not part of it.
fn first_arrival(window: Window, neuron: u32) -> Arrival {
    var arrival = ring_arrival(has_ring_input(), window.begin, neuron);
    arrival.events = poisson_events_ahead(moment_after(block_turn.clock, window.begin), neuron);
    return arrival;
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

/// Updates a neuron of the block for the steps of a window, and queues its spikes. `first` is its `first_arrival`.
fn advance_in_window(window: Window, neuron: u32, first: Arrival, words: ptr<function, vec4<u32>>) {
    // The whole record is loaded at once, in order not to wait for its words one by one.
    var record = records[record_of[neuron]];
    let before = *words;
    let drive = signed_of(&record, WORD_DRIVE);
    let reads_ring = has_ring_input();
    var earlier = first;
    var spikes = 0u;
    for (var step = window.begin; step < window.end; step += 1u) {
        let moment = moment_after(block_turn.clock, step);
        if step != window.begin {
            earlier = ring_arrival(reads_ring, step, neuron);
            earlier.events = poisson_events(&record, moment, neuron);
        }
        let arrival = with_drive(block_arrival(window, step, neuron, earlier), drive);
        if update(&record, moment, neuron, arrival, words) != NO_SPIKE {
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

/// Does a batch of steps, one workgroup per block.
@compute @workgroup_size(WORKGROUP_SIZE)
fn fused(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let size = block_size();
    let first = workgroup.x * size;
    clear_sums(size, local, WORKGROUP_SIZE);
    for (var word = local; word < BLOCK_MAX / 32u; word += WORKGROUP_SIZE) {
        atomicStore(&block_fired[word], 0u);
    }
    clear_receiver(local);
    if local < 2u {
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
        if settings.injections != 0u {
            has_block_injections = has_injections(turn.clock, steps_of(turn.clock));
        }
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
    if settings.injections != 0u {
        // The injections of the first batch are in the ring already, and `settle` adds those of a batch that is not done.
        if has_block_injections && block_turn.number != 0u {
            inject_into(block_turn.clock, first, size, local, WORKGROUP_SIZE);
        }
        storageBarrier();
    }
    var window = window_of(0u, steps, first, size);
    var received = workgroupUniformLoad(&block_received[0]);
    var ahead = first_ahead(block, window, steps, local, WORKGROUP_SIZE);
    while window.begin < steps {
        if window.number != 0u {
            list_queue(window.number - 1u, local);
        }
        var earlier = Arrival(0, 0, false, 0u);
        if is_owner {
            // This can be read before spikes are received, as none of them arrives in this slot of the ring.
            earlier = first_arrival(window, own);
        }
        receive_pieces(block, window, received, steps, local, WORKGROUP_SIZE, &ahead);
        if local == 0u {
            atomicStore(&queued[(window.number + 1u) % 2u], 0u);
        }
        if is_owner {
            advance_in_window(window, own, earlier, &words);
        }
        for (var neuron = own + WORKGROUP_SIZE; neuron < min(first + size, settings.neurons); neuron += WORKGROUP_SIZE) {
            var other = state_of(neuron);
            advance_in_window(window, neuron, first_arrival(window, neuron), &other);
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
