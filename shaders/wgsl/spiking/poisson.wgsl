//! Poisson processes: sources, and inputs of neurons.
//!
//! Twin: `kvrm_spiking::model::poisson`.

import package::spiking::bindings::{settings, tables};
import package::spiking::random::{draw, step_key};
import package::spiking::record::{Moment, WORD_POISSON, signed_of, word_of};

/// Word: the probability to fire.
const SOURCE_PROBABILITY = 2u;
/// Word: 1 if it fires always.
const SOURCE_ALWAYS = 3u;

/// One step of a source; whether it fires.
fn update_source(record: u32, moment: Moment, neuron: u32) -> bool {
    let key = step_key(settings.source_base, moment.step, moment.step_high);
    return word_of(record, SOURCE_ALWAYS) != 0u || draw(key, neuron) < word_of(record, SOURCE_PROBABILITY);
}

/// What the Poisson input of a neuron brings in a step, in mV with 20 fraction bits.
fn poisson_input(record: u32, moment: Moment, neuron: u32) -> u64 {
    let length = word_of(record, WORD_POISSON + 1u);
    if length == 0u {
        return 0lu;
    }
    let start = word_of(record, WORD_POISSON);
    let key = step_key(settings.input_base, moment.step, moment.step_high);
    let number = draw(key, neuron);
    // The table is sorted: the count is how many of its entries are not greater. Mostly it is among the first, which are
    // read at once.
    var count = 0u;
    while count + 8u <= length && tables[start + count + 7u] <= number {
        count += 8u;
    }
    while count < length && tables[start + count] <= number {
        count += 1u;
    }
    return u64(count) * u64(i64(signed_of(record, WORD_POISSON + 2u)));
}
