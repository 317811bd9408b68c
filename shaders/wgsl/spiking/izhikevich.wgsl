//! Izhikevich's neuron of 2003.
//!
//! Twin: `kvrm_spiking::model::izhikevich`. State: v and u.

import package::spiking::bindings::{Record};
import package::spiking::fixed::{add, mul, round_shift, saturated};
import package::spiking::poisson::{poisson_input};
import package::spiking::record::{Arrival, membrane_input, signed_of, word_of};
import package::spiking::record_words::{
    IZHIKEVICH_A_DT, IZHIKEVICH_B, IZHIKEVICH_BIAS, IZHIKEVICH_C, IZHIKEVICH_D, IZHIKEVICH_PEAK,
    IZHIKEVICH_SUBSTEP, IZHIKEVICH_SUBSTEPS,
};

/// The factor 0.04 of v squared, with 30 fraction bits.
const SQUARE = 42949673lu;
/// The factor 5 of v, with 20 fraction bits.
const FIVE = 0x500000lu;
/// The constant 140 mV, with 20 fraction bits.
const CONSTANT = 0x8c00000lu;

/// Updates a neuron for one step. Returns whether it fires.
fn update_izhikevich(
    record: ptr<function, Record>,
    arrival: Arrival,
    words: ptr<function, vec4<u32>>,
) -> bool {
    var v = i32((*words).x);
    var u = i32((*words).y);
    let input = membrane_input(record, arrival) + poisson_input(record, arrival.events);
    let current = u64(i64(saturated(i64(input + u64(i64(signed_of(record, IZHIKEVICH_BIAS)))))));
    let substep = u64(word_of(record, IZHIKEVICH_SUBSTEP));
    for (var i = 0u; i < word_of(record, IZHIKEVICH_SUBSTEPS); i += 1u) {
        let wide = u64(i64(v));
        let factor = round_shift(wide * SQUARE, 30u) + FIVE;
        let slope = round_shift(wide * factor, 20u) + CONSTANT - u64(i64(u)) + current;
        v = saturated(i64(wide + round_shift(slope * substep, 24u)));
    }
    let toward = saturated(i64(u64(i64(mul(v, signed_of(record, IZHIKEVICH_B)))) - u64(i64(u))));
    u = add(u, mul(toward, signed_of(record, IZHIKEVICH_A_DT)));
    let fires = v >= signed_of(record, IZHIKEVICH_PEAK);
    if fires {
        v = signed_of(record, IZHIKEVICH_C);
        u = add(u, signed_of(record, IZHIKEVICH_D));
    }
    (*words).x = u32(v);
    (*words).y = u32(u);
    return fires;
}
