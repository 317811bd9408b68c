//! The second kernel of a step: delivers the spikes of a batch to their targets, and the injections of the next batch.
//!
//! A team of a few invocations shares a piece of a row. Teams take pieces in turns, regardless of their rows, so that
//! all teams have the same amount of work.

import package::spiking::bindings::{settings, time};
import package::spiking::deliver::{deliver_piece};
import package::spiking::inject::{inject};
import package::spiking::layout::{MEMBERS};
import package::spiking::turn::{end_batch, listed_pieces, stride_of};

/// Delivers the spikes of the last batch, and sets the clock for the next batch.
@compute @workgroup_size(MEMBERS)
fn propagate(
    @builtin(global_invocation_id) invocation: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
) {
    let clock = time.after;
    let count = listed_pieces(atomicLoad(&time.pieces[clock.parity]));
    let team = 1u << settings.team_bits;
    let teams = stride_of(workgroups.x * MEMBERS, settings.team_bits);
    for (var index = invocation.x >> settings.team_bits; index < count; index += teams) {
        deliver_piece(clock, index, invocation.x & (team - 1u), team);
    }
    if clock.batch != 0u {
        inject(clock, invocation.x, workgroups.x * MEMBERS);
    }
    if invocation.x == 0u {
        end_batch(clock);
    }
}
