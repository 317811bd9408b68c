//! The clock of the burst engine, and the end of a batch.

import package::spiking::bindings::{Clock, pieces, settings, time};
import package::spiking::layout::{BATCH_MAX, MEMBERS};

/// Whether the settings let every loop end: pieces have synapses, and the sizes of batches, teams and the ring are
/// valid.
fn are_settings_sound() -> bool {
    return settings.piece != 0u && settings.batch <= BATCH_MAX && settings.slots != 0u && settings.window != 0u
        && settings.team_bits <= firstTrailingBit(MEMBERS);
}

/// Returns the number of steps of the next batch. If the settings are not sound it is zero: the clock stands still,
/// which the host detects.
fn steps_of(clock: Clock) -> u32 {
    let may_go_on = clock.is_halted == 0u && are_settings_sound();
    return select(0u, min(settings.batch, clock.remaining), may_go_on);
}

/// Returns the number of listed pieces, limited to the length of the list.
fn listed_pieces(count: u32) -> u32 {
    return min(count, arrayLength(&pieces));
}

/// Returns the number of teams, which is the distance between the pieces that a team processes.
fn stride_of(invocations: u32, team_bits: u32) -> u32 {
    return max(invocations >> team_bits, 1u);
}

/// Returns the clock after a batch of `steps` steps.
fn clock_after(clock: Clock, steps: u32) -> Clock {
    var next = clock;
    next.batch = steps;
    next.first = clock.head;
    next.remaining = clock.remaining - steps;
    next.head = (clock.head + steps) % settings.slots;
    next.step = clock.step + steps;
    next.step_high = clock.step_high + select(0u, 1u, next.step < steps);
    return next;
}

/// Returns 1 if the recording, with `spikes` spikes in it, may not have room for those of another batch, and else 0.
fn is_full(spikes: u32) -> u32 {
    let room = settings.recording - min(settings.recording, spikes);
    return select(0u, 1u, settings.recording != 0u && room < settings.batch * settings.recorded);
}

/// Ends a batch: switches to the other counter of pieces, and sets the clock for `neurons`.
fn end_batch(clock: Clock) {
    var next = clock;
    next.parity = 1u - clock.parity;
    atomicStore(&time.pieces[next.parity], 0u);
    next.is_halted = is_full(atomicLoad(&time.recorded));
    time.before = next;
}
