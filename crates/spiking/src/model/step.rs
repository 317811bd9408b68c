//! The arguments of a neuron's update: its state, its parameters, its input and the time.

use crate::random::{self, Purpose};
use crate::{Record, STATE_WORDS};

/// The state of a neuron: its words in columns 0 to 3.
pub type Words = [u32; STATE_WORDS];

/// A neuron without its state.
#[derive(Clone, Copy, Debug)]
pub struct Neuron<'a> {
    /// The number.
    pub number: u32,
    /// The parameters.
    pub record: &'a Record,
    /// The distribution tables of Poisson inputs of the whole network.
    pub tables: &'a [u32],
}

/// The total input of a neuron in one step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrival {
    /// The sum at each port, in weight units, with injections and drive.
    pub ports: [i32; 2],
    /// Whether there is any input, even if the sum is zero. Only FEAGI neurons use this.
    pub is_input: bool,
}

impl Arrival {
    /// Adds an injection or a drive to the port of its sign. Even an amount of zero counts as input.
    #[inline]
    pub const fn give(&mut self, amount: i32, ports: usize) {
        self.ports[if amount < 0 { ports - 1 } else { 0 }] += amount;
        self.is_input = true;
    }
}

/// The step and the random keys that all neurons share in a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// The step, counted from the initial state of the network.
    pub step: u64,
    /// FEAGI's burst number: the step plus 1.
    pub burst: u32,
    /// The random key of Poisson inputs.
    pub input: u32,
    /// The random key of Poisson sources.
    pub source: u32,
}

impl Clock {
    /// Returns the clock of a step in a network with this seed.
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
