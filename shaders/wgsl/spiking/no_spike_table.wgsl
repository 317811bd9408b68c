//! Takes the place of `spiked` where targets do not look at sources.

import package::spiking::advance::{Advanced};

/// Shows the spikes of a neuron: not here.
fn show_spikes(neuron: u32, advanced: Advanced) {}
