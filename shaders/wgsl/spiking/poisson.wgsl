//! Poisson processes: source neurons, and Poisson inputs of other neurons.
//!
//! Twin: `kvrm_spiking::model::poisson`.

import package::spiking::bindings::{Record, settings, tables};
import package::spiking::random::{draw, step_key};
import package::spiking::record::{Moment, signed_of, word_of};
import package::spiking::record_words::{SOURCE_ALWAYS, SOURCE_PROBABILITY, WORD_POISSON};

/// Returns whether a source fires in a step.
fn update_source(record: ptr<function, Record>, moment: Moment, neuron: u32) -> bool {
    let key = step_key(settings.source_base, moment.step, moment.step_high);
    return word_of(record, SOURCE_ALWAYS) != 0u || draw(key, neuron) < word_of(record, SOURCE_PROBABILITY);
}

/// Returns how many of four entries of a table exist and are not greater than a number.
fn count_due(start: u32, length: u32, entries: vec4<u32>, number: u32) -> u32 {
    let places = start + entries;
    let values = vec4<u32>(tables[places.x], tables[places.y], tables[places.z], tables[places.w]);
    let are_due = (entries < vec4<u32>(length)) & (values <= vec4<u32>(number));
    let counts = select(vec4<u32>(0u), vec4<u32>(1u), are_due);
    return counts.x + counts.y + counts.z + counts.w;
}

/// Returns whether a neuron has Poisson input.
fn has_poisson_input(record: ptr<function, Record>) -> bool {
    return word_of(record, WORD_POISSON + 1u) != 0u;
}

/// Returns the Poisson input of a neuron in a step, in mV with 20 fraction bits.
fn poisson_input(record: ptr<function, Record>, moment: Moment, neuron: u32) -> u64 {
    if !has_poisson_input(record) {
        return 0lu;
    }
    let length = word_of(record, WORD_POISSON + 1u);
    let start = word_of(record, WORD_POISSON);
    let key = step_key(settings.input_base, moment.step, moment.step_high);
    let number = draw(key, neuron);
    // The table is sorted, and the result is the number of entries that are not greater than the random number. Most
    // results are below 8, so eight entries are loaded at once.
    var count = 0u;
    for (var first = 0u; first < length && count == first; first += 8u) {
        let low = vec4<u32>(first, first + 1u, first + 2u, first + 3u);
        count += count_due(start, length, low, number) + count_due(start, length, low + 4u, number);
    }
    return u64(count) * u64(i64(signed_of(record, WORD_POISSON + 2u)));
}
