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
    next.injected = clock.injected - min(clock.injected, steps);
    return next;
}

/// The list behind another.
fn list_behind(list: u32) -> u32 {
    return select(list + 1u, 0u, list == 2u);
}

/// 1 if there is no room for all that two batches may record, one of which may be under way, with so many spikes recorded.
fn is_full(spikes: u32) -> u32 {
    let room = settings.recording - min(settings.recording, spikes);
    return select(0u, 1u, settings.recording != 0u && room / 2u < settings.batch * settings.recorded);
}

/// Up to which of the next steps injections are made at the end of a batch.
fn steps_ahead(clock: Clock) -> u32 {
    return min(settings.ahead, clock.remaining);
}

/// Ends a batch that has been delivered, while injections of the next one are made.
fn end_batch(clock: Clock) {
    var next = clock;
    next.list = list_behind(clock.list);
    atomicStore(&time.counts[next.list], 0u);
    atomicStore(&time.counts[list_behind(next.list)], 0u);
    next.injected = max(clock.injected, steps_ahead(clock));
    next.is_halted = is_full(atomicLoad(&time.counts[RECORDED]));
    time.before = next;
}
