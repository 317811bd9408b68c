//! Poisson processes: source neurons, and Poisson inputs of other neurons.
//!
//! Twin: `kvrm_spiking::model::poisson`.

import package::spiking::bindings::{Record, record_of, records, settings, tables};
import package::spiking::random::{draw, step_key};
import package::spiking::record::{Moment, signed_of, word_of};
import package::spiking::record_words::{SOURCE_ALWAYS, SOURCE_PROBABILITY, WORD_POISSON};

/// Returns whether a source fires in a step.
fn update_source(record: ptr<function, Record>, moment: Moment, neuron: u32) -> bool {
    let key = step_key(settings.source_base, moment.step, moment.step_high);
    return word_of(record, SOURCE_ALWAYS) != 0u || draw(key, neuron) < word_of(record, SOURCE_PROBABILITY);
}

/// The table of the distribution of a Poisson input. It is empty if a neuron has none.
struct Distribution {
    /// The index of the first entry.
    start: u32,
    /// The number of entries.
    length: u32,
}

/// The number of entries up to which a table is read from its beginning.
const SHORT_TABLE = 24u;

/// Returns how many of four entries of a table exist and are not greater than a number.
fn count_due(distribution: Distribution, entries: vec4<u32>, number: u32) -> u32 {
    let places = distribution.start + entries;
    let values = vec4<u32>(tables[places.x], tables[places.y], tables[places.z], tables[places.w]);
    let are_due = (entries < vec4<u32>(distribution.length)) & (values <= vec4<u32>(number));
    let counts = select(vec4<u32>(0u), vec4<u32>(1u), are_due);
    return counts.x + counts.y + counts.z + counts.w;
}

/// Returns the number of events of a neuron's Poisson input in a step.
fn count_events(distribution: Distribution, moment: Moment, neuron: u32) -> u32 {
    if distribution.length == 0u {
        return 0u;
    }
    let key = step_key(settings.input_base, moment.step, moment.step_high);
    let number = draw(key, neuron);
    // The table is sorted, and the result is the number of entries that are not greater than the random number. Eight entries
    // are loaded at once: in a short table the first ones, as most results are below 8. A long table is divided into nine parts:
    // the last entries of the first eight tell in which part the search goes on.
    let four = vec4<u32>(0u, 1u, 2u, 3u);
    var count = 0u;
    if distribution.length > SHORT_TABLE {
        let size = (distribution.length + 8u) / 9u;
        let ends = size * (four + 1u) - 1u;
        count = size * (count_due(distribution, ends, number) + count_due(distribution, ends + 4u * size, number));
    }
    for (var first = count; first < distribution.length && count == first; first += 8u) {
        count += count_due(distribution, first + four, number) + count_due(distribution, first + four + 4u, number);
    }
    return count;
}

/// Returns the number of events of the Poisson input of a neuron whose record has been loaded.
fn poisson_events(record: ptr<function, Record>, moment: Moment, neuron: u32) -> u32 {
    let distribution = Distribution(word_of(record, WORD_POISSON), word_of(record, WORD_POISSON + 1u));
    return count_events(distribution, moment, neuron);
}

/// Returns the number of events of the Poisson input of a neuron whose record has not been loaded.
fn poisson_events_ahead(moment: Moment, neuron: u32) -> u32 {
    let record = record_of[neuron];
    let distribution = Distribution(records[record].words[WORD_POISSON], records[record].words[WORD_POISSON + 1u]);
    return count_events(distribution, moment, neuron);
}

/// Returns the Poisson input of `events` events, in mV with 20 fraction bits.
fn poisson_input(record: ptr<function, Record>, events: u32) -> u64 {
    return u64(events) * u64(i64(signed_of(record, WORD_POISSON + 2u)));
}
