//! The second kernel of a step: brings the spikes of a batch to their targets, and injections to the next batch.
//!
//! A few invocations, a team, share a piece of a row. Teams take pieces in turns, whatever rows these are of, so that
//! all have as much to do.

import package::spiking::bindings::{settings, time};
import package::spiking::deliver::{deliver_piece};
import package::spiking::inject::{inject};
import package::spiking::layout::{MEMBERS};
import package::spiking::turn::{end_batch, listed_pieces, stride_of};

/// Delivers what fired in the last batch, and sets the clock for the next.
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
        deliver_piece(clock.first, index, invocation.x & (team - 1u), team);
    }
    if clock.batch != 0u {
        inject(clock, invocation.x, workgroups.x * MEMBERS);
    }
    if invocation.x == 0u {
        end_batch(clock);
    }
}
