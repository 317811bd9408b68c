//! What the neurons of a workgroup leave behind in a batch: they count it in workgroup memory, so that there is one change
//! of the common counts a workgroup.

import package::spiking::advance::{Advanced};
import package::spiking::bindings::{Clock, RECORDED, fired, time};
import package::spiking::list::{list_pieces, pieces_of};
import package::spiking::spikes::{record_spikes, recorded_spikes};

/// Words of bits for the neurons of a workgroup.
const FIRED_WORDS = 256u;

/// Where something of a neuron lies among what the workgroup leaves behind.
struct Places {
    /// Its pieces.
    list: u32,
    /// Its recorded spikes.
    note: u32,
}

/// How many pieces there are.
var<workgroup> listed: atomic<u32>;
/// How many spikes are recorded.
var<workgroup> noted: atomic<u32>;
/// A bit for each neuron that fired in the last step.
var<workgroup> fired_now: array<atomic<u32>, FIRED_WORDS>;
/// Where all pieces and recorded spikes of the workgroup begin.
var<workgroup> begins: Places;

/// Begins, with all invocations of a workgroup that has so many neurons; a barrier has to follow.
fn clear_counts(neurons: u32, member: u32, members: u32) {
    for (var word = member; word * 32u < neurons; word += members) {
        atomicStore(&fired_now[word], 0u);
    }
    if member == 0u {
        atomicStore(&listed, 0u);
        atomicStore(&noted, 0u);
    }
}

/// Counts what a neuron has, the one of this index in the workgroup, in a batch of so many steps.
fn count_own(neuron: u32, index: u32, advanced: Advanced, steps: u32) -> Places {
    if !advanced.is_listed {
        return Places(0u, 0u);
    }
    atomicOr(&fired_now[index / 32u], ((advanced.spikes >> (steps - 1u)) & 1u) << (index % 32u));
    return Places(
        atomicAdd(&listed, pieces_of(neuron)),
        atomicAdd(&noted, recorded_spikes(neuron, advanced.spikes)),
    );
}

/// Makes room in a list for what all invocations have counted. One of them does.
fn claim(list: u32) {
    let pieces = atomicLoad(&listed);
    if pieces != 0u {
        begins.list = atomicAdd(&time.counts[list], pieces);
    }
    let spikes = atomicLoad(&noted);
    if spikes != 0u {
        begins.note = atomicAdd(&time.counts[RECORDED], spikes);
    }
}

/// Says which neurons have fired in the last step, for those around one whose index is a multiple of 32.
fn show_fired(neuron: u32, index: u32) {
    fired[neuron / 32u] = atomicLoad(&fired_now[index / 32u]);
}

/// Leaves behind what a neuron has counted. Its list begins at an element of `pieces`.
fn leave_behind(neuron: u32, advanced: Advanced, places: Places, clock: Clock, begin: u32) {
    if advanced.is_listed {
        list_pieces(neuron, advanced, begin + begins.list + places.list);
        record_spikes(neuron, advanced.spikes, clock, begins.note + places.note);
    }
}
