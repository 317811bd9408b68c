//! How the clock goes on.

import package::spiking::bindings::{Clock, RECORDED, settings, time};

/// How many steps the next batch has.
fn steps_of(clock: Clock) -> u32 {
    return select(min(settings.batch, clock.remaining), 0u, clock.is_halted != 0u);
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
    atomicStore(&time.counts[next.parity], 0u);
    next.is_halted = is_full(atomicLoad(&time.counts[RECORDED]));
    time.before = next;
}
