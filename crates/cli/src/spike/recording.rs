//! The spikes of a run, and their statistics.

use std::ops::Range;

use kvrm::spiking::{Network, Population, Spike, Statistics};

/// The recorded spikes of a run.
pub(crate) struct Recording<'a> {
    /// The name of the network.
    pub(crate) title: &'a str,
    pub(crate) network: &'a Network,
    /// The numbers of the recorded populations.
    pub(crate) shown: &'a [u32],
    /// The spikes, sorted by step.
    pub(crate) spikes: &'a [Spike],
    /// The steps of the run.
    pub(crate) steps: Range<u64>,
    /// The length of a step, in ms.
    pub(crate) dt: f64,
}

impl Recording<'_> {
    /// Returns the recorded populations.
    pub(crate) fn populations(&self) -> impl Iterator<Item = &Population> {
        self.shown.iter().map(|&number| &self.network.populations()[number as usize])
    }

    /// Returns the statistics of each recorded population, without the first `skip` steps.
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
