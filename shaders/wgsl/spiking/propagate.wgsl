//! The second kernel of a step: brings the spikes of a batch to their targets, and injections to the next batch.
//!
//! A few invocations, a team, share a piece of a row. Teams take pieces in turns, whatever rows these are of, so that all
//! have as much to do.

import package::spiking::bindings::{RECORDED, clocks, counts, piece_sources, pieces, settings};
import package::spiking::deliver::{deliver};
import package::spiking::inject::{inject};
import package::spiking::learn::{learned};
import package::spiking::unpack::{set_weight, unpacked};

/// Invocations of a workgroup.
const MEMBERS = 256u;

/// Delivers what fired in the last batch, and sets the clock for the next.
@compute @workgroup_size(256)
fn propagate(
    @builtin(global_invocation_id) invocation: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
) {
    let clock = clocks[1];
    let count = atomicLoad(&counts[clock.parity]);
    let team = 1u << settings.team_bits;
    let teams = (workgroups.x * MEMBERS) >> settings.team_bits;
    for (var index = invocation.x >> settings.team_bits; index < count; index += teams) {
        let piece = pieces[index];
        for (var i = invocation.x & (team - 1u); i < piece.synapses; i += team) {
            var synapse = unpacked(piece.place, i);
            if settings.is_plastic != 0u {
                let weight = learned(synapse, piece_sources[index]);
                if weight != synapse.weight {
                    synapse.weight = weight;
                    set_weight(piece.place, i, weight);
                }
            }
            deliver(clock.first, piece.spikes, piece.scale, synapse);
        }
    }
    if clock.batch != 0u {
        inject(clock, invocation.x, workgroups.x * MEMBERS);
    }
    if invocation.x == 0u {
        var next = clock;
        next.parity = 1u - clock.parity;
        atomicStore(&counts[next.parity], 0u);
        // A batch may record all that is recorded at all, in each step.
        let room = settings.recording - min(settings.recording, atomicLoad(&counts[RECORDED]));
        next.is_halted = select(0u, 1u, settings.recording != 0u && room < settings.batch * settings.recorded);
        clocks[0] = next;
    }
}
