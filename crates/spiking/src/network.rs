//! [`Network`]: populations, parameters and synapses, which stay the same between steps except for weights that learn.

use crate::bound::{self, Survey};
use crate::parts::{NetworkParts, Population, rules_of};
use crate::{Error, Kind, Plasticity, Record, Synapses, check};

/// A checked network: all values are in range, and no sum of inputs can overflow.
///
/// ```
/// use kvrm_spiking::{Builder, ConnectionRule, Feagi, Model, Projection};
///
/// # fn main() -> Result<(), kvrm_spiking::Error> {
/// let mut builder = Builder::new(1.0);
/// let area = builder.population("area", 100, &Model::Feagi(Feagi::default()))?;
/// builder.connect(area, area, &Projection::new(ConnectionRule::OutDegree(3), 1.0, 2))?;
/// let network = builder.build()?;
/// assert_eq!((network.neurons(), network.synapses().count()), (100, 300));
/// assert_eq!(network.min_delay(), Some(2), "in steps");
/// assert_eq!(network.population("area"), Some(0));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    pub(crate) parts: NetworkParts,
    pub(crate) survey: Survey,
}

impl Network {
    /// Makes a network of parts, after checking them.
    ///
    /// # Errors
    /// The parts are inconsistent or out of range, or the inputs of a neuron could add up to more than 32 bits
    /// ([`Error::AccumulatorBound`]).
    pub fn new(parts: NetworkParts) -> Result<Self, Error> {
        check::parts(&parts)?;
        let survey = bound::survey(&parts)?;
        Ok(Self { parts, survey })
    }

    /// Returns the parts of the network.
    #[must_use]
    pub const fn parts(&self) -> &NetworkParts {
        &self.parts
    }

    /// Returns the parts of the network and consumes it.
    #[must_use]
    pub fn into_parts(self) -> NetworkParts {
        self.parts
    }

    /// Returns the number of neurons.
    #[must_use]
    pub const fn neurons(&self) -> u32 {
        self.parts.record_of.len() as u32
    }

    /// Returns the synapses of all neurons.
    #[must_use]
    pub const fn synapses(&self) -> &Synapses {
        &self.parts.synapses
    }

    /// Returns all populations, in the order of their neurons.
    #[must_use]
    pub fn populations(&self) -> &[Population] {
        &self.parts.populations
    }

    /// Returns the number of the population with this name, the first if there are several.
    #[must_use]
    pub fn population(&self, name: &str) -> Option<u32> {
        self.parts.populations.iter().position(|population| population.name == name).map(|index| index as u32)
    }

    /// Returns the parameters of a neuron.
    #[must_use]
    pub fn record(&self, neuron: u32) -> &Record {
        &self.parts.records[self.parts.record_of[neuron as usize] as usize]
    }

    /// Returns the number of slots of the ring of pending inputs: the longest delay in steps.
    #[must_use]
    pub const fn slots(&self) -> usize {
        self.parts.max_delay as usize
    }

    /// Returns a lower bound of all delays, in steps; `None` if there have never been synapses.
    #[must_use]
    pub const fn min_delay(&self) -> Option<u32> {
        self.survey.min_delay
    }

    /// Returns the largest synaptic input that each neuron can get in a step, in weight units, without injections and
    /// drive. After a change the bounds still include the weights that synapses had before they learned.
    #[must_use]
    pub fn bounds(&self) -> &[u64] {
        &self.survey.sums
    }

    /// Returns whether there are FEAGI neurons, for which an input of zero differs from no input.
    #[must_use]
    pub fn has_marks(&self) -> bool {
        self.parts.populations.iter().any(|population| population.kind == Kind::Feagi)
    }

    /// Returns whether any weights learn.
    #[must_use]
    pub const fn is_plastic(&self) -> bool {
        !self.parts.plasticity.is_empty()
    }

    /// Returns the plasticity rules for the synapses that leave a population.
    #[must_use]
    pub fn rules_of(&self, source: u32) -> &[Plasticity] {
        rules_of(&self.parts.plasticity, source)
    }
}
