//! What a network consists of.

use std::ops::Range;

use crate::{Kind, Plasticity, Record, Synapses};

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

/// The rules for the synapses of a population's neurons, of rules that are sorted.
pub(crate) fn rules_of(rules: &[Plasticity], source: u32) -> &[Plasticity] {
    let start = rules.partition_point(|rule| rule.source < source);
    let end = rules.partition_point(|rule| rule.source <= source);
    &rules[start..end]
}
