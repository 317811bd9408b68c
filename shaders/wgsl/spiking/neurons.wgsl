//! The first kernel of a step: takes neurons through a batch of steps, and lists what they fire.
//!
//! The neurons of a workgroup count what they have to list in workgroup memory, so that there is one change of the
//! common counts a workgroup.

import package::spiking::advance::{Advanced, advance};
import package::spiking::bindings::{fired, settings, time};
import package::spiking::layout::{MEMBERS, ROW};
import package::spiking::list::{list_pieces, pieces_of};
import package::spiking::spike_table::{show_spikes};
import package::spiking::spike_recording::{record_spikes, recorded_spikes};
import package::spiking::turn::{clock_after, steps_of};

/// How many pieces there are.
var<workgroup> listed: atomic<u32>;
/// How many spikes are recorded.
var<workgroup> noted: atomic<u32>;
/// A bit for each neuron that fired in the last step.
var<workgroup> fired_now: array<atomic<u32>, 8>;
/// Where the pieces of the workgroup begin.
var<workgroup> listed_before: u32;
/// Where its recorded spikes begin.
var<workgroup> noted_before: u32;

/// Does the steps of a batch, and sets the clock for `propagate`.
@compute @workgroup_size(MEMBERS)
fn neurons(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    if local < MEMBERS / 32u {
        atomicStore(&fired_now[local], 0u);
    }
    if local == 0u {
        atomicStore(&listed, 0u);
        atomicStore(&noted, 0u);
    }
    workgroupBarrier();
    let clock = time.before;
    let steps = steps_of(clock);
    let neuron = (workgroup.y * ROW + workgroup.x) * MEMBERS + local;
    var advanced = Advanced(0u, 0u, false);
    var list_at = 0u;
    var note_at = 0u;
    if neuron < settings.neurons && steps != 0u {
        advanced = advance(neuron, clock, steps);
        show_spikes(neuron, advanced);
        if advanced.is_listed {
            list_at = atomicAdd(&listed, pieces_of(neuron));
            note_at = atomicAdd(&noted, recorded_spikes(neuron, advanced.spikes));
            atomicOr(&fired_now[local / 32u], ((advanced.spikes >> (steps - 1u)) & 1u) << (local % 32u));
        }
    }
    workgroupBarrier();
    if local == 0u {
        let pieces = atomicLoad(&listed);
        if pieces != 0u {
            listed_before = atomicAdd(&time.pieces[clock.parity], pieces);
        }
        let spikes = atomicLoad(&noted);
        if spikes != 0u {
            noted_before = atomicAdd(&time.recorded, spikes);
        }
    }
    if neuron % 32u == 0u && neuron < settings.neurons && steps != 0u {
        fired[neuron / 32u] = atomicLoad(&fired_now[local / 32u]);
    }
    workgroupBarrier();
    if advanced.is_listed {
        list_pieces(neuron, advanced, listed_before + list_at);
        record_spikes(neuron, advanced.spikes, clock, noted_before + note_at);
    }
    if neuron == 0u {
        time.after = clock_after(clock, steps);
    }
}
