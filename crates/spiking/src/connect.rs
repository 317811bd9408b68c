//! Rules by which the neurons of two populations are connected.

use crate::distribution::Distribution;
use crate::{Error, fixed, model};

/// Longest delay that can be, in steps.
pub(crate) const DELAY_MAX: u32 = (1 << 16) - 1;

/// Which neurons of two populations are connected.
#[derive(Clone, Debug, PartialEq)]
pub enum Connect {
    /// Each neuron to the one of the same place; the populations have the same size.
    OneToOne,
    /// Each neuron to all.
    AllToAll,
    /// Each pair with this probability.
    Probability(f64),
    /// Each target from this many sources.
    InDegree(u32),
    /// Each source to this many targets.
    OutDegree(u32),
    /// This many synapses, each with both ends chosen at random.
    Total(u64),
    /// Each neuron of a grid to those at these distances from its place in the grid of the targets, as far as there
    /// are any: FEAGI's morphologies.
    Offsets(Vec<[i32; 3]>),
}

/// The weights of a rule, in FEAGI's units or mV.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Weight {
    /// All the same.
    Constant(f64),
    /// Normally distributed, of the sign of the mean: others are drawn again. Beyond 6.5 standard deviations there are
    /// none.
    Normal {
        /// The mean, without truncation.
        mean: f64,
        /// The standard deviation, without truncation.
        std: f64,
    },
    /// Equally distributed between two weights.
    Uniform {
        /// The lowest.
        low: f64,
        /// The highest.
        high: f64,
    },
}

/// The delays of a rule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Delay {
    /// All the same.
    Steps(u32),
    /// Normally distributed and rounded to steps; what is less than half a step or longer than `max` is drawn again.
    Normal {
        /// The mean, without truncation, ms.
        mean: f64,
        /// The standard deviation, without truncation, ms.
        std: f64,
        /// The longest, ms.
        max: f64,
    },
    /// Equally distributed and rounded to steps.
    Uniform {
        /// The shortest, ms.
        low: f64,
        /// The longest, ms.
        high: f64,
    },
}

/// A rule with its weights and delays.
#[derive(Clone, Debug, PartialEq)]
pub struct Projection {
    /// Which neurons.
    pub connect: Connect,
    /// The weights.
    pub weight: Weight,
    /// The delays.
    pub delay: Delay,
    /// Whether neurons may be connected to themselves.
    pub autapses: bool,
    /// Whether a rule that counts synapses may connect the same pair several times.
    pub multapses: bool,
}

impl Projection {
    /// A projection with constant weights and delays, autapses and multapses.
    #[must_use]
    pub const fn new(connect: Connect, weight: f64, delay: u32) -> Self {
        Self {
            connect,
            weight: Weight::Constant(weight),
            delay: Delay::Steps(delay),
            autapses: true,
            multapses: true,
        }
    }

    /// With these weights.
    #[must_use]
    pub const fn weight(mut self, weight: Weight) -> Self {
        self.weight = weight;
        self
    }

    /// With these delays.
    #[must_use]
    pub const fn delay(mut self, delay: Delay) -> Self {
        self.delay = delay;
        self
    }

    /// With or without synapses of a neuron to itself.
    #[must_use]
    pub const fn autapses(mut self, are_allowed: bool) -> Self {
        self.autapses = are_allowed;
        self
    }

    /// With or without several synapses between the same neurons.
    #[must_use]
    pub const fn multapses(mut self, are_allowed: bool) -> Self {
        self.multapses = are_allowed;
        self
    }
}

impl Weight {
    /// Their distribution in weight units.
    pub(crate) fn distribution(&self, fraction_bits: u32) -> Result<Distribution, Error> {
        let units = |what: &str, weight: f64| model::weight_units(what, weight, fraction_bits).map(i64::from);
        match *self {
            Self::Constant(weight) => Ok(Distribution::constant(units("weight", weight)?)),
            Self::Uniform { low, high } => {
                Distribution::uniform(units("lowest weight", low)?, units("highest weight", high)?)
            }
            Self::Normal { mean, std } => {
                let range = if mean < 0.0 { [-f64::from(i32::MAX), 0.0] } else { [0.0, f64::from(i32::MAX)] };
                units("mean weight", mean)?;
                let unit = f64::from(1_u32 << fraction_bits);
                Distribution::normal(mean * unit, std * unit, range)
            }
        }
    }
}

impl Delay {
    /// Their distribution in steps of `dt` ms.
    pub(crate) fn distribution(&self, dt: f64) -> Result<Distribution, Error> {
        let steps = |delay: f64| {
            let steps = fixed::fixed(delay / dt, 0).unwrap_or(-1);
            let is_delay = (1..=DELAY_MAX as i32).contains(&steps);
            let expected = || format!("1 to {DELAY_MAX} steps of {dt} ms");
            if is_delay { Ok(i64::from(steps)) } else { Err(Error::parameter("delay", delay, expected())) }
        };
        match *self {
            Self::Steps(delay) => steps(f64::from(delay) * dt).map(Distribution::constant),
            Self::Uniform { low, high } => Distribution::uniform(steps(low)?, steps(high)?),
            Self::Normal { mean, std, max } => {
                steps(mean)?;
                Distribution::normal(mean / dt, std / dt, [1.0, steps(max)? as f64])
            }
        }
    }
}
