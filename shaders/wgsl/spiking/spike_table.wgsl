//! The table of spikes in which targets look up their sources.

import package::spiking::advance::{BatchOutcome};
import package::spiking::bindings::{spiked};

/// Writes the spikes of a neuron to the table.
fn publish_spikes(neuron: u32, outcome: BatchOutcome) {
    spiked[neuron] = vec2<u32>(outcome.spikes, outcome.scale);
}
