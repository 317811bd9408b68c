//! The second kernel of a step when a large part of all neurons fires: each target looks up the spikes of its sources,
//! so teams do not add to the same sums of the ring. All synapses have the same delay.

import package::spiking::accumulators::{add_input, port_of, slot_behind};
import package::spiking::bindings::{incoming, incoming_starts, settings, spiked, time};
import package::spiking::deliver::{amount_of};
import package::spiking::inject::{inject};
import package::spiking::layout::{BATCH_MAX, MEMBERS};
import package::spiking::turn::{end_batch, stride_of};

/// The sums of the input of each team's target, two ports each.
var<workgroup> team_sums: array<atomic<i32>, 2u * MEMBERS>;
/// For each team, 1 if any input arrives at its target.
var<workgroup> team_arrivals: array<atomic<u32>, MEMBERS>;

/// Sums the input that a neuron receives from the spikes of a step of the batch. All invocations of a team call it.
fn sum_arrivals(neuron: u32, step: u32, team: u32, member: u32, members: u32) {
    var sums = array<i32, 2>(0, 0);
    var is_arrival = false;
    let end = incoming_starts[neuron + 1u];
    for (var i = incoming_starts[neuron] + member; i < end; i += members) {
        let synapse = incoming[i];
        let source = spiked[synapse.x];
        if ((source.x >> step) & 1u) != 0u {
            let weight = i32(synapse.y);
            sums[port_of(weight)] += amount_of(weight, source.y);
            is_arrival = true;
        }
    }
    if is_arrival {
        atomicAdd(&team_sums[2u * team], sums[0]);
        atomicAdd(&team_sums[2u * team + 1u], sums[1]);
        atomicStore(&team_arrivals[team], 1u);
    }
}

/// Delivers the spikes of the last batch, and sets the clock for the next batch.
@compute @workgroup_size(MEMBERS)
fn pull(
    @builtin(global_invocation_id) invocation: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
    @builtin(num_workgroups) workgroups: vec3<u32>,
) {
    atomicStore(&team_sums[local], 0);
    atomicStore(&team_sums[MEMBERS + local], 0);
    atomicStore(&team_arrivals[local], 0u);
    workgroupBarrier();
    let clock = time.after;
    let members = 1u << settings.team_bits;
    let member = local & (members - 1u);
    let team = local >> settings.team_bits;
    let teams = stride_of(workgroups.x * MEMBERS, settings.team_bits);
    for (var first = 0u; first < settings.neurons; first += teams) {
        let neuron = first + (invocation.x >> settings.team_bits);
        for (var step = 0u; step < min(settings.batch, BATCH_MAX); step += 1u) {
            if neuron < settings.neurons && step < clock.batch {
                sum_arrivals(neuron, step, team, member, members);
            }
            workgroupBarrier();
            if member == 0u && atomicLoad(&team_arrivals[team]) != 0u {
                let slot = slot_behind(slot_behind(clock.first, step), settings.min_delay);
                for (var port = 0u; port < settings.ports; port += 1u) {
                    add_input(slot, port, neuron, atomicLoad(&team_sums[2u * team + port]));
                    atomicStore(&team_sums[2u * team + port], 0);
                }
                atomicStore(&team_arrivals[team], 0u);
            }
            workgroupBarrier();
        }
    }
    if clock.batch != 0u {
        inject(clock, invocation.x, workgroups.x * MEMBERS);
    }
    if invocation.x == 0u {
        end_batch(clock);
    }
}
