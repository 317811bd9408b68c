//! Access to the parameters of neurons, and the input of a neuron in a step.
//!
//! The layout of a record is documented at `kvrm_spiking::Record`.

import package::spiking::bindings::{Record};
import package::spiking::record_words::{WORD_SHIFT};

/// The postsynaptic potential of a neuron that does not fire.
const NO_SPIKE = 0xffffffffu;

/// The input of a neuron in a step.
struct Arrival {
    /// The sum of the first port, in weight units.
    excitatory: i32,
    /// The sum of the second port, if there is one.
    inhibitory: i32,
    /// Whether anything arrived, even if its sum is zero.
    is_input: bool,
    /// The number of events of the neuron's Poisson input.
    events: u32,
}

/// The number of a step, counted from the first step of the network.
struct Moment {
    /// The low word.
    step: u32,
    /// The high word.
    step_high: u32,
}

/// Returns a word of a record.
fn word_of(record: ptr<function, Record>, word: u32) -> u32 {
    return (*record).words[word];
}

/// Returns a word of a record as a signed number.
fn signed_of(record: ptr<function, Record>, word: u32) -> i32 {
    return i32((*record).words[word]);
}

/// Returns two words of a record as a number, low word first.
fn wide_of(record: ptr<function, Record>, word: u32) -> u64 {
    return u64(word_of(record, word)) | (u64(word_of(record, word + 1u)) << 32u);
}

/// Returns the input at both ports, in units of the potential.
fn membrane_input(record: ptr<function, Record>, arrival: Arrival) -> u64 {
    let sum = u64(i64(arrival.excitatory)) + u64(i64(arrival.inhibitory));
    return sum << word_of(record, WORD_SHIFT);
}
