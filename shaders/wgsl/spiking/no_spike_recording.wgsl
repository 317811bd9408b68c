//! The substitute for `spike_recording` in kernels that record no spikes.

import package::spiking::bindings::{Clock};

/// Returns how many of a neuron's spikes in a batch are recorded: none.
fn recorded_spikes(neuron: u32, spikes: u32) -> u32 {
    return 0u;
}

/// Does nothing: no spikes are recorded.
fn record_spikes(neuron: u32, spikes: u32, clock: Clock, place: u32) {}
