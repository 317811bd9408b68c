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
//! Between the dispatches of a slice, the spikes of the last batch are lists that have not been delivered. The ring has
//! the input that was there when the slice began, and that of synapses whose delays are longer than a batch. If the
//! longest delay is a batch, only the first batch of a slice reads it. `settle` delivers the lists when the slice ends, so
//! the host and other kernels find the ring that they would have without this kernel.
//!
//! Workgroups agree without reading what others write in the same dispatch: each has its own clock, and three counters
//! take turns.

import package::spiking::accumulators::{add_input, port_of, slot_behind};
import package::spiking::advance::{moment_after, state_of, store_state, taken, update, with_drive};
import package::spiking::bindings::{
    Clock, Piece, Record, Turn, blocks_a, blocks_b, blocks_c, blocks_d, fired, injection_starts,
    injections, pieces, record_of, records, rows, segments, settings, time, turns,
};
import package::spiking::deliver::{deliver};
import package::spiking::feagi::{NO_SPIKE};
import package::spiking::inject::{inject};
import package::spiking::layout::{BATCH_MAX, BLOCK_MAX, MEMBERS, QUEUE, STAGE, TEAM_BITS_MAX};
import package::spiking::partition_size::{partition_size};
import package::spiking::record::{Arrival, signed_of};
import package::spiking::record_words::{WORD_DRIVE};
import package::spiking::spike_recording::{record_spikes, recorded_spikes};
import package::spiking::turn::{clock_after, is_full, steps_of, stride_of};
import package::spiking::unpack::{unpacked};

/// The invocations of a workgroup.
override WORKGROUP_SIZE: u32 = 256u;
/// The number of sums of a workgroup.
override BLOCK_SUMS: u32 = 1408u;

/// Stands for no base: the step depends on the synapse, or is not in the window.
const NO_BASE = 0xffffffffu;

/// The synapses of the block whose source is a neuron that fired.
struct Segment {
    /// The index of the first quad.
    place: u32,
    /// The number of quads.
    quads: u32,
    /// The steps of the last batch in which the source fired, a bit each.
    spikes: u32,
}

/// The sums of the input of the block: a word for each step of a window, port and neuron, in this order.
var<workgroup> block_sums: array<atomic<i32>, BLOCK_SUMS>;
/// Segments that were looked up and whose synapses are read next.
var<workgroup> staged: array<Segment, STAGE>;
/// Two counters of staged segments: one counts while the other is set to zero.
var<workgroup> staged_counts: array<atomic<u32>, 2>;
/// The neurons that fired in a window, and their spikes, a bit for each step of the batch.
var<workgroup> queue: array<vec2<u32>, QUEUE>;
/// The numbers of neurons that were queued in even and odd windows.
var<workgroup> queued: array<atomic<u32>, 2>;
/// A bit for each neuron of the block that fired in the last step of the batch.
var<workgroup> block_fired: array<atomic<u32>, BLOCK_MAX / 32u>;
/// The turn of the workgroup.
var<workgroup> block_turn: Turn;
/// The number of pieces in each list of the last batch.
var<workgroup> block_listed: array<u32, BATCH_MAX>;

