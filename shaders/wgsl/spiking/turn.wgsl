//! How the clock goes on.

import package::spiking::bindings::{Clock, pieces, settings, time};
import package::spiking::layout::{BATCH_MAX, MEMBERS};

/// Whether every loop that depends on settings ends: pieces have synapses, and batches, teams and the ring have a size
/// that there is.
fn are_settings_sound() -> bool {
    let are_teams = max(settings.team_bits, settings.segment_team_bits) <= firstTrailingBit(MEMBERS);
    return settings.piece != 0u && settings.batch <= BATCH_MAX && settings.slots != 0u && are_teams;
}

/// How many steps the next batch has. With settings that are not sound it has none: the clock stands still, and the
/// host notices.
fn steps_of(clock: Clock) -> u32 {
    let may_go_on = clock.is_halted == 0u && are_settings_sound();
    return select(0u, min(settings.batch, clock.remaining), may_go_on);
}

/// How many pieces have been listed, of as many as there is room for.
fn listed_pieces(count: u32) -> u32 {
    return min(count, arrayLength(&pieces));
}

/// How far apart the pieces are that a team takes, if so many invocations work on pieces together.
fn stride_of(invocations: u32, team_bits: u32) -> u32 {
    return max(invocations >> team_bits, 1u);
}

/// The clock behind a batch of so many steps.
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

/// 1 if there is no room for all that a batch may record, with so many spikes recorded.
fn is_full(spikes: u32) -> u32 {
    let room = settings.recording - min(settings.recording, spikes);
    return select(0u, 1u, settings.recording != 0u && room < settings.batch * settings.recorded);
}

/// Ends a batch: the next one counts its pieces elsewhere.
fn end_batch(clock: Clock) {
    var next = clock;
    next.parity = 1u - clock.parity;
    atomicStore(&time.pieces[next.parity], 0u);
    next.is_halted = is_full(atomicLoad(&time.recorded));
    time.before = next;
}
