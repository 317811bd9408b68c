//! What targets see of sources that they look at.

import package::spiking::advance::{Advanced};
import package::spiking::bindings::{spiked};

/// Shows the spikes of a neuron.
fn show_spikes(neuron: u32, advanced: Advanced) {
    spiked[neuron] = vec2<u32>(advanced.spikes, advanced.scale);
}
