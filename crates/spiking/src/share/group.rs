//! The neurons of a share by population.

use std::ops::Range;

use crate::Network;
use crate::model::feagi;

/// Neurons of a share that belong to the same population, counted from the share's first.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) population: usize,
    pub(super) neurons: Range<usize>,
    /// Nothing happens to those at which nothing arrives.
    pub(super) is_quiet: bool,
}

impl Group {
    /// The groups of the share of these neurons.
    pub(super) fn all(network: &Network, share: &Range<usize>) -> Vec<Self> {
        let populations = network.populations().iter().enumerate();
        let group = |population: usize, all: &Range<u32>| {
            let range = (all.start as usize).max(share.start)..(all.end as usize).min(share.end);
            (!range.is_empty()).then(|| Self::new(network, population, range, share.start))
        };
        populations.filter_map(|(number, population)| group(number, &population.neurons)).collect()
    }

    fn new(network: &Network, population: usize, range: Range<usize>, first: usize) -> Self {
        let is_quiet = network.populations()[population]
            .neurons
            .clone()
            .all(|neuron| feagi::is_quiet(network.record(neuron)));
        Self { population, neurons: range.start - first..range.end - first, is_quiet }
    }
}
