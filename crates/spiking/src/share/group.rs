//! [`Group`]: the neurons of a share that belong to one population.

use std::ops::Range;

use crate::model::feagi;
use crate::model::lif::block::Block;
use crate::{Kind, Network};

/// The neurons of a share that belong to the same population.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) population: usize,
    pub(super) neurons: Range<usize>,
    /// Whether neurons without input keep their state.
    pub(super) is_quiet: bool,
    /// The update in blocks, if the neurons are LIF neurons with one record.
    pub(super) block: Option<Block>,
}

impl Group {
    /// Returns the groups of a share, which has the neurons `share`.
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
