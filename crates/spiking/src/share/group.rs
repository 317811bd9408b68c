//! The neurons of a share by population.

use std::ops::Range;

use crate::model::feagi;
use crate::model::lif::block::Block;
use crate::{Kind, Network};

/// Neurons of a share that belong to the same population, counted from the share's first.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) population: usize,
    pub(super) neurons: Range<usize>,
    /// Nothing happens to those at which nothing arrives.
    pub(super) is_quiet: bool,
    /// What updates them in blocks, if they are LIF neurons of one record.
    pub(super) block: Option<Block>,
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
        let parts = network.parts();
        let is_quiet = network.populations()[population]
            .neurons
            .clone()
            .all(|neuron| feagi::is_quiet(network.record(neuron)));
        let record_of = &parts.record_of[range.clone()];
        let is_lif = network.populations()[population].kind == Kind::Lif;
        let is_uniform = is_lif && record_of.iter().all(|&record| record == record_of[0]);
        let record = &parts.records[record_of[0] as usize];
        let block = if is_uniform { Block::new(record, &parts.tables) } else { None };
        Self { population, neurons: range.start - first..range.end - first, is_quiet, block }
    }
}
