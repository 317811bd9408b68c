//! The neuron of FEAGI.
//!
//! Twin: `kvrm_spiking::model::feagi`. State: low and high word of the potential; the countdown, with the count of
//! consecutive spikes from bit 16 on.

import package::spiking::bindings::{Record};
import package::spiking::fixed::{add_wide, leak};
import package::spiking::random::{excitability};
import package::spiking::record::{Arrival, Moment, NO_SPIKE, membrane_input, wide_of, word_of};
import package::spiking::record_words::{
    FEAGI_ACCUMULATES, FEAGI_CONSECUTIVE_LIMIT, FEAGI_EXCITABILITY, FEAGI_EXCITABLE, FEAGI_FLAGS, FEAGI_KEEP,
    FEAGI_LIMIT, FEAGI_MP_DRIVEN, FEAGI_PERIODS, FEAGI_PSP, FEAGI_THRESHOLD, FEAGI_TICKS_ALWAYS,
};

/// Updates a neuron for one step. Returns the postsynaptic potential if it fires, or `NO_SPIKE`.
fn update_feagi(record: ptr<function, Record>, moment: Moment, neuron: u32, arrival: Arrival, words: ptr<function, vec4<u32>>) -> u32 {
    let flags = word_of(record, FEAGI_FLAGS);
    if (flags & FEAGI_ACCUMULATES) == 0u {
        (*words).x = 0u;
        (*words).y = 0u;
    }
    var countdown = (*words).z & 0xffffu;
    var count = (*words).z >> 16u;
    if !arrival.is_input && ((flags & FEAGI_TICKS_ALWAYS) == 0u || countdown == 0u) {
        return NO_SPIKE;
    }
    let limit = word_of(record, FEAGI_CONSECUTIVE_LIMIT);
    let is_exhausted = limit != 0u && count >= limit;
    if countdown > 0u {
        countdown -= 1u;
        if countdown == 0u && is_exhausted {
            count = 0u;
        }
        (*words).z = (count << 16u) | countdown;
        return NO_SPIKE;
    }
    let before = u64((*words).x) | (u64((*words).y) << 32u);
    var potential = add_wide(before, membrane_input(record, arrival));
    var psp = NO_SPIKE;
    if is_exhausted {
        count = 0u;
    } else if fires_feagi(record, moment, neuron, i64(potential)) {
        psp = word_of(record, FEAGI_PSP);
        if (flags & FEAGI_MP_DRIVEN) != 0u {
            psp = u32(clamp(i32(add_wide(potential, 0x80000000lu) >> 32u), 0, 255));
        }
        potential = 0lu;
        count = min(count + 1u, 0xffffu);
        let periods = word_of(record, FEAGI_PERIODS);
        let snooze = select(0u, periods >> 16u, limit != 0u && count >= limit);
        countdown = min((periods & 0xffffu) + snooze, 0xffffu);
    } else {
        if limit != 0u {
            count = 0u;
        }
        potential = leak(potential, word_of(record, FEAGI_KEEP));
    }
    (*words).x = u32(potential);
    (*words).y = u32(potential >> 32u);
    (*words).z = (count << 16u) | countdown;
    return psp;
}

/// Whether a neuron fires at a potential, provided that it is neither refractory nor exhausted.
fn fires_feagi(record: ptr<function, Record>, moment: Moment, neuron: u32, potential: i64) -> bool {
    if i64(wide_of(record, FEAGI_THRESHOLD)) > potential || potential > i64(wide_of(record, FEAGI_LIMIT)) {
        return false;
    }
    return (word_of(record, FEAGI_FLAGS) & FEAGI_EXCITABLE) != 0u
        || excitability(neuron, moment.step + 1u) < word_of(record, FEAGI_EXCITABILITY);
}
