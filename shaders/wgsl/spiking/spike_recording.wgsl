//! The recording of spikes.

import package::spiking::bindings::{Clock, recording, settings};

/// Returns how many of a neuron's spikes in a batch are recorded: all, or none.
fn recorded_spikes(neuron: u32, spikes: u32) -> u32 {
    let is_recorded = neuron - settings.recorded_first < settings.recorded;
    return select(0u, countOneBits(spikes), is_recorded);
}

/// Records the spikes of a neuron in a batch, from index `place` of the recording on.
fn record_spikes(neuron: u32, spikes: u32, clock: Clock, place: u32) {
    if recorded_spikes(neuron, spikes) == 0u {
        return;
    }
    let step = settings.steps - clock.remaining;
    var at = place;
    var rest = spikes;
    while rest != 0u {
        recording[at] = vec2<u32>(step + firstTrailingBit(rest), neuron);
        at += 1u;
        rest &= rest - 1u;
    }
}
