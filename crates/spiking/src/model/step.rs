//! What a neuron has, and what it gets in a step.

use crate::random::{self, Purpose};
use crate::{Record, STATE_WORDS};

/// The state of a neuron: columns 0 to 3.
pub type Words = [u32; STATE_WORDS];

/// A neuron, without its state.
#[derive(Clone, Copy, Debug)]
pub struct Neuron<'a> {
    /// Its number.
    pub number: u32,
    /// Its parameters.
    pub record: &'a Record,
    /// The tables of Poisson inputs.
    pub tables: &'a [u32],
}

/// What a neuron gets in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrival {
    /// The sums of its ports, in weight units, injections and drive included.
    pub ports: [i32; 2],
    /// Whether anything has arrived, even if the sum is zero. Only FEAGI neurons ask.
    pub is_input: bool,
}

impl Arrival {
    /// Adds an injection or a drive: input, even if it is zero, for the port of its sign.
    #[inline]
    pub const fn give(&mut self, amount: i32, ports: usize) {
        self.ports[if amount < 0 { ports - 1 } else { 0 }] += amount;
        self.is_input = true;
    }
}

/// What all neurons share in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// The step, counted from the network's beginning.
    pub step: u64,
    /// What FEAGI calls the burst: one more than the step.
    pub burst: u32,
    /// The key of Poisson inputs.
    pub input: u32,
    /// The key of Poisson sources.
    pub source: u32,
}

impl Clock {
    /// The clock of a step in a network with this seed.
    #[must_use]
    pub const fn new(seed: u64, step: u64) -> Self {
        Self {
            step,
            burst: step.wrapping_add(1) as u32,
            input: random::step_key(random::base(seed, Purpose::Input), step),
            source: random::step_key(random::base(seed, Purpose::Source), step),
        }
    }
}
