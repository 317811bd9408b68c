//! The models of neurons.

import package::spiking::bindings::{Record};
import package::spiking::feagi::{update_feagi};
import package::spiking::izhikevich::{update_izhikevich};
import package::spiking::lif::{update_lif};
import package::spiking::poisson::{update_source};
import package::spiking::record::{Arrival, Moment, NO_SPIKE};
import package::spiking::record_words::{KIND_FEAGI, KIND_IZHIKEVICH, KIND_LIF, KIND_POISSON};

/// Updates a neuron for one step. Returns its postsynaptic potential if it fires, or `NO_SPIKE`.
fn update(record: ptr<function, Record>, moment: Moment, neuron: u32, arrival: Arrival, words: ptr<function, vec4<u32>>) -> u32 {
    var fires = false;
    switch (*record).kind {
        case KIND_FEAGI: { return update_feagi(record, moment, neuron, arrival, words); }
        case KIND_LIF: { fires = update_lif(record, arrival, words); }
        case KIND_IZHIKEVICH: { fires = update_izhikevich(record, arrival, words); }
        case KIND_POISSON: { fires = update_source(record, moment, neuron); }
        default: {}
    }
    return select(NO_SPIKE, 1u, fires);
}
