//! The beginning and the end of a slice of the kernel `fused`. They are apart from it, because each binding of a kernel that
//! is written costs time between two dispatches.

import package::spiking::bindings::{Turn, pieces, rows, settings, time, turns};
import package::spiking::deliver::{deliver};
import package::spiking::inject::{inject};
import package::spiking::layout::{BATCH_MAX, MEMBERS, SETTLE_TEAM_BITS};
import package::spiking::lists::{list_counter, list_start, windows};
import package::spiking::turn::{is_full, stride_of};
import package::spiking::unpack::{unpacked};

/// Sets the turns of all workgroups and the counters for the first batch of a slice.
@compute @workgroup_size(MEMBERS)
fn begin_turns(@builtin(local_invocation_index) local: u32) {
    var clock = time.before;
    clock.batch = 0u;
    let recorded = atomicLoad(&time.recorded);
    for (var block = local; block < min(settings.blocks, arrayLength(&turns)); block += MEMBERS) {
        turns[block] = Turn(clock, 0u, recorded);
    }
    for (var counter = local; counter < 3u * BATCH_MAX; counter += MEMBERS) {
        atomicStore(&time.batch_pieces[counter], 0u);
    }
    if local < 3u {
        atomicStore(&time.batch_spikes[local], 0u);
    }
}

/// Ends a slice: delivers the spikes of its last batch and the injections of the next batch to the ring, and sets the
/// clock.
@compute @workgroup_size(MEMBERS)
fn settle(
    @builtin(global_invocation_id) invocation: vec3<u32>,
    @builtin(num_workgroups) workgroups: vec3<u32>,
) {
    let turn = turns[0];
    let team = 1u << SETTLE_TEAM_BITS;
    let teams = stride_of(workgroups.x * MEMBERS, SETTLE_TEAM_BITS);
    for (var list = 0u; list < min(windows(), BATCH_MAX); list += 1u) {
        let first = list_start(turn.number + 1u, list);
        let count = min(atomicLoad(&time.batch_pieces[list_counter(turn.number + 2u, list)]), settings.neurons);
        for (var index = invocation.x >> SETTLE_TEAM_BITS; index < count; index += teams) {
            let piece = pieces[first + index];
            let row = rows[piece.place];
            for (var i = invocation.x & (team - 1u); i < row.y; i += team) {
                deliver(turn.clock.first, piece.spikes, piece.scale, unpacked(row.x, i));
            }
        }
    }
    if turn.number != 0u {
        inject(turn.clock, invocation.x, workgroups.x * MEMBERS);
    }
    if invocation.x == 0u {
        let recorded = turn.recorded + atomicLoad(&time.batch_spikes[(turn.number + 2u) % 3u]);
        var clock = turn.clock;
        clock.parity = 0u;
        clock.is_halted = is_full(recorded);
        time.before = clock;
        atomicStore(&time.recorded, recorded);
        atomicStore(&time.pieces[0], 0u);
        atomicStore(&time.pieces[1], 0u);
    }
}
