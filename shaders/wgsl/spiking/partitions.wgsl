//! The second kernel of a step for networks whose delays are all the same: a workgroup sums the input of a partition of
//! the targets in workgroup memory, where additions are many times faster than in the ring.
//!
//! Rows are sorted by target, so the synapses to a partition are a segment of each row. Pieces are whole rows.

import package::spiking::accumulators::{add_input, port_of, slot_behind};
import package::spiking::bindings::{piece_sources, pieces, rows, segments, settings, time};
import package::spiking::deliver::{amount_of};
import package::spiking::inject::{inject};
import package::spiking::layout::{BATCH_MAX, SUMS};
import package::spiking::partition_size::{partition_size};
import package::spiking::turn::{end_batch, listed_pieces, stride_of};
import package::spiking::unpack::{Synapse, unpacked};

/// The invocations of a workgroup.
override WORKGROUP_SIZE: u32 = 256u;

/// The sums of the input of the partition, by port and then by neuron.
var<workgroup> sums: array<atomic<i32>, SUMS>;
/// A bit for each sum that has become zero although input has arrived.
var<workgroup> zeros: array<atomic<u32>, SUMS / 32u>;

/// Adds the input of a synapse to the sums of the partition whose first neuron is `begin`.
fn gather(begin: u32, scale: u32, synapse: Synapse) {
    let amount = amount_of(synapse.weight, scale);
    let place = port_of(synapse.weight) * (SUMS / settings.ports) + synapse.destination - begin;
    if atomicAdd(&sums[place], amount) + amount == 0 {
        atomicOr(&zeros[place / 32u], 1u << (place % 32u));
    }
}

/// Adds the sums of the partition whose first neuron is `begin` to a slot of the ring, and sets them to zero.
fn flush(begin: u32, slot: u32, local: u32) {
    for (var place = local; place < SUMS; place += WORKGROUP_SIZE) {
        let sum = atomicLoad(&sums[place]);
        let is_marked = ((atomicLoad(&zeros[place / 32u]) >> (place % 32u)) & 1u) != 0u;
        if sum != 0 || is_marked {
            let share = SUMS / settings.ports;
            add_input(slot, place / share, begin + place % share, sum);
            atomicStore(&sums[place], 0);
        }
    }
}

/// Delivers the spikes of the last batch, one workgroup per partition, and sets the clock for the next batch.
@compute @workgroup_size(WORKGROUP_SIZE)
fn partitions(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    for (var place = local; place < SUMS; place += WORKGROUP_SIZE) {
        atomicStore(&sums[place], 0);
    }
    for (var word = local; word < SUMS / 32u; word += WORKGROUP_SIZE) {
        atomicStore(&zeros[word], 0u);
    }
    workgroupBarrier();
    let clock = time.after;
    let count = listed_pieces(atomicLoad(&time.pieces[clock.parity]));
    let begin = workgroup.x * partition_size();
    let team = 1u << settings.segment_team_bits;
    let teams = stride_of(WORKGROUP_SIZE, settings.segment_team_bits);
    for (var step = 0u; step < min(settings.batch, BATCH_MAX); step += 1u) {
        let is_step = step < clock.batch;
        for (var index = local >> settings.segment_team_bits; index < count && is_step; index += teams) {
            let piece = pieces[index];
            if ((piece.spikes >> step) & 1u) != 0u {
                let segment = piece_sources[index] * (settings.partitions + 1u) + workgroup.x;
                let end = segments[segment + 1u];
                for (var i = segments[segment] + (local & (team - 1u)); i < end; i += team) {
                    gather(begin, piece.scale, unpacked(piece.place, i));
                }
            }
        }
        workgroupBarrier();
        // All synapses have the shortest delay.
        flush(begin, slot_behind(slot_behind(clock.first, step), settings.min_delay), local);
        workgroupBarrier();
        for (var word = local; word < SUMS / 32u; word += WORKGROUP_SIZE) {
            atomicStore(&zeros[word], 0u);
        }
        workgroupBarrier();
    }
    if clock.batch != 0u {
        inject(clock, workgroup.x * WORKGROUP_SIZE + local, settings.partitions * WORKGROUP_SIZE);
    }
    if workgroup.x == 0u && local == 0u {
        end_batch(clock);
    }
}

/// Finds the segments of rows. The first dimension is the neuron; the second is the partition, and one more for the
/// end.
@compute @workgroup_size(WORKGROUP_SIZE)
fn divide(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let neuron = workgroup.x * WORKGROUP_SIZE + local;
    if neuron >= settings.neurons {
        return;
    }
    let row = rows[neuron];
    let begin = workgroup.y * partition_size();
    var low = 0u;
    var high = row.y;
    while low < high {
        let middle = (low + high) / 2u;
        if unpacked(row.x, middle).destination < begin {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    segments[neuron * (settings.partitions + 1u) + workgroup.y] = low;
}
