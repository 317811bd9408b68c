//! Spikes of a run, and what is told of them.

use std::ops::Range;

use kvrm::spiking::{Network, Population, Spike, Statistics};

/// Spikes of some populations, in some steps.
pub(crate) struct Recording<'a> {
    /// What to call the network.
    pub(crate) title: &'a str,
    pub(crate) network: &'a Network,
    /// The numbers of the populations that are shown.
    pub(crate) shown: &'a [u32],
    /// Sorted by step.
    pub(crate) spikes: &'a [Spike],
    pub(crate) steps: Range<u64>,
    /// The length of a step, ms.
    pub(crate) dt: f64,
}

impl Recording<'_> {
    /// The populations that are shown.
    pub(crate) fn populations(&self) -> impl Iterator<Item = &Population> {
        self.shown.iter().map(|&number| &self.network.populations()[number as usize])
    }

    /// The statistics of each population that is shown, without the first `skip` steps.
    pub(crate) fn statistics(&self, skip: u64) -> Vec<(&Population, Statistics)> {
        let steps = self.steps.start.saturating_add(skip).min(self.steps.end)..self.steps.end;
        self.populations()
            .map(|population| {
                let neurons = population.neurons.clone();
                (population, Statistics::new(self.spikes, neurons, steps.clone(), self.dt))
            })
            .collect()
    }
}
