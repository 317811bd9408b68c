//! The parts of a network: plain data, which [`Network::new`](crate::Network::new) checks.

use std::ops::Range;

use crate::{Kind, Plasticity, Record, Synapses};

/// The default limit of drives and of the injections into a neuron in one step, in weight units.
pub const INJECTION_LIMIT: i32 = 1 << 24;

/// Consecutively numbered neurons of one model. FEAGI calls it a cortical area.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Population {
    /// The name.
    pub name: String,
    /// The numbers of the neurons.
    pub neurons: Range<u32>,
    /// The model of the neurons.
    pub kind: Kind,
    /// The extents of the grid: the neuron at x, y, z has the index x + width (y + height z).
    pub dimensions: [u32; 3],
}

impl Population {
    /// Returns the coordinates of a neuron in the grid; `neuron` is its number in the network.
    #[must_use]
    pub const fn place(&self, neuron: u32) -> [u32; 3] {
        let [width, height, _] = self.dimensions;
        let index = neuron - self.neurons.start;
        [index % width, index / width % height, index / width / height]
    }
}

/// The parts of a network, as builders make them and files store them. They are not checked.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkParts {
    /// The length of a step, in ms.
    pub dt: f64,
    /// The seed of all random numbers.
    pub seed: u64,
    /// The fraction bits of weights: a weight unit is 2^-`fraction_bits` of FEAGI's units, or of a mV.
    pub fraction_bits: u32,
    /// The largest magnitude of a drive and of the injections into a neuron in one step, in weight units.
    pub injection_limit: i32,
    /// The number of input accumulators per neuron: 1, or 2 if negative weights have their own.
    pub ports: u32,
    /// The longest delay that is possible, in steps, which is the number of slots of the ring.
    pub max_delay: u32,
    /// The populations, in the order of their neurons.
    pub populations: Vec<Population>,
    /// The parameters of neurons. Each record belongs to one population.
    pub records: Vec<Record>,
    /// The index of the record of each neuron.
    pub record_of: Vec<u32>,
    /// The distribution tables of Poisson inputs, one after the other.
    pub tables: Vec<u32>,
    /// The initial state, column by column: word w of neuron n is at `w * neurons + n`.
    pub columns: Vec<u32>,
    /// The plasticity rules, sorted by source and target.
    pub plasticity: Vec<Plasticity>,
    /// The synapses.
    pub synapses: Synapses,
}

/// Returns the plasticity rules for the synapses that leave a population. `rules` is sorted by source.
pub(crate) fn rules_of(rules: &[Plasticity], source: u32) -> &[Plasticity] {
    let start = rules.partition_point(|rule| rule.source < source);
    let end = rules.partition_point(|rule| rule.source <= source);
    &rules[start..end]
}
