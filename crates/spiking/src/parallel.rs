//! The engine for all cores.
//!
//! Neurons are divided into as many shares as there are threads. A share owns all that changes of its neurons, so
//! threads need no locks: they update the neurons of their shares, and then each takes from the rows of all that have
//! fired, which are sorted by target, the part that leads to its share. Sums are integers, so their order is no
//! matter, and the result is the reference's.
//!
//! No spike arrives before the shortest delay is over. So threads make as many steps as that has, a batch, between two
//! exchanges of spikes, and they meet once a batch: what was exchanged is delivered when the next one begins.

mod learn;

use std::sync::Arc;

use rayon::prelude::*;

use self::learn::Learning;
use crate::share::{Fired, Share, StepInput};
use crate::{Changed, Error, Executor, Input, Network, Recorder, State};

/// Neurons a share has at least, if there is more than one.
const SHARE_MIN: usize = 2048;

/// The most steps of a batch: more save little, and each has a list of spikes.
const BATCH_MAX: u32 = 32;

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
    learning: Learning,
    drives: Vec<i32>,
    /// The most steps of a batch.
    batch: u64,
    /// The spikes of the last batch, which are delivered before the next or at the end of a run.
    sent: Vec<Fired>,
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
        Self {
            shares,
            share_neurons,
            step: state.step,
            next: 0,
            learning: Learning::of(&network, state),
            drives: state.drives.clone(),
            batch: batch(&network),
            sent: Vec::new(),
            network,
        }
    }

    /// Makes the steps of a batch, from this one of the run on.
    fn advance(&mut self, offset: u64, steps: u64, input: &Input) {
        let network = &*Arc::clone(&self.network);
        let slots = network.slots();
        let step = |i: u64| {
            let slot = (self.next + i as usize) % slots;
            StepInput::new(network, self.step + i, slot, &self.drives, input.at(offset + i))
        };
        let batch: Vec<StepInput<'_>> = (0..steps).map(step).collect();
        let words = words(network, &self.learning.weights);
        each(&mut self.shares, |share| {
            share.take_from(network, words, &self.sent);
            share.advance(network, &batch);
        });
        if network.is_plastic() {
            self.learning.advance(network, &self.shares, self.share_neurons);
        }
        self.sent.clear();
        self.sent.extend(self.shares.iter().flat_map(|share| share.fired.iter().flatten()));
        self.step += steps;
        self.next = (self.next + steps as usize) % slots;
    }

    /// Delivers the spikes of the last batch.
    fn deliver(&mut self) {
        let network = &*self.network;
        let words = words(network, &self.learning.weights);
        each(&mut self.shares, |share| share.take_from(network, words, &self.sent));
        self.sent.clear();
    }

    /// Records the spikes of the last batch, which had so many steps.
    fn record(&self, steps: u64, recorder: &mut Recorder) {
        for offset in 0..steps as usize {
            let fired = self.shares.iter().flat_map(|share| &share.fired[offset]);
            recorder.record(self.step - steps + offset as u64, fired.map(|fired| fired.source));
        }
    }
}

/// How many steps of a network can be made without an exchange of spikes.
fn batch(network: &Network) -> u64 {
    // Weights learn in every step.
    let most = if network.is_plastic() { 1 } else { BATCH_MAX };
    most.min(network.min_delay().unwrap_or(BATCH_MAX)).min(network.parts().max_delay).into()
}

/// The words of synapses as they are now.
fn words<'a>(network: &'a Network, weights: &'a [u32]) -> &'a [u32] {
    if network.is_plastic() { weights } else { &network.synapses().words }
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
            let mut made = 0;
            while made < steps {
                let batch = self.batch.min(steps - made);
                self.advance(made, batch, input);
                if let Some(recorder) = &mut recorder {
                    self.record(batch, recorder);
                }
                made += batch;
            }
            self.deliver();
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
        state.history.clone_from(&self.learning.history);
        state.weights.clone_from(&self.learning.weights);
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
