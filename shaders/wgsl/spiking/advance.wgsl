//! A neuron in the steps of a batch, between which nothing is exchanged.

import package::spiking::accumulators::{slot_behind, take_sum};
import package::spiking::bindings::{Clock, Record, columns, record_of, records, rows, settings};
import package::spiking::feagi::{NO_SPIKE, update_feagi};
import package::spiking::fixed::{scale};
import package::spiking::izhikevich::{update_izhikevich};
import package::spiking::learn::{remember};
import package::spiking::lif::{update_lif};
import package::spiking::marks::{HAS_MARKS, take_mark};
import package::spiking::poisson::{update_source};
import package::spiking::record::{Arrival, Moment, signed_of, word_of};
import package::spiking::record_words::{
    FEAGI_DIVIDED, FEAGI_FLAGS, KIND_FEAGI, KIND_IZHIKEVICH, KIND_LIF, KIND_POISSON, WORD_DRIVE,
    WORD_POPULATION,
};

/// What became of a neuron in a batch.
struct Advanced {
    /// In which steps it fired, a bit each.
    spikes: u32,
    /// What the last of these multiplies weights with, with 16 fraction bits.
    scale: u32,
    /// Whether there is something to do for its row.
    is_listed: bool,
}

/// What a neuron gets in a step.
fn arrival_of(slot: u32, neuron: u32, drive: i32) -> Arrival {
    var arrival = Arrival(take_sum(slot, 0u, neuron), 0, false);
    if settings.ports == 2u {
        arrival.inhibitory = take_sum(slot, 1u, neuron);
    }
    let has_sum = (arrival.excitatory | arrival.inhibitory) != 0;
    arrival.is_input = take_mark(slot, neuron) || has_sum || drive != 0;
    if settings.ports == 2u && drive < 0 {
        arrival.inhibitory += drive;
    } else {
        arrival.excitatory += drive;
    }
    return arrival;
}

/// One step of a neuron; the postsynaptic potential if it fires, or `NO_SPIKE`.
fn update(record: ptr<function, Record>, moment: Moment, neuron: u32, arrival: Arrival, words: ptr<function, vec4<u32>>) -> u32 {
    var fires = false;
    switch (*record).kind {
        case KIND_FEAGI: { return update_feagi(record, moment, neuron, arrival, words); }
        case KIND_LIF: { fires = update_lif(record, moment, neuron, arrival, words); }
        case KIND_IZHIKEVICH: { fires = update_izhikevich(record, moment, neuron, arrival, words); }
        case KIND_POISSON: { fires = update_source(record, moment, neuron); }
        default: {}
    }
    return select(NO_SPIKE, 1u, fires);
}

/// Does so many steps of a neuron, from the one that the clock says.
fn advance(neuron: u32, clock: Clock, steps: u32) -> Advanced {
    // All of it at once: the words have not to be waited for one by one.
    var record = records[record_of[neuron]];
    let drive = signed_of(&record, WORD_DRIVE);
    let count = settings.neurons;
    let before =
        vec4<u32>(columns[neuron], columns[count + neuron], columns[2u * count + neuron], columns[3u * count + neuron]);
    var words = before;
    var spikes = 0u;
    var last = 1u;
    for (var i = 0u; i < steps; i += 1u) {
        let step = clock.step + i;
        let moment = Moment(step, clock.step_high + select(0u, 1u, step < i));
        let arrival = arrival_of(slot_behind(clock.head, i), neuron, drive);
        let psp = update(&record, moment, neuron, arrival, &words);
        if psp != NO_SPIKE {
            spikes |= 1u << i;
            last = psp;
        }
    }
    // Most neurons change little: the columns of LIF neurons but for refractory steps, of others mostly none. Without a
    // loop, as words that are found by a number lie in memory.
    if words.x != before.x {
        columns[neuron] = words.x;
    }
    if words.y != before.y {
        columns[count + neuron] = words.y;
    }
    if words.z != before.z {
        columns[2u * count + neuron] = words.z;
    }
    if words.w != before.w {
        columns[3u * count + neuron] = words.w;
    }
    let is_listed = remember(neuron, word_of(&record, WORD_POPULATION), spikes) || spikes != 0u;
    // Only FEAGI's neurons have other scales than 1.
    if !HAS_MARKS {
        return Advanced(spikes, 0x10000u, is_listed);
    }
    let is_feagi = record.kind == KIND_FEAGI;
    let is_divided = is_feagi && (word_of(&record, FEAGI_FLAGS) & FEAGI_DIVIDED) != 0u;
    return Advanced(spikes, scale(last, is_divided, rows[neuron].y), is_listed);
}
