//! [`Parallel`], the engine that uses all cores.
//!
//! Neurons are divided into shares, at most one per thread. A share owns the state of its neurons, so threads need
//! no locks. Each thread updates the neurons of its share and then, from the rows of all neurons that have fired,
//! delivers the synapses whose targets are in its share; rows are sorted by target, so these are adjacent. Sums are
//! integers, so the order of additions does not matter, and the results are those of the reference.
//!
//! No spike arrives before the shortest delay has passed. Therefore threads exchange spikes only once per batch, which
//! has as many steps as the shortest delay, up to [`BATCH_MAX`], or one step if weights learn. The spikes of a batch
//! are delivered at the beginning of the next one.

mod learn;

use std::sync::Arc;

use rayon::prelude::*;

use self::learn::Learning;
use crate::share::{PendingSpike, Share, StepInput};
use crate::{ChangeSummary, Error, Executor, Input, Network, Recorder, State};

/// The minimum number of neurons of a share if there are several.
const SHARE_MIN: usize = 2048;

/// The largest number of steps of a batch. More steps save little, and each has its own list of spikes.
const BATCH_MAX: u32 = 32;

/// The engine that uses all cores, for machines without a GPU.
///
/// ```
/// use std::sync::Arc;
///
/// use kvrm_spiking::{Builder, Executor, Feagi, Input, Model, Parallel};
///
/// let mut builder = Builder::new(1.0);
/// builder.population("area", 10, &Model::Feagi(Feagi::default()))?;
/// let mut engine = Parallel::new(Arc::new(builder.build()?));
/// engine.run(5, &Input::default(), None)?;
/// assert_eq!(engine.state()?.step, 5);
/// # Ok::<(), kvrm_spiking::Error>(())
/// ```
#[derive(Debug)]
pub struct Parallel {
    network: Arc<Network>,
    shares: Vec<Share>,
    /// The number of neurons of each share but the last; a multiple of 32.
    share_neurons: usize,
    step: u64,
    /// The slot of the rings for the next step.
    next: usize,
    learning: Learning,
    drives: Vec<i32>,
    /// The largest number of steps of a batch of this network.
    batch: u64,
    /// The spikes of the last batch. They are delivered before the next batch or at the end of a run.
    pending: Vec<PendingSpike>,
}

impl Parallel {
    /// Returns an engine with the initial state of a network, and with at most as many shares as rayon has threads.
    #[must_use]
    pub fn new(network: Arc<Network>) -> Self {
        let state = State::initial(&network);
        Self::with_state(network, &state)
    }

    /// Returns an engine that continues from a state with the sizes of the network.
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
            pending: Vec::new(),
            network,
        }
    }

    /// Runs the steps of a batch, which begins at step `offset` of the run.
    fn advance(&mut self, offset: u64, steps: u64, input: &Input) {
        let network = &*Arc::clone(&self.network);
        let slots = network.slots();
        let step = |i: u64| {
            let slot = (self.next + i as usize) % slots;
            StepInput::new(network, self.step + i, slot, &self.drives, input.at(offset + i))
        };
        let batch: Vec<StepInput<'_>> = (0..steps).map(step).collect();
        let words = words(network, &self.learning.weights);
        for_each_share(&mut self.shares, |share| {
            share.deliver(network, words, &self.pending);
            share.advance(network, &batch);
        });
        if network.is_plastic() {
            self.learning.advance(network, &self.shares, self.share_neurons);
        }
        self.pending.clear();
        self.pending.extend(self.shares.iter().flat_map(|share| share.spikes.iter().flatten()));
        self.step += steps;
        self.next = (self.next + steps as usize) % slots;
    }

    /// Delivers the spikes of the last batch.
    fn deliver(&mut self) {
        let network = &*self.network;
        let words = words(network, &self.learning.weights);
        for_each_share(&mut self.shares, |share| share.deliver(network, words, &self.pending));
        self.pending.clear();
    }

    /// Records the spikes of the last batch, which had `steps` steps.
    fn record(&self, steps: u64, recorder: &mut Recorder) {
        for offset in 0..steps as usize {
            let spikes = self.shares.iter().flat_map(|share| &share.spikes[offset]);
            recorder.record(self.step - steps + offset as u64, spikes.map(|spike| spike.source));
        }
    }
}

/// Returns the number of steps that need no exchange of spikes.
fn batch(network: &Network) -> u64 {
    // Plasticity rules apply in every step.
    let most = if network.is_plastic() { 1 } else { BATCH_MAX };
    most.min(network.min_delay().unwrap_or(BATCH_MAX)).min(network.parts().max_delay).into()
}

/// Returns the current words of the synapses.
fn words<'a>(network: &'a Network, weights: &'a [u32]) -> &'a [u32] {
    if network.is_plastic() { weights } else { &network.synapses().words }
}

/// Calls `act` for each share, in parallel if there are several.
fn for_each_share(shares: &mut [Share], act: impl Fn(&mut Share) + Send + Sync) {
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
        let is_single = self.shares.len() == 1;
        let mut run_all = || {
            let mut done = 0;
            while done < steps {
                let batch = self.batch.min(steps - done);
                self.advance(done, batch, input);
                if let Some(recorder) = &mut recorder {
                    self.record(batch, recorder);
                }
                done += batch;
            }
            self.deliver();
        };
        if is_single {
            run_all();
        } else {
            // On a thread of the pool, from which the other threads are reached faster.
            rayon::scope(|_| run_all());
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

    fn change(&mut self, network: &Arc<Network>, changed: &ChangeSummary) -> Result<(), Error> {
        let state = self.state()?.after(network, changed);
        state.check(network)?;
        *self = Self::with_state(Arc::clone(network), &state);
        Ok(())
    }
}
