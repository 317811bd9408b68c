//! The second kernel of a step where a good part of all neurons fires: targets look at the sources of their synapses,
//! and nobody has to change a sum that others change, too. All synapses have the same delay.

import package::spiking::accumulators::{add_input, port_of, slot_behind};
import package::spiking::bindings::{incoming, incoming_starts, settings, spiked, time};
import package::spiking::deliver::{amount_of};
import package::spiking::inject::{inject};
import package::spiking::layout::{BATCH_MAX, MEMBERS};
import package::spiking::turn::{end_batch, stride_of};

/// What arrives at the target of each team, at two ports.
var<workgroup> team_sums: array<atomic<i32>, 2u * MEMBERS>;
/// Whether anything arrives.
var<workgroup> team_arrivals: array<atomic<u32>, MEMBERS>;

/// Adds up what arrives at a neuron by a step of a batch, with all invocations of a team.
fn look(neuron: u32, step: u32, team: u32, member: u32, members: u32) {
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

/// Delivers what fired in the last batch, and sets the clock for the next.
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
                look(neuron, step, team, member, members);
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
