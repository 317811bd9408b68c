//! The leaky integrate-and-fire neuron with exponential currents, integrated exactly.
//!
//! Twin: `kvrm_spiking::model::lif`. State: V, excitatory current, inhibitory current, remaining refractory steps.

import package::spiking::bindings::{Record, settings};
import package::spiking::fixed::{mul, mul_unit, saturated};
import package::spiking::poisson::{poisson_input};
import package::spiking::record::{Arrival, signed_of, word_of};
import package::spiking::record_words::{
    LIF_BIAS, LIF_DECAY, LIF_DECAY_EXCITATORY, LIF_DECAY_INHIBITORY, LIF_EXCITATORY, LIF_INHIBITORY,
    LIF_REFRACTORY, LIF_RESET, LIF_THRESHOLD, WORD_SHIFT,
};

/// Returns a number, sign-extended to 64 bits.
fn widened(value: i32) -> u64 {
    return u64(i64(value));
}

/// The end of the magnitudes of terms of which any four add up to a number of 32 bits. No sum of a step has more terms.
const TERM_END = 1u << 29u;

/// Returns `value + end`, which is below `2 * end` exactly if the value is from `-end` to `end - 1`. As `end` is a power of two,
/// several results can be tested together, joined by `|`.
fn excess(value: i32, end: u32) -> u32 {
    return u32(value) + end;
}

/// Returns V, the excitatory and the inhibitory current at the end of a step in which the neuron is not refractory. All
/// terms have to be below `TERM_END` in magnitude. `shift` is the shift from weight units to units of the currents.
fn step_in_range(record: ptr<function, Record>, words: vec4<u32>, arrival: Arrival, poisson: i32, shift: u32) -> vec3<i32> {
    let excitatory = i32(words.y);
    let inhibitory = i32(words.z);
    return vec3<i32>(
        mul_unit(i32(words.x), signed_of(record, LIF_DECAY))
            + mul_unit(excitatory, signed_of(record, LIF_EXCITATORY))
            + mul_unit(inhibitory, signed_of(record, LIF_INHIBITORY))
            + signed_of(record, LIF_BIAS),
        mul_unit(excitatory, signed_of(record, LIF_DECAY_EXCITATORY)) + (arrival.excitatory << shift) + max(poisson, 0),
        mul_unit(inhibitory, signed_of(record, LIF_DECAY_INHIBITORY)) + (arrival.inhibitory << shift) + min(poisson, 0),
    );
}

/// Returns the same as `step_in_range`, for terms of any magnitude. Results saturate.
fn step_saturating(record: ptr<function, Record>, words: vec4<u32>, arrival: Arrival, poisson: u64, shift: u32) -> vec3<i32> {
    let excitatory = i32(words.y);
    let inhibitory = i32(words.z);
    let is_negative = (poisson >> 63u) != 0lu;
    let to_excitatory = (widened(arrival.excitatory) << shift) + select(poisson, 0lu, is_negative);
    let to_inhibitory = (widened(arrival.inhibitory) << shift) + select(0lu, poisson, is_negative);
    return vec3<i32>(
        saturated(i64(
            widened(mul(i32(words.x), signed_of(record, LIF_DECAY)))
                + widened(mul(excitatory, signed_of(record, LIF_EXCITATORY)))
                + widened(mul(inhibitory, signed_of(record, LIF_INHIBITORY)))
                + widened(signed_of(record, LIF_BIAS))
        )),
        saturated(i64(widened(mul(excitatory, signed_of(record, LIF_DECAY_EXCITATORY))) + to_excitatory)),
        saturated(i64(widened(mul(inhibitory, signed_of(record, LIF_DECAY_INHIBITORY))) + to_inhibitory)),
    );
}

/// Updates a neuron for one step. Returns whether it fires.
fn update_lif(record: ptr<function, Record>, arrival: Arrival, words: ptr<function, vec4<u32>>) -> bool {
    let before = *words;
    let shift = word_of(record, WORD_SHIFT);
    let arrival_end = TERM_END >> shift;
    let numbers = excess(i32(before.x), TERM_END) | excess(i32(before.y), TERM_END) | excess(i32(before.z), TERM_END);
    let arrived = excess(arrival.excitatory, arrival_end) | excess(arrival.inhibitory, arrival_end);
    var is_in_range = settings.has_moderate_terms != 0u && numbers < 2u * TERM_END && arrived < 2u * arrival_end;
    var poisson = 0;
    if arrival.events != 0u {
        let input = poisson_input(record, arrival.events);
        poisson = i32(input);
        is_in_range = is_in_range && input == widened(poisson) && excess(poisson, TERM_END) < 2u * TERM_END;
    }
    var after: vec3<i32>;
    if is_in_range {
        after = step_in_range(record, before, arrival, poisson, shift);
    } else {
        after = step_saturating(record, before, arrival, poisson_input(record, arrival.events), shift);
    }
    var v = after.x;
    var refractory = before.w;
    if refractory != 0u {
        v = i32(before.x);
        refractory -= 1u;
    }
    let fires = v >= signed_of(record, LIF_THRESHOLD);
    if fires {
        v = signed_of(record, LIF_RESET);
        refractory = word_of(record, LIF_REFRACTORY);
    }
    *words = vec4<u32>(u32(v), u32(after.y), u32(after.z), refractory);
    return fires;
}
