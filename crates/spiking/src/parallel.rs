//! The engine for all cores.
//!
//! Neurons are divided into as many shares as there are threads. A share owns all that changes of its neurons, so
//! threads need no locks: they update the neurons of their shares, and then each takes from the rows of all that have
//! fired, which are sorted by target, the part that leads to its share. Sums are integers, so their order is no
//! matter, and the result is the reference's.

use std::sync::Arc;

use rayon::prelude::*;

use crate::share::{Fired, Share, StepInput};
use crate::{Changed, Error, Executor, Input, Network, Plasticity, Record, Recorder, State};

/// Neurons a share has at least, if there is more than one.
const SHARE_MIN: usize = 2048;

/// Words of synapses that are learned by the same task.
const LEARN_BLOCK: usize = 1 << 16;

/// The engine that uses all cores, for those who have no GPU.
#[derive(Debug)]
pub struct Parallel {
    network: Arc<Network>,
    shares: Vec<Share>,
    /// Neurons of each share but the last; a multiple of 32.
    share_neurons: usize,
    step: u64,
    /// Which slot of the rings is the next step's.
    next: usize,
    history: Vec<u64>,
    /// The words of synapses, if they change.
    weights: Vec<u32>,
    drives: Vec<i32>,
    /// The sources of rows that learn, in the order of their rows in memory, which tasks split among them.
    learners: Vec<u32>,
}

impl Parallel {
    /// An engine at the beginning of a network, with as many shares as rayon has threads.
    #[must_use]
    pub fn new(network: Arc<Network>) -> Self {
        let state = State::initial(&network);
        Self::with_state(network, &state)
    }

    /// An engine that goes on from a state of the network's shape.
    fn with_state(network: Arc<Network>, state: &State) -> Self {
        let neurons = network.neurons() as usize;
        let share_neurons =
            neurons.div_ceil(rayon::current_num_threads()).max(SHARE_MIN).next_multiple_of(32);
        let share = |start: usize| Share::new(&network, state, start..(start + share_neurons).min(neurons));
        let shares = (0..neurons).step_by(share_neurons).map(share).collect();
        let parts = network.parts();
        let mut learners: Vec<u32> = Vec::new();
        for (number, population) in parts.populations.iter().enumerate() {
            if !network.rules_of(number as u32).is_empty() {
                learners.extend(population.neurons.clone());
            }
        }
        learners.retain(|&source| parts.synapses.lengths[source as usize] != 0);
        learners.sort_unstable_by_key(|&source| parts.synapses.starts[source as usize]);
        Self {
            shares,
            share_neurons,
            step: state.step,
            next: 0,
            history: state.history.clone(),
            weights: state.weights.clone(),
            drives: state.drives.clone(),
            learners,
            network,
        }
    }

    fn step(&mut self, offset: u64, input: &Input) {
        let network = &*Arc::clone(&self.network);
        let step = StepInput::new(network, self.step, self.next, &self.drives, input.at(offset));
        each(&mut self.shares, |share| share.update(network, &step));
        if network.is_plastic() {
            self.learn();
        }
        let words = if network.is_plastic() { &self.weights } else { &network.synapses().words };
        let fired: Vec<Fired> = self.shares.iter().flat_map(|share| share.fired.iter().copied()).collect();
        let next = self.next;
        if !fired.is_empty() {
            each(&mut self.shares, |share| share.take_from(network, words, &fired, next));
        }
        self.step += 1;
        self.next = (next + 1) % network.slots();
    }

    /// Brings histories up to date and changes the weights that learn.
    fn learn(&mut self) {
        let histories = self.history.par_chunks_mut(self.share_neurons).zip(&self.shares);
        histories.for_each(|(histories, share)| {
            for (index, history) in histories.iter_mut().enumerate() {
                *history = *history << 1 | u64::from(share.fired_bits[index / 32] >> (index % 32) & 1);
            }
        });
        let (network, history) = (&*self.network, &self.history);
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

/// Applies the rules of a source to its row.
fn learn_row(network: &Network, rules: &[Plasticity], source: u32, row: &mut [u32], histories: &[u64]) {
    let parts = network.parts();
    let history = histories[source as usize];
    for rule in rules.iter().filter(|rule| rule.rule.visits(history)) {
        let targets = &parts.populations[rule.target as usize].neurons;
        rule.learn(&parts.synapses.packing, row, targets, history, histories);
    }
}

/// Does something with each share, at the same time if there are several.
fn each(shares: &mut [Share], act: impl Fn(&mut Share) + Send + Sync) {
    match shares {
        [only] => act(only),
        _ => shares.par_iter_mut().for_each(act),
    }
}

impl Executor for Parallel {
    fn name(&self) -> String {
        format!("parallel, {} threads", self.shares.len())
    }

    fn run(&mut self, steps: u64, input: &Input, mut recorder: Option<&mut Recorder>) -> Result<(), Error> {
        input.check(&self.network, steps)?;
        let is_alone = self.shares.len() == 1;
        let mut all = || {
            for offset in 0..steps {
                let step = self.step;
                self.step(offset, input);
                if let Some(recorder) = &mut recorder {
                    let neurons =
                        self.shares.iter().flat_map(|share| share.fired.iter().map(|fired| fired.source));
                    recorder.record(step, neurons);
                }
            }
        };
        if is_alone {
            all();
        } else {
            // On a thread of the pool, from where the others are reached faster.
            rayon::scope(|_| all());
        }
        recorder.map_or(Ok(()), |recorder| recorder.finish())
    }

    fn state(&mut self) -> Result<State, Error> {
        let network = &*self.network;
        let mut state = State { step: self.step, ..State::initial(network) };
        for share in &self.shares {
            share.write_to(&mut state, network.neurons() as usize);
        }
        state.history.clone_from(&self.history);
        state.weights.clone_from(&self.weights);
        state.drives.clone_from(&self.drives);
        state.rotate(self.next, network);
        Ok(state)
    }

    fn set_state(&mut self, state: &State) -> Result<(), Error> {
        state.check(&self.network)?;
        *self = Self::with_state(Arc::clone(&self.network), state);
        Ok(())
    }

    fn set_drive(&mut self, population: u32, amount: i32) -> Result<(), Error> {
        let mut state = State { drives: std::mem::take(&mut self.drives), ..State::default() };
        let result = state.set_drive(&self.network, population, amount);
        self.drives = state.drives;
        result
    }

    fn change(&mut self, network: &Arc<Network>, changed: &Changed) -> Result<(), Error> {
        let state = self.state()?.after(network, changed);
        state.check(network)?;
        *self = Self::with_state(Arc::clone(network), &state);
        Ok(())
    }
}
