//! Parameters of neurons, and what a neuron gets in a step.
//!
//! Which word of a record is what says `kvrm_spiking::Record`.

import package::spiking::bindings::{Record};
import package::spiking::record_words::{WORD_SHIFT};

/// What a neuron gets in a step.
struct Arrival {
    /// The sum of the first port, in weight units.
    excitatory: i32,
    /// The sum of the second port, if there is one.
    inhibitory: i32,
    /// Whether anything arrived, even if its sum is zero.
    is_input: bool,
}

/// A step, counted from the beginning of the network.
struct Moment {
    /// Its low word.
    step: u32,
    /// Its high word.
    step_high: u32,
}

/// A word of a record.
fn word_of(record: ptr<function, Record>, word: u32) -> u32 {
    return (*record).words[word];
}

/// A word of a record as a signed number.
fn signed_of(record: ptr<function, Record>, word: u32) -> i32 {
    return i32((*record).words[word]);
}

/// Two words of a record as a number.
fn wide_of(record: ptr<function, Record>, word: u32) -> u64 {
    return u64(word_of(record, word)) | (u64(word_of(record, word + 1u)) << 32u);
}

/// What arrived at both ports, in units of the membrane.
fn membrane_input(record: ptr<function, Record>, arrival: Arrival) -> u64 {
    let sum = u64(i64(arrival.excitatory)) + u64(i64(arrival.inhibitory));
    return sum << word_of(record, WORD_SHIFT);
}
