//! What arrives at the neurons of a workgroup, where all synapses take equally long: it is summed up in workgroup memory,
//! which takes changes many times faster than the ring.

import package::spiking::accumulators::{add_alone, port_of, slot_behind};
import package::spiking::bindings::{Clock, settings};
import package::spiking::deliver::{amount_of};
import package::spiking::marks::{HAS_MARKS};
import package::spiking::unpack::{Synapse};

/// Sums of a workgroup: one for each step of a batch, port and neuron.
override SUMS: u32 = 2048u;
/// Words of bits for them.
override ZEROS: u32 = 64u;

/// What arrives.
var<workgroup> sums: array<atomic<i32>, SUMS>;
/// Which sums are zero though something has arrived.
var<workgroup> zeros: array<atomic<u32>, ZEROS>;

/// Begins, with all invocations of the workgroup; a barrier has to follow.
fn clear_sums(member: u32, members: u32) {
    let used = settings.batch * settings.ports * settings.share;
    for (var place = member; place < used; place += members) {
        atomicStore(&sums[place], 0);
    }
    for (var word = member; HAS_MARKS && word * 32u < used; word += members) {
        atomicStore(&zeros[word], 0u);
    }
}

/// Adds the events of a synapse, one for each step of the last batch in which its source fired. `begin` is the first neuron
/// of the workgroup.
fn gather(begin: u32, clock: Clock, spikes: u32, scale: u32, synapse: Synapse) {
    let amount = amount_of(synapse.weight, scale);
    let own = port_of(synapse.weight) * settings.share + synapse.destination - begin;
    var rest = spikes;
    while rest != 0u {
        let place = firstTrailingBit(rest) * settings.ports * settings.share + own;
        if !HAS_MARKS {
            atomicAdd(&sums[place], amount);
        } else if atomicAdd(&sums[place], amount) + amount == 0 {
            atomicOr(&zeros[place / 32u], 1u << (place % 32u));
        }
        rest &= rest - 1u;
    }
}

/// Brings the sums to the ring, with all invocations of the workgroup, once all have gathered.
fn settle(begin: u32, clock: Clock, member: u32, members: u32) {
    let sums_of_step = settings.ports * settings.share;
    for (var place = member; place < clock.batch * sums_of_step; place += members) {
        let sum = atomicLoad(&sums[place]);
        let is_marked = HAS_MARKS && ((atomicLoad(&zeros[place / 32u]) >> (place % 32u)) & 1u) != 0u;
        if sum != 0 || is_marked {
            let slot = slot_behind(slot_behind(clock.first, place / sums_of_step), settings.min_delay);
            let own = place % sums_of_step;
            add_alone(slot, own / settings.share, begin + own % settings.share, sum);
        }
    }
}
