//! The first kernel of a step: takes neurons through a batch of steps, and lists what they fire.

import package::spiking::advance::{Advanced, advance};
import package::spiking::bindings::{settings, time};
import package::spiking::listing::{Places, claim, clear_counts, count_own, leave_behind, show_fired};
import package::spiking::spiked::{show_spikes};
import package::spiking::turn::{clock_after, steps_of};

/// Invocations of a workgroup.
const MEMBERS = 256u;
/// The most workgroups in a row of a dispatch.
const ROW = 32768u;

/// Does the steps of a batch, and sets the clock for `propagate`.
@compute @workgroup_size(256)
fn neurons(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    clear_counts(MEMBERS, local, MEMBERS);
    workgroupBarrier();
    let clock = time.before;
    let steps = steps_of(clock);
    let neuron = (workgroup.y * ROW + workgroup.x) * MEMBERS + local;
    let is_active = neuron < settings.neurons && steps != 0u;
    var advanced = Advanced(0u, 0u, false);
    var places = Places(0u, 0u);
    if is_active {
        advanced = advance(neuron, clock, steps);
        show_spikes(neuron, advanced);
        places = count_own(neuron, local, advanced, steps);
    }
    workgroupBarrier();
    if local == 0u {
        claim(clock.list);
    }
    if is_active && local % 32u == 0u {
        show_fired(neuron, local);
    }
    workgroupBarrier();
    leave_behind(neuron, advanced, places, clock, 0u);
    if neuron == 0u {
        time.after = clock_after(clock, steps);
    }
}