/// Steps of a batch whose sums are in workgroup memory at the same time.
struct Window {
    /// The index in `segments` of the block's segments.
    segments: u32,
    /// The number of the binding that has the block's synapses.
    part: u32,
    /// The index of the first quad of the block.
    place: u32,
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

/// Returns the number of sums of a step.
fn sums_of_step(window: Window) -> u32 {
    return settings.ports * window.size;
}

/// Takes a sum, and sets it to zero.
fn take_from_block(place: u32) -> i32 {
    let sum = atomicLoad(&block_sums[place]);
    atomicStore(&block_sums[place], 0);
    return sum;
}

/// Returns the input of a neuron of the block in a step, together with that from the ring.
fn block_arrival(window: Window, step: u32, neuron: u32, earlier: Arrival) -> Arrival {
    let place = (step - window.begin) * sums_of_step(window) + neuron - window.neuron;
    var arrival = earlier;
    arrival.excitatory += take_from_block(place);
    if settings.ports == 2u {
        arrival.inhibitory += take_from_block(place + window.size);
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

/// Returns the number of windows of a whole batch. Each has its own list of pieces.
fn windows() -> u32 {
    return (settings.batch + settings.window - 1u) / settings.window;
}

/// Returns the index of the first piece in the list of a window of a batch.
fn list_start(number: u32, window: u32) -> u32 {
    return ((number % 2u) * windows() + window) * settings.neurons;
}

/// Returns the index in `time.batch_pieces` of the length of a list.
fn list_counter(number: u32, window: u32) -> u32 {
    return (number % 3u) * BATCH_MAX + window;
}

/// Returns the index of the first sum of the step in which spikes of step `bit` of the last batch arrive, or `NO_BASE` if
/// that depends on the synapse or is not in the window.
fn base_of(window: Window, clock: Clock, bit: u32) -> u32 {
    let step = settings.min_delay - clock.batch + bit;
    if settings.delay_mask != 0u || step < window.begin || step >= window.end {
        return NO_BASE;
    }
    return (step - window.begin) * sums_of_step(window);
}

/// Delivers a spike of step `bit` of the last batch through a synapse: to a sum if it arrives in the window, and to the ring
/// if it arrives after the batch.
fn receive_word(window: Window, clock: Clock, bit: u32, word: u32) {
    // A batch is no longer than the shortest delay.
    let delay = settings.min_delay + ((word >> settings.block_delay_shift) & settings.delay_mask);
    let step = delay - clock.batch + bit;
    let index = word >> settings.block_index_shift;
    let weight = i32(word << settings.block_weight_shift) >> settings.block_weight_shift;
    if window.begin <= step && step < window.end {
        atomicAdd(&block_sums[(step - window.begin) * sums_of_step(window) + index], weight);
    } else if step >= window.end && window.is_last {
        let port = select(0u, 1u, index >= window.size);
        add_input(slot_behind(clock.head, step), port, window.neuron + index - port * window.size, weight);
    }
}

/// Delivers a spike through a synapse to the sums that begin at `base`. This is the usual case, so it has few instructions.
fn receive_at(base: u32, word: u32) {
    let weight = i32(word << settings.block_weight_shift) >> settings.block_weight_shift;
    atomicAdd(&block_sums[base + (word >> settings.block_index_shift)], weight);
}

/// Returns a quad of synapses.
fn quad_of(window: Window, place: u32) -> vec4<u32> {
    switch window.part {
        case 1u: { return blocks_b[place]; }
        case 2u: { return blocks_c[place]; }
        case 3u: { return blocks_d[place]; }
        default: { return blocks_a[place]; }
    }
}

/// Delivers a spike through the synapses of a quad.
fn receive_quad(window: Window, clock: Clock, base: u32, bit: u32, words: vec4<u32>) {
    if base != NO_BASE {
        receive_at(base, words.x);
        receive_at(base, words.y);
        receive_at(base, words.z);
        receive_at(base, words.w);
    } else {
        receive_word(window, clock, bit, words.x);
        receive_word(window, clock, bit, words.y);
        receive_word(window, clock, bit, words.z);
        receive_word(window, clock, bit, words.w);
    }
}

/// Delivers the spikes of two segments. Each invocation of a team reads a quad of both at the same time, because segments lie
/// far from each other in memory.
fn receive_segments(window: Window, clock: Clock, left: Segment, right: Segment, member: u32, team: u32) {
    var rests = vec2<u32>(left.spikes, right.spikes);
    while any(rests != vec2<u32>(0u)) {
        let bits = firstTrailingBit(rests);
        let bases = vec2<u32>(base_of(window, clock, bits.x), base_of(window, clock, bits.y));
        let ends = select(vec2<u32>(0u), vec2<u32>(left.quads, right.quads), rests != vec2<u32>(0u));
        for (var i = member; i < max(ends.x, ends.y); i += team) {
            // Behind the end, the last quad is read again.
            let of_left = quad_of(window, left.place + min(i, left.quads - 1u));
            let of_right = quad_of(window, right.place + min(i, right.quads - 1u));
            if i < ends.x {
                receive_quad(window, clock, bases.x, bits.x, of_left);
            }
            if i < ends.y {
                receive_quad(window, clock, bases.y, bits.y, of_right);
            }
        }
        rests &= rests - vec2<u32>(1u);
    }
}

/// Stages the segment of a listed neuron, if one of its spikes may arrive in the window.
fn stage_segment(window: Window, index: u32, due: u32, parity: u32) {
    let piece = pieces[index];
    let spikes = piece.spikes & due;
    if spikes == 0u {
        return;
    }
    let segment = window.segments + piece.place;
    let begin = segments[segment];
    let end = segments[segment + 1u];
    if begin < end {
        let at = min(atomicAdd(&staged_counts[parity], 1u), STAGE - 1u);
        staged[at] = Segment(window.place + begin, end - begin, spikes);
    }
}

/// Delivers the spikes of a list to the neurons of the block. First, each invocation looks up a segment, so that many reads
/// are under way at the same time; then teams read the synapses. `parity` is the index of the counter of staged segments
/// that is zero.
fn receive_list(window: Window, turn: Turn, list: u32, listed: u32, local: u32, parity: ptr<function, u32>) {
    let first = list_start(turn.number + 1u, list);
    let due = due_steps(window, turn.clock.batch);
    // As many segments as the teams read in whole rounds.
    let round = min(2u * (WORKGROUP_SIZE >> settings.segment_team_bits), STAGE);
    let chunk = max(STAGE / round * round, 1u);
    for (var begin = 0u; begin < listed; begin += chunk) {
        for (var index = begin + local; index < min(begin + chunk, listed); index += WORKGROUP_SIZE) {
            stage_segment(window, first + index, due, *parity);
        }
        workgroupBarrier();
        let count = min(atomicLoad(&staged_counts[*parity]), STAGE);
        // If there are few segments, more invocations share one.
        let share = firstLeadingBit(max(WORKGROUP_SIZE / max(count, 1u), 1u));
        let team_bits = clamp(share, settings.segment_team_bits, TEAM_BITS_MAX);
        let team = 1u << team_bits;
        let teams = WORKGROUP_SIZE >> team_bits;
        for (var at = local >> team_bits; at < count; at += 2u * teams) {
            let left = staged[at];
            var right = staged[min(at + teams, count - 1u)];
            if at + teams >= count {
                right.spikes = 0u;
            }
            receive_segments(window, turn.clock, left, right, local & (team - 1u), team);
        }
        *parity = 1u - *parity;
        // All invocations have read this counter before the last barrier.
        atomicStore(&staged_counts[*parity], 0u);
        workgroupBarrier();
    }
}

/// Delivers the spikes of the last batch to the neurons of the block. `listed` is the length of the list of the window
/// with this number.
fn receive(window: Window, turn: Turn, listed: u32, local: u32, parity: ptr<function, u32>) {
    let number = window.begin / settings.window;
    receive_list(window, turn, number, listed, local, parity);
    var begin = number + 1u;
    var end = windows();
    if settings.delay_mask != 0u || settings.min_delay != settings.batch {
        begin = 0u;
    } else if !window.is_last {
        // Each spike arrives a batch later, in the window that listed it.
        end = begin;
    }
    for (var list = begin; list < end; list += 1u) {
        let more = workgroupUniformLoad(&block_listed[list]);
        receive_list(window, turn, list, select(more, 0u, list == number), local, parity);
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
            let member = injection.x - window.neuron;
            if member < window.size {
                let place = (step - window.begin) * sums_of_step(window) + member;
                atomicAdd(&block_sums[place + port_of(amount) * window.size], amount);
            }
        }
    }
}

/// A neuron of the block, which belongs to one invocation.
struct Owned {
    /// The number of the neuron.
    neuron: u32,
    /// The parameters.
    record: Record,
    /// The state.
    words: vec4<u32>,
    /// The input from the ring in the first step of the window.
    arrival: Arrival,
}

/// Returns whether the ring may have input for a batch. After the first batch of a slice, it has input only if delays are
/// longer than a batch.
fn reads_ring(turn: Turn) -> bool {
    return turn.number == 0u || settings.batch < settings.slots;
}

/// Returns the input of a neuron from the ring in a step.
fn ring_arrival(turn: Turn, step: u32, neuron: u32) -> Arrival {
    if reads_ring(turn) {
        return taken(slot_behind(turn.clock.head, step), neuron);
    }
    return Arrival(0, 0, false);
}

/// Loads a neuron. The whole record is loaded at once, in order not to wait for its words one by one.
fn loaded(neuron: u32) -> Owned {
    return Owned(neuron, records[record_of[neuron]], state_of(neuron), Arrival(0, 0, false));
}

/// Lists and records the spikes of a neuron in a window.
fn list_spikes(turn: Turn, list: u32, neuron: u32, spikes: u32) {
    let at = atomicAdd(&time.batch_pieces[list_counter(turn.number, list)], 1u);
    pieces[list_start(turn.number, list) + at] = Piece(neuron, 0u, spikes, 0x10000u);
    let recorded = recorded_spikes(neuron, spikes);
    if recorded != 0u {
        let first = atomicAdd(&time.batch_spikes[turn.number % 3u], recorded);
        record_spikes(neuron, spikes, turn.clock, turn.recorded + first);
    }
}

/// Lists and records the queued spikes of a window. The last invocations do it, because they often have no segment to look
/// up meanwhile.
fn list_queue(turn: Turn, list: u32, local: u32) {
    let count = min(atomicLoad(&queued[list % 2u]), QUEUE);
    for (var at = WORKGROUP_SIZE - 1u - local; at < count; at += WORKGROUP_SIZE) {
        list_spikes(turn, list, queue[at].x, queue[at].y);
    }
}

/// Updates a neuron of the block for the steps of a window, and queues its spikes.
fn advance_in_window(window: Window, turn: Turn, owned: ptr<function, Owned>) {
    let neuron = (*owned).neuron;
    let before = (*owned).words;
    var record = (*owned).record;
    var words = before;
    let drive = signed_of(&record, WORD_DRIVE);
    var spikes = 0u;
    for (var step = window.begin; step < window.end; step += 1u) {
        var earlier = (*owned).arrival;
        if step != window.begin {
            earlier = ring_arrival(turn, step, neuron);
        }
        let arrival = with_drive(block_arrival(window, step, neuron, earlier), drive);
        if update(&record, moment_after(turn.clock, step), neuron, arrival, &words) != NO_SPIKE {
            spikes |= 1u << step;
        }
    }
    store_state(neuron, before, words);
    (*owned).words = words;
    if spikes == 0u {
        return;
    }
    let list = window.begin / settings.window;
    let at = atomicAdd(&queued[list % 2u], 1u);
    if at < QUEUE {
        queue[at] = vec2<u32>(neuron, spikes);
    } else {
        list_spikes(turn, list, neuron, spikes);
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
    for (var block = local; block < min(settings.partitions, arrayLength(&turns)); block += WORKGROUP_SIZE) {
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
    let size = partition_size();
    let sums = min(settings.window * settings.ports * size, BLOCK_SUMS);
    for (var place = local; place < sums; place += WORKGROUP_SIZE) {
        atomicStore(&block_sums[place], 0);
    }
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
        var begun = turns[workgroup.x];
        begun.recorded += atomicLoad(&time.batch_spikes[(begun.number + 2u) % 3u]);
        begun.clock.is_halted = is_full(begun.recorded);
        block_turn = begun;
    }
    let first = workgroup.x * size;
    // An invocation has more neurons if the block has more neurons than invocations.
    let is_owner = local < size && first + local < settings.neurons;
    var owned: Owned;
    if is_owner {
        owned = loaded(first + local);
    }
    let turn = workgroupUniformLoad(&block_turn);
    let clock = turn.clock;
    // If there are none, the turn stays as it is: the lists of the last batch remain for `settle`.
    let steps = steps_of(clock);
    let first_segment = workgroup.x * (settings.neurons + 2u);
    let beginning = segments[first_segment + settings.neurons + 1u];
    var parity = 0u;
    var listed = workgroupUniformLoad(&block_listed[0]);
    for (var begin = 0u; begin < steps; begin += settings.window) {
        let end = min(begin + settings.window, steps);
        let window =
            Window(first_segment, beginning >> 30u, beginning & 0x3fffffffu, first, size, begin, end, end == steps);
        let list = begin / settings.window;
        if list != 0u {
            list_queue(turn, list - 1u, local);
        }
        if is_owner {
            // This can be read early: the spikes that are received now do not arrive in this slot of the ring.
            owned.arrival = ring_arrival(turn, begin, owned.neuron);
        }
        if turn.number != 0u {
            receive(window, turn, listed, local, &parity);
            // The injections of the first batch are in the ring.
            inject_into_block(window, clock, local);
        }
        workgroupBarrier();
        if local == 0u {
            atomicStore(&queued[(list + 1u) % 2u], 0u);
        }
        for (var neuron = first + local; neuron < min(first + size, settings.neurons); neuron += WORKGROUP_SIZE) {
            var current = owned;
            if neuron != owned.neuron {
                current = loaded(neuron);
                current.arrival = ring_arrival(turn, begin, neuron);
            }
            advance_in_window(window, turn, &current);
            if neuron == owned.neuron {
                owned.words = current.words;
            }
        }
        // This load is also the barrier at the end of the window.
        listed = workgroupUniformLoad(&block_listed[min(list + 1u, BATCH_MAX - 1u)]);
    }
    if steps == 0u {
        return;
    }
    list_queue(turn, (steps - 1u) / settings.window, local);
    if local == 0u {
        turns[workgroup.x] = Turn(clock_after(clock, steps), turn.number + 1u, turn.recorded);
        if workgroup.x == 0u {
            atomicStore(&time.batch_spikes[(turn.number + 1u) % 3u], 0u);
        }
    }
    if workgroup.x == 0u {
        for (var list = local; list < windows(); list += WORKGROUP_SIZE) {
            atomicStore(&time.batch_pieces[list_counter(turn.number + 1u, list)], 0u);
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
    let team = 1u << TEAM_BITS_MAX;
    let teams = stride_of(workgroups.x * MEMBERS, TEAM_BITS_MAX);
    for (var list = 0u; list < min(windows(), BATCH_MAX); list += 1u) {
        let first = list_start(turn.number + 1u, list);
        let count = min(atomicLoad(&time.batch_pieces[list_counter(turn.number + 2u, list)]), settings.neurons);
        for (var index = invocation.x >> TEAM_BITS_MAX; index < count; index += teams) {
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
