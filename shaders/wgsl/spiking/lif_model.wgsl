//! The substitute for `models` in networks of LIF neurons alone, which needs fewer registers.

import package::spiking::bindings::{Record};
import package::spiking::lif::{update_lif};
import package::spiking::record::{Arrival, Moment, NO_SPIKE};

/// Updates a neuron for one step. Returns 1 if it fires, or `NO_SPIKE`.
fn update(record: ptr<function, Record>, moment: Moment, neuron: u32, arrival: Arrival, words: ptr<function, vec4<u32>>) -> u32 {
    return select(NO_SPIKE, 1u, update_lif(record, arrival, words));
}
