//! The kernel that does a whole batch of steps in one dispatch. Each workgroup owns a block of the neurons: it sums the
//! input of the block in workgroup memory, and updates its neurons from these sums. Weights are constant.
//!
//! ```
//! spikes of the last batch --+--> sums of the block --> update neurons --> spikes of this batch
//! injections ----------------+                            ring --+
//! ```
//!
//! Between the dispatches of a slice, the spikes of the last batch are a list that has not been delivered. The ring has
//! the input that was there when the slice began, and that of synapses whose delays are longer than a batch. If the
//! longest delay is a batch, only the first batch of a slice reads it. `settle` delivers the list when the slice ends, so
//! the host and other kernels find the ring that they would have without this kernel.
//!
//! Workgroups agree without reading what others write in the same dispatch: each has its own clock, and three counters
//! take turns.

import package::spiking::accumulators::{add_input, port_of, slot_behind};
import package::spiking::advance::{
    BatchOutcome, moment_after, outcome_of, state_of, store_state, taken, update, with_drive,
};
import package::spiking::bindings::{
    Clock, Record, Turn, fired, injection_starts, injections, piece_sources, pieces, record_of, records,
    segments, settings, time, turns,
};
import package::spiking::deliver::{amount_of, deliver_piece};
import package::spiking::feagi::{NO_SPIKE};
import package::spiking::inject::{inject};
import package::spiking::layout::{BATCH_MAX, BLOCK_MAX, MEMBERS};
import package::spiking::list::{list_pieces, pieces_of};
import package::spiking::marks::{HAS_MARKS};
import package::spiking::partition_size::{partition_size};
import package::spiking::record::{Arrival, signed_of};
import package::spiking::record_words::{WORD_DRIVE};
import package::spiking::spike_recording::{record_spikes, recorded_spikes};
import package::spiking::turn::{clock_after, is_full, steps_of, stride_of};
import package::spiking::unpack::{Synapse, unpacked};

/// The invocations of a workgroup, at least as many as a block has neurons.
override WORKGROUP_SIZE: u32 = 256u;
/// The number of sums of a workgroup.
override BLOCK_SUMS: u32 = 3840u;

/// The sums of the input of the block: a word for each step of a window, port and neuron, in this order.
var<workgroup> block_sums: array<atomic<i32>, BLOCK_SUMS>;
/// A bit for each neuron of the block, one of whose sums has become zero although input has arrived.
var<workgroup> block_zeros: array<atomic<u32>, BLOCK_MAX / 32u>;
/// A bit for each neuron of the block that fired in the last step of the batch.
var<workgroup> block_fired: array<atomic<u32>, BLOCK_MAX / 32u>;
/// The number of neurons that the workgroup lists.
var<workgroup> block_pieces: atomic<u32>;
/// The number of spikes that the workgroup records.
var<workgroup> block_spikes: atomic<u32>;
/// The index of the workgroup's first entry in the list.
var<workgroup> first_piece: u32;
/// The index of the workgroup's first recorded spike.
var<workgroup> first_spike: u32;
/// The turn of the workgroup.
var<workgroup> block_turn: Turn;

