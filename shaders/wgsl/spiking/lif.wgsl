//! The leaky integrate-and-fire neuron with exponential currents, integrated exactly.
//!
//! Twin: `kvrm_spiking::model::lif`. State: V, excitatory current, inhibitory current, remaining refractory steps.

import package::spiking::bindings::{Record};
import package::spiking::fixed::{mul, saturated};
import package::spiking::poisson::{poisson_input};
import package::spiking::record::{Arrival, Moment, signed_of, word_of};
import package::spiking::record_words::{
    LIF_BIAS, LIF_DECAY, LIF_DECAY_EXCITATORY, LIF_DECAY_INHIBITORY, LIF_EXCITATORY, LIF_INHIBITORY,
    LIF_REFRACTORY, LIF_RESET, LIF_THRESHOLD, WORD_SHIFT,
};

/// Returns a number, sign-extended to 64 bits.
fn widened(value: i32) -> u64 {
    return u64(i64(value));
}

/// Updates a neuron for one step. Returns whether it fires.
fn update_lif(record: ptr<function, Record>, moment: Moment, neuron: u32, arrival: Arrival, words: ptr<function, vec4<u32>>) -> bool {
    var v = i32((*words).x);
    let excitatory = i32((*words).y);
    let inhibitory = i32((*words).z);
    var refractory = (*words).w;
    if refractory == 0u {
        v = saturated(i64(
            widened(mul(v, signed_of(record, LIF_DECAY)))
                + widened(mul(excitatory, signed_of(record, LIF_EXCITATORY)))
                + widened(mul(inhibitory, signed_of(record, LIF_INHIBITORY)))
                + widened(signed_of(record, LIF_BIAS))
        ));
    } else {
        refractory -= 1u;
    }
    let shift = word_of(record, WORD_SHIFT);
    let poisson = poisson_input(record, moment, neuron);
    let is_negative = (poisson >> 63u) != 0lu;
    let to_excitatory = (widened(arrival.excitatory) << shift) + select(poisson, 0lu, is_negative);
    let to_inhibitory = (widened(arrival.inhibitory) << shift) + select(0lu, poisson, is_negative);
    let left_excitatory = widened(mul(excitatory, signed_of(record, LIF_DECAY_EXCITATORY)));
    let left_inhibitory = widened(mul(inhibitory, signed_of(record, LIF_DECAY_INHIBITORY)));
    let fires = v >= signed_of(record, LIF_THRESHOLD);
    if fires {
        v = signed_of(record, LIF_RESET);
        refractory = word_of(record, LIF_REFRACTORY);
    }
    *words = vec4<u32>(
        u32(v),
        u32(saturated(i64(left_excitatory + to_excitatory))),
        u32(saturated(i64(left_inhibitory + to_inhibitory))),
        refractory,
    );
    return fires;
}
