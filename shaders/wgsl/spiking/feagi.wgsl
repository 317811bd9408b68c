//! The neuron of FEAGI.
//!
//! Twin: `kvrm_spiking::model::feagi`. State: potential, low and high word; countdown, and the count of spikes from bit
//! 16 on.

import package::spiking::bindings::{Record};
import package::spiking::fixed::{add_wide, leak};
import package::spiking::random::{excitability};
import package::spiking::record::{Arrival, Moment, membrane_input, wide_of, word_of};

/// Word: fires at this potential or more; two words.
const FEAGI_THRESHOLD = 2u;
/// Word: does not fire above this potential; two words.
const FEAGI_LIMIT = 4u;
/// Word: what is kept of a potential.
const FEAGI_KEEP = 6u;
/// Word: the probability to fire.
const FEAGI_EXCITABILITY = 7u;
/// Word: refractory steps, and from bit 16 on what is added to them after too many spikes in a row.
const FEAGI_PERIODS = 8u;
/// Word: so many spikes in a row are too many; 0 if none are.
const FEAGI_CONSECUTIVE_LIMIT = 9u;
/// Word: the postsynaptic potential.
const FEAGI_PSP = 10u;
/// Word: flags.
const FEAGI_FLAGS = 11u;

/// Flag: what a spike brings is divided by the number of the neuron's synapses.
const FEAGI_DIVIDED = 1u;
/// Flag: the postsynaptic potential is the potential at firing.
const FEAGI_MP_DRIVEN = 2u;
/// Flag: the potential is kept from step to step.
const FEAGI_ACCUMULATES = 4u;
/// Flag: the countdown ticks in every step.
const FEAGI_TICKS_ALWAYS = 8u;
/// Flag: the test of excitability always passes.
const FEAGI_EXCITABLE = 16u;

/// No spike, as a postsynaptic potential.
const NO_SPIKE = 0xffffffffu;


/// One step; the postsynaptic potential if the neuron fires, or `NO_SPIKE`.
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

/// Whether a potential lets a neuron fire that does not pause.
fn fires_feagi(record: ptr<function, Record>, moment: Moment, neuron: u32, potential: i64) -> bool {
    if i64(wide_of(record, FEAGI_THRESHOLD)) > potential || potential > i64(wide_of(record, FEAGI_LIMIT)) {
        return false;
    }
    return (word_of(record, FEAGI_FLAGS) & FEAGI_EXCITABLE) != 0u
        || excitability(neuron, moment.step + 1u) < word_of(record, FEAGI_EXCITABILITY);
}