/// Steps of a batch whose sums are in workgroup memory at the same time.
struct Window {
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

/// Returns the number of steps whose sums fit in workgroup memory. Networks with marks have batches of one step.
fn window_steps() -> u32 {
    return select(max(BLOCK_SUMS / (settings.ports * partition_size()), 1u), 1u, HAS_MARKS);
}

/// Returns the index of a sum of a neuron of the block.
fn block_place(window: Window, step: u32, port: u32, neuron: u32) -> u32 {
    return ((step - window.begin) * settings.ports + port) * window.size + neuron - window.neuron;
}

/// Adds input to a sum of a neuron of the block.
fn add_to_block(window: Window, step: u32, port: u32, neuron: u32, amount: i32) {
    let place = block_place(window, step, port, neuron);
    if !HAS_MARKS {
        atomicAdd(&block_sums[place], amount);
    } else if atomicAdd(&block_sums[place], amount) + amount == 0 {
        let member = neuron - window.neuron;
        atomicOr(&block_zeros[member / 32u], 1u << (member % 32u));
    }
}

/// Takes a sum of a neuron of the block, and sets it to zero.
fn take_from_block(window: Window, step: u32, port: u32, neuron: u32) -> i32 {
    let place = block_place(window, step, port, neuron);
    let sum = atomicLoad(&block_sums[place]);
    atomicStore(&block_sums[place], 0);
    return sum;
}

/// Returns the input of a neuron of the block in a step, and that from the ring if `reads_ring`.
fn block_arrival(window: Window, step: u32, neuron: u32, head: u32, reads_ring: bool) -> Arrival {
    var arrival = Arrival(take_from_block(window, step, 0u, neuron), 0, false);
    if settings.ports == 2u {
        arrival.inhibitory = take_from_block(window, step, 1u, neuron);
    }
    arrival.is_input = (arrival.excitatory | arrival.inhibitory) != 0;
    if HAS_MARKS {
        let member = neuron - window.neuron;
        let is_zero = ((atomicLoad(&block_zeros[member / 32u]) >> (member % 32u)) & 1u) != 0u;
        arrival.is_input = arrival.is_input || is_zero;
    }
    if reads_ring {
        let earlier = taken(slot_behind(head, step), neuron);
        arrival.excitatory += earlier.excitatory;
        arrival.inhibitory += earlier.inhibitory;
        arrival.is_input = arrival.is_input || earlier.is_input;
    }
    return arrival;
}

/// Returns the lowest `count` bits.
fn lowest_bits(count: u32) -> u32 {
    return select((1u << (count & 31u)) - 1u, 0xffffffffu, count >= 32u);
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

/// Delivers the spikes of a synapse to a neuron of the block: those that arrive in the window to its sums, and those that
/// arrive after the batch to the ring.
fn hear_synapse(window: Window, clock: Clock, spikes: u32, scale: u32, synapse: Synapse) {
    let port = port_of(synapse.weight);
    let amount = amount_of(synapse.weight, scale);
    // A batch is no longer than the shortest delay.
    let lead = synapse.delay - clock.batch;
    var rest = spikes;
    while rest != 0u {
        let step = lead + firstTrailingBit(rest);
        if window.begin <= step && step < window.end {
            add_to_block(window, step, port, synapse.destination, amount);
        } else if step >= window.end && window.is_last {
            add_input(slot_behind(clock.head, step), port, synapse.destination, amount);
        }
        rest &= rest - 1u;
    }
}

/// Delivers the spikes of the last batch to the neurons of block `block`.
fn hear(window: Window, turn: Turn, block: u32, local: u32) {
    let count = min(atomicLoad(&time.batch_pieces[(turn.number + 2u) % 3u]), settings.neurons);
    let first = ((turn.number + 1u) % 2u) * settings.neurons;
    let due = due_steps(window, turn.clock.batch);
    let team = 1u << settings.segment_team_bits;
    let teams = stride_of(WORKGROUP_SIZE, settings.segment_team_bits);
    for (var index = local >> settings.segment_team_bits; index < count; index += teams) {
        let piece = pieces[first + index];
        let spikes = piece.spikes & due;
        if spikes != 0u {
            let segment = piece_sources[first + index] * (settings.partitions + 1u) + block;
            let end = segments[segment + 1u];
            for (var i = segments[segment] + (local & (team - 1u)); i < end; i += team) {
                hear_synapse(window, turn.clock, spikes, piece.scale, unpacked(piece.place, i));
            }
        }
    }
}

/// Adds the injections of the window to the sums of the block.
fn inject_into_block(window: Window, clock: Clock, local: u32) {
    if settings.injections == 0u {
        return;
    }
    let first = settings.steps - clock.remaining;
    for (var step = window.begin; step < window.end; step += 1u) {
        let end = injection_starts[first + step + 1u];
        for (var index = injection_starts[first + step] + local; index < end; index += WORKGROUP_SIZE) {
            let injection = injections[index];
            let amount = i32(injection.y);
            if injection.x - window.neuron < window.size {
                add_to_block(window, step, port_of(amount), injection.x, amount);
            }
        }
    }
}

/// Sets the turns of all workgroups and the counters for the first batch of a slice.
@compute @workgroup_size(WORKGROUP_SIZE)
fn begin_turns(@builtin(local_invocation_index) local: u32) {
    var clock = time.before;
    clock.batch = 0u;
    let recorded = atomicLoad(&time.recorded);
    for (var block = local; block < min(settings.partitions, arrayLength(&turns)); block += WORKGROUP_SIZE) {
        turns[block] = Turn(clock, 0u, recorded);
    }
    if local < 3u {
        atomicStore(&time.batch_spikes[local], 0u);
        atomicStore(&time.batch_pieces[local], 0u);
    }
}

/// Does a batch of steps, one workgroup per block.
@compute @workgroup_size(WORKGROUP_SIZE)
fn fused(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let size = partition_size();
    let length = window_steps();
    for (var place = local; place < min(length * settings.ports * size, BLOCK_SUMS); place += WORKGROUP_SIZE) {
        atomicStore(&block_sums[place], 0);
    }
    for (var word = local; word < BLOCK_MAX / 32u; word += WORKGROUP_SIZE) {
        atomicStore(&block_zeros[word], 0u);
        atomicStore(&block_fired[word], 0u);
    }
    if local == 0u {
        atomicStore(&block_pieces, 0u);
        atomicStore(&block_spikes, 0u);
        var begun = turns[workgroup.x];
        begun.recorded += atomicLoad(&time.batch_spikes[(begun.number + 2u) % 3u]);
        begun.clock.is_halted = is_full(begun.recorded);
        block_turn = begun;
    }
    workgroupBarrier();
    let turn = block_turn;
    let clock = turn.clock;
    // If there are none, the turn stays as it is: the list of the last batch remains for `settle`.
    let steps = steps_of(clock);
    let first = workgroup.x * size;
    let neuron = first + local;
    let is_owned = local < size && neuron < settings.neurons && steps != 0u;
    var record: Record;
    var before = vec4<u32>(0u);
    if is_owned {
        // The whole record is loaded at once, in order not to wait for its words one by one.
        record = records[record_of[neuron]];
        before = state_of(neuron);
    }
    let drive = signed_of(&record, WORD_DRIVE);
    // After the first batch of a slice, the ring has input only if delays are longer than a batch.
    let reads_ring = turn.number == 0u || settings.batch < settings.slots;
    var words = before;
    var spikes = 0u;
    var last = 1u;
    for (var begin = 0u; begin < min(settings.batch, BATCH_MAX); begin += length) {
        let end = min(begin + length, steps);
        let window = Window(first, size, begin, end, end == steps);
        if begin < steps && turn.number != 0u {
            hear(window, turn, workgroup.x, local);
            // The injections of the first batch are in the ring.
            inject_into_block(window, clock, local);
        }
        workgroupBarrier();
        for (var step = begin; step < end && is_owned; step += 1u) {
            let arrival = with_drive(block_arrival(window, step, neuron, clock.head, reads_ring), drive);
            let psp = update(&record, moment_after(clock, step), neuron, arrival, &words);
            if psp != NO_SPIKE {
                spikes |= 1u << step;
                last = psp;
            }
        }
        workgroupBarrier();
    }
    var outcome = BatchOutcome(0u, 0u, false);
    var list_at = 0u;
    var note_at = 0u;
    if is_owned {
        store_state(neuron, before, words);
        outcome = outcome_of(&record, neuron, spikes, last);
        if outcome.is_listed {
            list_at = atomicAdd(&block_pieces, pieces_of(neuron));
            note_at = atomicAdd(&block_spikes, recorded_spikes(neuron, spikes));
            atomicOr(&block_fired[local / 32u], ((spikes >> (steps - 1u)) & 1u) << (local % 32u));
        }
    }
    workgroupBarrier();
    let counter = turn.number % 3u;
    if local == 0u && steps != 0u {
        first_piece = (turn.number % 2u) * settings.neurons;
        let listed = atomicLoad(&block_pieces);
        if listed != 0u {
            first_piece += atomicAdd(&time.batch_pieces[counter], listed);
        }
        first_spike = turn.recorded;
        let noted = atomicLoad(&block_spikes);
        if noted != 0u {
            first_spike += atomicAdd(&time.batch_spikes[counter], noted);
        }
        turns[workgroup.x] = Turn(clock_after(clock, steps), turn.number + 1u, turn.recorded);
        if workgroup.x == 0u {
            atomicStore(&time.batch_pieces[(counter + 1u) % 3u], 0u);
            atomicStore(&time.batch_spikes[(counter + 1u) % 3u], 0u);
        }
    }
    if is_owned && local % 32u == 0u {
        fired[neuron / 32u] = atomicLoad(&block_fired[local / 32u]);
    }
    workgroupBarrier();
    if outcome.is_listed {
        list_pieces(neuron, outcome, first_piece + list_at);
        record_spikes(neuron, spikes, clock, first_spike + note_at);
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
    let newest = (turn.number + 2u) % 3u;
    let count = min(atomicLoad(&time.batch_pieces[newest]), settings.neurons);
    let first = ((turn.number + 1u) % 2u) * settings.neurons;
    let team = 1u << settings.team_bits;
    let teams = stride_of(workgroups.x * MEMBERS, settings.team_bits);
    for (var index = invocation.x >> settings.team_bits; index < count; index += teams) {
        deliver_piece(turn.clock.first, first + index, invocation.x & (team - 1u), team);
    }
    if turn.number != 0u {
        inject(turn.clock, invocation.x, workgroups.x * MEMBERS);
    }
    if invocation.x == 0u {
        let recorded = turn.recorded + atomicLoad(&time.batch_spikes[newest]);
        var clock = turn.clock;
        clock.parity = 0u;
        clock.is_halted = is_full(recorded);
        time.before = clock;
        atomicStore(&time.recorded, recorded);
        atomicStore(&time.pieces[0], 0u);
        atomicStore(&time.pieces[1], 0u);
    }
}
