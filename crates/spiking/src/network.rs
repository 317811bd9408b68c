//! The network: what is the same in every step, but for weights that learn.

use std::ops::Range;

use crate::bound::{self, Survey};
use crate::{Error, Kind, Plasticity, Record, Synapses, check};

/// How much may be injected into a neuron in a step unless a network says otherwise, in weight units.
pub const INJECTION_LIMIT: i32 = 1 << 24;

/// Neurons of the same model with numbers one after the other. FEAGI calls it a cortical area.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Population {
    /// Its name.
    pub name: String,
    /// Its neurons.
    pub neurons: Range<u32>,
    /// Their model.
    pub kind: Kind,
    /// Its extent as a grid: the neuron at x, y, z is the x + width (y + height z)th.
    pub dimensions: [u32; 3],
}

impl Population {
    /// The place of one of its neurons in its grid.
    #[must_use]
    pub const fn place(&self, neuron: u32) -> [u32; 3] {
        let [width, height, _] = self.dimensions;
        let index = neuron - self.neurons.start;
        [index % width, index / width % height, index / width / height]
    }
}

/// What a network consists of, as builders make it and files keep it.
#[derive(Clone, Debug, PartialEq)]
pub struct Parts {
    /// The length of a step, ms.
    pub dt: f64,
    /// What random numbers depend on.
    pub seed: u64,
    /// The weight unit is 2^-`fraction_bits`: of FEAGI's potentials, or mV.
    pub fraction_bits: u32,
    /// The most that may be injected into a neuron in a step, and its greatest drive, in weight units.
    pub injection_limit: i32,
    /// 1, or 2 if negative weights have accumulators of their own.
    pub ports: u32,
    /// The longest delay there is room for, in steps; the number of slots of the ring.
    pub max_delay: u32,
    /// All neurons, in order.
    pub populations: Vec<Population>,
    /// The parameters of neurons; each belongs to one population.
    pub records: Vec<Record>,
    /// Which record each neuron has.
    pub record_of: Vec<u32>,
    /// The tables of Poisson inputs.
    pub tables: Vec<u32>,
    /// The initial state, column by column.
    pub columns: Vec<u32>,
    /// What learns, sorted by source and target.
    pub plasticity: Vec<Plasticity>,
    /// The synapses.
    pub synapses: Synapses,
}

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

/// The rules for the synapses of a population's neurons, of rules that are sorted.
pub(crate) fn rules_of(rules: &[Plasticity], source: u32) -> &[Plasticity] {
    let start = rules.partition_point(|rule| rule.source < source);
    let end = rules.partition_point(|rule| rule.source <= source);
    &rules[start..end]
}
