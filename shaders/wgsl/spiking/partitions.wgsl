//! A step in one dispatch: each workgroup has neurons of its own, a partition. It brings them what fired in the last batch,
//! takes them through the next one, and lists what they fire.
//!
//! Nobody else adds to the sums of its neurons, so it has to wait for no other workgroup. Rows are sorted by target: what
//! leads to a partition is a segment of each row. The first batch of a slice is made by `neurons`, and the last one
//! delivered by `propagate`.

import package::spiking::advance::{Advanced, advance};
import package::spiking::bindings::{Clock, RECORDED, piece_sources, pieces, segments, settings, time};
import package::spiking::inject::{inject};
import package::spiking::listing::{Places, claim, clear_counts, count_own, leave_behind, show_fired};
import package::spiking::sums::{clear_sums, gather, settle};
import package::spiking::turn::{clock_after, is_full, list_behind, steps_of};
import package::spiking::unpack::{Synapse, unpacked};

/// Invocations of a workgroup.
override WORKGROUP_SIZE: u32 = 256u;
/// 0 and 1 in turns: which of two clocks is read and which of two lists is delivered. The others are written.
override TURN: u32 = 0u;

/// The most neurons of a partition for each invocation.
const EACH = 8u;

/// The part of a row that leads to a partition.
struct Segment {
    /// Its first word.
    place: u32,
    /// How many synapses it has.
    synapses: u32,
    /// In which steps of the batch its source fired, a bit each.
    spikes: u32,
    /// What weights are multiplied with, with 16 fraction bits.
    scale: u32,
}

/// The part of the row at an index of the list that leads to the partition of a number; an empty one behind the end.
fn segment_of(index: u32, count: u32, number: u32) -> Segment {
    if index >= count {
        return Segment(0u, 0u, 0u, 0u);
    }
    let at = TURN * settings.neurons + index;
    let piece = pieces[at];
    let segment = piece_sources[at] * (settings.partitions + 1u) + number;
    let begin = segments[segment];
    let place = piece.place + begin * settings.synapse_words;
    return Segment(place, segments[segment + 1u] - begin, piece.spikes, piece.scale);
}

/// A synapse of a segment, or another one where that has ended.
fn synapse_of(segment: Segment, index: u32) -> Synapse {
    return unpacked(segment.place, min(index, max(segment.synapses, 1u) - 1u));
}

/// Gathers the events of a synapse of a segment, if that has so many.
fn gather_from(begin: u32, clock: Clock, segment: Segment, index: u32, synapse: Synapse) {
    if index < segment.synapses {
        gather(begin, clock, segment.spikes, segment.scale, synapse);
    }
}

/// Gathers what the last batch brings to the partition of a number, which begins with a neuron. A few invocations, a team, share the
/// segments of four rows, so that they wait for four at a time.
fn gather_all(begin: u32, clock: Clock, number: u32, local: u32) {
    let count = atomicLoad(&time.counts[clock.list]);
    let team = 1u << settings.gather_bits;
    let teams = WORKGROUP_SIZE >> settings.gather_bits;
    for (var index = local >> settings.gather_bits; index < count; index += 4u * teams) {
        let a = segment_of(index, count, number);
        let b = segment_of(index + teams, count, number);
        let c = segment_of(index + 2u * teams, count, number);
        let d = segment_of(index + 3u * teams, count, number);
        let longest = max(max(a.synapses, b.synapses), max(c.synapses, d.synapses));
        for (var i = local & (team - 1u); i < longest; i += team) {
            let of_a = synapse_of(a, i);
            let of_b = synapse_of(b, i);
            let of_c = synapse_of(c, i);
            let of_d = synapse_of(d, i);
            gather_from(begin, clock, a, i, of_a);
            gather_from(begin, clock, b, i, of_b);
            gather_from(begin, clock, c, i, of_c);
            gather_from(begin, clock, d, i, of_d);
        }
    }
}

/// Sets the clock for the next dispatch, which lists its pieces elsewhere.
fn pass_on(clock: Clock, steps: u32) {
    var next = clock_after(clock, steps);
    next.list = list_behind(clock.list);
    atomicStore(&time.counts[list_behind(next.list)], 0u);
    next.is_halted = is_full(atomicLoad(&time.counts[RECORDED]));
    if TURN == 0u {
        time.before = next;
    } else {
        time.after = next;
    }
}

/// Delivers what fired in the last batch, and makes the next one. A workgroup for each partition.
@compute @workgroup_size(WORKGROUP_SIZE)
fn partitions(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    clear_counts(settings.share, local, WORKGROUP_SIZE);
    clear_sums(local, WORKGROUP_SIZE);
    workgroupBarrier();
    var clock = time.after;
    if TURN != 0u {
        clock = time.before;
    }
    let steps = steps_of(clock);
    let begin = workgroup.x * settings.share;
    let end = min(begin + settings.share, settings.neurons);
    gather_all(begin, clock, workgroup.x, local);
    workgroupBarrier();
    settle(begin, clock, local, WORKGROUP_SIZE);
    storageBarrier();
    workgroupBarrier();
    inject(clock, steps, begin, end - begin, local, WORKGROUP_SIZE);
    storageBarrier();
    workgroupBarrier();
    var advanced: array<Advanced, EACH>;
    var places: array<Places, EACH>;
    var each = 0u;
    for (var neuron = begin + local; neuron < end && steps != 0u; neuron += WORKGROUP_SIZE) {
        advanced[each] = advance(neuron, clock, steps);
        places[each] = count_own(neuron, neuron - begin, advanced[each], steps);
        each += 1u;
    }
    workgroupBarrier();
    if local == 0u {
        claim(list_behind(clock.list));
    }
    workgroupBarrier();
    for (var i = 0u; i < each; i += 1u) {
        let neuron = begin + i * WORKGROUP_SIZE + local;
        if neuron % 32u == 0u {
            show_fired(neuron, neuron - begin);
        }
        leave_behind(neuron, advanced[i], places[i], clock, (1u - TURN) * settings.neurons);
    }
    if workgroup.x == 0u && local == 0u {
        pass_on(clock, steps);
    }
}
