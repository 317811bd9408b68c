//! Plasticity in the parallel engine. Tasks process disjoint rows, so they need no locks.

use rayon::prelude::*;

use crate::plasticity::PackedRow;
use crate::share::Share;
use crate::{Network, Plasticity, Record, State};

/// The minimum number of words of synapses that a task processes.
const LEARN_BLOCK: usize = 1 << 16;

/// The state of plasticity: spike histories and weights.
#[derive(Debug)]
pub(super) struct Learning {
    /// The spike history of each neuron, as in [`State::history`].
    pub(super) history: Vec<u64>,
    /// The words of all synapses; empty if no weights learn.
    pub(super) weights: Vec<u32>,
    /// The sources of rows that learn, in the order of their rows in memory, so that tasks can split the words.
    learners: Vec<u32>,
}

/// Returns the sources of rows that learn, in the order of their rows in memory.
fn learners(network: &Network) -> Vec<u32> {
    let parts = network.parts();
    let mut learners: Vec<u32> = Vec::new();
    for (number, population) in parts.populations.iter().enumerate() {
        if !network.rules_of(number as u32).is_empty() {
            learners.extend(population.neurons.clone());
        }
    }
    learners.retain(|&source| parts.synapses.lengths[source as usize] != 0);
    learners.sort_unstable_by_key(|&source| parts.synapses.starts[source as usize]);
    learners
}

impl Learning {
    /// Returns the plasticity state of a network's state.
    pub(super) fn of(network: &Network, state: &State) -> Self {
        Self { history: state.history.clone(), weights: state.weights.clone(), learners: learners(network) }
    }

    /// Appends the spikes of the last step to the histories, and changes the weights. Each share has `share_neurons`
    /// neurons, but for the last one.
    pub(super) fn advance(&mut self, network: &Network, shares: &[Share], share_neurons: usize) {
        let histories = self.history.par_chunks_mut(share_neurons).zip(shares);
        histories.for_each(|(histories, share)| {
            for (index, history) in histories.iter_mut().enumerate() {
                *history = *history << 1 | u64::from(share.fired_bits[index / 32] >> (index % 32) & 1);
            }
        });
        let history = &self.history;
        let parts = network.parts();
        let is_visited = |source: &u32| {
            let rules = network.rules_of(network.record(*source).words[Record::POPULATION]);
            rules.iter().any(|rule| rule.rule.visits(history[*source as usize]))
        };
        let visited: Vec<u32> = self.learners.iter().copied().filter(is_visited).collect();
        let mut blocks: Vec<(&[u32], usize, &mut [u32])> = Vec::new();
        let (mut rest, mut at, mut first) = (self.weights.as_mut_slice(), 0, 0);
        for next in 0..visited.len() {
            let start = parts.synapses.range(visited[first]).start;
            let end = parts.synapses.range(visited[next]).end;
            if end - start >= LEARN_BLOCK || next + 1 == visited.len() {
                let (block, behind) = std::mem::take(&mut rest)[start - at..].split_at_mut(end - start);
                blocks.push((&visited[first..=next], start, block));
                (rest, at, first) = (behind, end, next + 1);
            }
        }
        blocks.into_par_iter().for_each(|(sources, start, block)| {
            for &source in sources {
                let range = parts.synapses.range(source);
                let row = &mut block[range.start - start..range.end - start];
                let rules = network.rules_of(network.record(source).words[Record::POPULATION]);
                learn_row(network, rules, source, row, history);
            }
        });
    }
}

/// Applies the plasticity rules of a source to its row.
fn learn_row(network: &Network, rules: &[Plasticity], source: u32, row: &mut [u32], histories: &[u64]) {
    let parts = network.parts();
    let history = histories[source as usize];
    for rule in rules.iter().filter(|rule| rule.rule.visits(history)) {
        let targets = &parts.populations[rule.target as usize].neurons;
        rule.learn(PackedRow { packing: &parts.synapses.packing, words: row }, targets, history, histories);
    }
}
