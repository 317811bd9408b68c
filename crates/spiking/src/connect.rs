//! [`Projection`]: a rule that connects the neurons of two populations, with its weights and delays.

use crate::distribution::Distribution;
use crate::{Error, fixed, model};

/// The longest possible delay, in steps.
pub(crate) const DELAY_MAX: u32 = (1 << 16) - 1;

/// A connection rule: which neurons of two populations are connected.
///
/// ```
/// use kvrm_spiking::{Builder, ConnectionRule, Feagi, Model, Projection};
///
/// let mut builder = Builder::new(1.0);
/// let model = Model::Feagi(Feagi::default());
/// let (source, target) = (builder.population("source", 4, &model)?, builder.population("target", 4, &model)?);
/// builder.connect(source, target, &Projection::new(ConnectionRule::AllToAll, 1.0, 1))?;
/// assert_eq!(builder.build()?.synapses().count(), 16);
/// # Ok::<(), kvrm_spiking::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ConnectionRule {
    /// Each neuron to the one with the same index; the populations have the same size.
    OneToOne,
    /// Each neuron to all neurons.
    AllToAll,
    /// Each pair with this probability.
    Probability(f64),
    /// A fixed in-degree: each target from this many random sources.
    InDegree(u32),
    /// A fixed out-degree: each source to this many random targets.
    OutDegree(u32),
    /// A fixed number of synapses, each with a random source and a random target.
    Total(u64),
    /// Each source of a grid to the targets at these offsets from its coordinates, where the grid of the targets has
    /// such coordinates. These are FEAGI's morphologies.
    Offsets(Vec<[i32; 3]>),
}

/// The distribution of the weights of a projection, in FEAGI's units or mV.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Weight {
    /// The same weight for all synapses.
    Constant(f64),
    /// A normal distribution, truncated at 0 to the sign of the mean and at 6.5 standard deviations from the mean:
    /// values outside are drawn again.
    Normal {
        /// The mean before truncation.
        mean: f64,
        /// The standard deviation before truncation.
        std: f64,
    },
    /// A uniform distribution between two weights.
    Uniform {
        /// The lowest weight.
        low: f64,
        /// The highest weight.
        high: f64,
    },
}

/// The distribution of the delays of a projection.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Delay {
    /// The same delay for all synapses, in steps.
    Steps(u32),
    /// A normal distribution, rounded to steps. Delays of less than half a step or longer than `max` are drawn again.
    Normal {
        /// The mean before truncation, in ms.
        mean: f64,
        /// The standard deviation before truncation, in ms.
        std: f64,
        /// The longest delay, in ms.
        max: f64,
    },
    /// A uniform distribution, rounded to steps.
    Uniform {
        /// The shortest delay, in ms.
        low: f64,
        /// The longest delay, in ms.
        high: f64,
    },
}

/// A connection rule with the distributions of weights and delays.
///
/// ```
/// use kvrm_spiking::{ConnectionRule, Delay, Projection, Weight};
///
/// // Ten random sources for each target, other than itself.
/// let projection = Projection::new(ConnectionRule::InDegree(10), 0.0, 1)
///     .weight(Weight::Uniform { low: 0.5, high: 1.5 })
///     .delay(Delay::Normal { mean: 1.5, std: 0.75, max: 6.4 })
///     .autapses(false);
/// assert!(projection.multapses, "a source can be drawn several times");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Projection {
    /// The connection rule.
    pub rule: ConnectionRule,
    /// The distribution of weights.
    pub weight: Weight,
    /// The distribution of delays.
    pub delay: Delay,
    /// Whether a neuron may be connected to itself.
    pub autapses: bool,
    /// Whether rules with a fixed number of synapses may connect the same pair several times.
    pub multapses: bool,
}

impl Projection {
    /// Returns a projection with one weight for all synapses and one delay, in steps. Autapses and multapses are
    /// allowed.
    #[must_use]
    pub const fn new(rule: ConnectionRule, weight: f64, delay: u32) -> Self {
        Self {
            rule,
            weight: Weight::Constant(weight),
            delay: Delay::Steps(delay),
            autapses: true,
            multapses: true,
        }
    }

    /// Replaces the distribution of weights.
    #[must_use]
    pub const fn weight(mut self, weight: Weight) -> Self {
        self.weight = weight;
        self
    }

    /// Replaces the distribution of delays.
    #[must_use]
    pub const fn delay(mut self, delay: Delay) -> Self {
        self.delay = delay;
        self
    }

    /// Allows or forbids synapses of a neuron to itself.
    #[must_use]
    pub const fn autapses(mut self, are_allowed: bool) -> Self {
        self.autapses = are_allowed;
        self
    }

    /// Allows or forbids several synapses between the same pair of neurons.
    #[must_use]
    pub const fn multapses(mut self, are_allowed: bool) -> Self {
        self.multapses = are_allowed;
        self
    }
}

impl Weight {
    /// Returns the distribution in weight units.
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
    /// Returns the distribution in steps of `dt` ms.
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
