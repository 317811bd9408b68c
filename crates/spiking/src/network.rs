//! The network: what is the same in every step, but for weights that learn.

use crate::bound::{self, Survey};
use crate::parts::{Parts, Population, rules_of};
use crate::{Error, Kind, Plasticity, Record, Synapses, check};

/// A network that has been checked: whatever is in it is in range, and no sum can overflow.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    pub(crate) parts: Parts,
    pub(crate) survey: Survey,
}

impl Network {
    /// Checks the parts of a network.
    ///
    /// # Errors
    /// Parts contradict each other, or the sum of what can arrive at a neuron exceeds 32 bits.
    pub fn new(parts: Parts) -> Result<Self, Error> {
        check::parts(&parts)?;
        let survey = bound::survey(&parts)?;
        Ok(Self { parts, survey })
    }

    /// What it consists of.
    #[must_use]
    pub const fn parts(&self) -> &Parts {
        &self.parts
    }

    /// Takes it apart again.
    #[must_use]
    pub fn into_parts(self) -> Parts {
        self.parts
    }

    /// How many neurons there are.
    #[must_use]
    pub const fn neurons(&self) -> u32 {
        self.parts.record_of.len() as u32
    }

    /// The synapses.
    #[must_use]
    pub const fn synapses(&self) -> &Synapses {
        &self.parts.synapses
    }

    /// All populations.
    #[must_use]
    pub fn populations(&self) -> &[Population] {
        &self.parts.populations
    }

    /// The number of the population of this name, the first if there are several.
    #[must_use]
    pub fn population(&self, name: &str) -> Option<u32> {
        self.parts.populations.iter().position(|population| population.name == name).map(|index| index as u32)
    }

    /// The record of a neuron.
    #[must_use]
    pub fn record(&self, neuron: u32) -> &Record {
        &self.parts.records[self.parts.record_of[neuron as usize] as usize]
    }

    /// How many slots the ring has: as many as the longest delay has steps.
    #[must_use]
    pub const fn slots(&self) -> usize {
        self.parts.max_delay as usize
    }

    /// No delay is shorter; `None` if there have never been synapses.
    #[must_use]
    pub const fn min_delay(&self) -> Option<u32> {
        self.survey.min_delay
    }

    /// For each neuron, what can arrive in a step at most, in weight units, without injections and drive. After a change
    /// it still counts weights as they were before they learned.
    #[must_use]
    pub fn bounds(&self) -> &[u64] {
        &self.survey.sums
    }

    /// Whether there are FEAGI neurons, which tell an input of zero from none.
    #[must_use]
    pub fn has_marks(&self) -> bool {
        self.parts.populations.iter().any(|population| population.kind == Kind::Feagi)
    }

    /// Whether weights change.
    #[must_use]
    pub const fn is_plastic(&self) -> bool {
        !self.parts.plasticity.is_empty()
    }

    /// The rules for the synapses of a population's neurons.
    #[must_use]
    pub fn rules_of(&self, source: u32) -> &[Plasticity] {
        rules_of(&self.parts.plasticity, source)
    }
}
