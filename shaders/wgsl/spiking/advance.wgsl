//! The update of a neuron in the steps of a batch, between which neurons exchange no spikes.

import package::spiking::accumulators::{slot_behind, take_sum};
import package::spiking::bindings::{Clock, Record, columns, record_of, records, rows, settings};
import package::spiking::fixed::{scale};
import package::spiking::learn::{update_history};
import package::spiking::marks::{HAS_MARKS, take_mark};
import package::spiking::models::{update};
import package::spiking::poisson::{poisson_events};
import package::spiking::record::{Arrival, Moment, NO_SPIKE, signed_of, word_of};
import package::spiking::record_words::{
    FEAGI_DIVIDED, FEAGI_FLAGS, KIND_FEAGI, WORD_DRIVE, WORD_POPULATION,
};

/// The outcome of a batch for a neuron.
struct BatchOutcome {
    /// The steps in which the neuron fired, a bit each.
    spikes: u32,
    /// The factor of weights for the last of these spikes, with 16 fraction bits.
    scale: u32,
    /// Whether the neuron's row has to be listed, because the neuron fired or a rule visits the row.
    is_listed: bool,
}

/// Takes the input of a neuron in a step from the ring.
fn taken(slot: u32, neuron: u32) -> Arrival {
    var arrival = Arrival(take_sum(slot, 0u, neuron), 0, false, 0u);
    if settings.ports == 2u {
        arrival.inhibitory = take_sum(slot, 1u, neuron);
    }
    arrival.is_input = take_mark(slot, neuron) || (arrival.excitatory | arrival.inhibitory) != 0;
    return arrival;
}

/// Returns the input of a neuron together with the drive.
fn with_drive(input: Arrival, drive: i32) -> Arrival {
    var arrival = input;
    arrival.is_input = input.is_input || drive != 0;
    if settings.ports == 2u && drive < 0 {
        arrival.inhibitory += drive;
    } else {
        arrival.excitatory += drive;
    }
    return arrival;
}

/// Returns the state of a neuron.
fn state_of(neuron: u32) -> vec4<u32> {
    let count = settings.neurons;
    return vec4<u32>(columns[neuron], columns[count + neuron], columns[2u * count + neuron], columns[3u * count + neuron]);
}

/// Stores the words of a neuron's state that have changed: LIF neurons mostly change all columns except the refractory
/// steps, others mostly none. The code has no loop, because a vector indexed by a variable would be in memory.
fn store_state(neuron: u32, before: vec4<u32>, words: vec4<u32>) {
    let count = settings.neurons;
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
}

/// Returns the outcome of a batch in which a neuron fired in the steps `spikes`, at last with the postsynaptic potential
/// `last`. `is_visited` says whether a rule visits its row.
fn outcome_of(record: ptr<function, Record>, neuron: u32, spikes: u32, last: u32, is_visited: bool) -> BatchOutcome {
    let is_listed = is_visited || spikes != 0u;
    // Only FEAGI's neurons have scales other than 1.
    if !HAS_MARKS {
        return BatchOutcome(spikes, 0x10000u, is_listed);
    }
    let is_feagi = (*record).kind == KIND_FEAGI;
    let is_divided = is_feagi && (word_of(record, FEAGI_FLAGS) & FEAGI_DIVIDED) != 0u;
    return BatchOutcome(spikes, scale(last, is_divided, rows[neuron].y), is_listed);
}

/// Returns the moment `distance` steps after the next step of a clock.
fn moment_after(clock: Clock, distance: u32) -> Moment {
    let step = clock.step + distance;
    return Moment(step, clock.step_high + select(0u, 1u, step < distance));
}

/// Updates a neuron for `steps` steps, starting with that of the clock.
fn advance(neuron: u32, clock: Clock, steps: u32) -> BatchOutcome {
    // The whole record is loaded at once, in order not to wait for its words one by one.
    var record = records[record_of[neuron]];
    let drive = signed_of(&record, WORD_DRIVE);
    let before = state_of(neuron);
    var words = before;
    var spikes = 0u;
    var last = 1u;
    for (var i = 0u; i < steps; i += 1u) {
        let moment = moment_after(clock, i);
        var arrival = with_drive(taken(slot_behind(clock.head, i), neuron), drive);
        arrival.events = poisson_events(&record, moment, neuron);
        let psp = update(&record, moment, neuron, arrival, &words);
        if psp != NO_SPIKE {
            spikes |= 1u << i;
            last = psp;
        }
    }
    store_state(neuron, before, words);
    let is_visited = update_history(neuron, word_of(&record, WORD_POPULATION), spikes, steps);
    return outcome_of(&record, neuron, spikes, last, is_visited);
}
