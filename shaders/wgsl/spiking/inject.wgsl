//! Injections: input that the host uploads before the chunk.

import package::spiking::bindings::{Clock, injection_starts, injections, settings};
import package::spiking::accumulators::{add_input, port_of, slot_behind};

/// Adds the injections of the next batch to the ring. Invocation `member` of `members` adds its share.
fn inject(clock: Clock, member: u32, members: u32) {
    inject_into(clock, 0u, settings.neurons, member, members);
}

/// Does what `inject` does for the `count` neurons from `first` on alone.
fn inject_into(clock: Clock, first: u32, count: u32, member: u32, members: u32) {
    if settings.injections == 0u {
        return;
    }
    let step = settings.steps - clock.remaining;
    for (var i = 0u; i < min(settings.batch, clock.remaining); i += 1u) {
        let end = injection_starts[step + i + 1u];
        for (var index = injection_starts[step + i] + member; index < end; index += members) {
            let injection = injections[index];
            let amount = i32(injection.y);
            if injection.x - first < count {
                add_input(slot_behind(clock.head, i), port_of(amount), injection.x, amount);
            }
        }
    }
}

/// Returns whether there are injections in the next `steps` steps of a chunk that has some.
fn has_injections(clock: Clock, steps: u32) -> bool {
    let step = settings.steps - clock.remaining;
    return injection_starts[step] != injection_starts[step + steps];
}
