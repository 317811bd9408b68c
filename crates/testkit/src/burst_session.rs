//! Sequences of calls of a burst executor, with their observable results.

use std::sync::Arc;

use kvrm_spiking::{
    Change, Error, Executor, Input, Network, Recorder, SampledSpike, Spike, State, Synapse, sample,
};

use crate::networks::injections;
use crate::random::Random;

/// A call of a burst executor.
#[derive(Clone, Copy, Debug)]
pub enum BurstCall {
    /// Runs this number of steps.
    Run(u64),
    /// Runs this number of steps and records their spikes.
    Record(u64),
    /// Runs one step and samples the neurons that fire.
    Sample,
    /// Reads the state.
    State,
    /// Sets the state that was read last.
    SetState,
    /// Sets the drive of population 0 to this amount per step.
    Drive(i32),
    /// Adds synapses.
    Change,
}

/// The results of a sequence of calls, and the inputs of the next call.
#[derive(Debug)]
pub struct BurstSession {
    network: Arc<Network>,
    seed: u64,
    recorder: Recorder,
    /// The spikes of all samples.
    pub sampled: Vec<SampledSpike>,
    /// The state that was read last.
    pub state: State,
    calls: u64,
}

impl BurstSession {
    /// Starts a sequence of calls for `network`. Inputs and changes are derived from `seed`.
    #[must_use]
    pub fn new(network: &Arc<Network>, seed: u64) -> Self {
        Self {
            network: Arc::clone(network),
            seed,
            recorder: Recorder::new(1 << 20),
            sampled: Vec::new(),
            state: State::initial(network),
            calls: 0,
        }
    }

    fn input(&self, steps: u64) -> Input {
        Input::new(injections(&self.network, self.seed + self.calls, steps)).expect("amounts are small")
    }

    /// Makes a call. Its input depends on the number of successful calls before it, so a failed call can be repeated.
    ///
    /// # Errors
    /// The errors of the executor.
    ///
    /// # Panics
    /// Never: injections are in range.
    pub fn call(&mut self, executor: &mut dyn Executor, call: BurstCall) -> Result<(), Error> {
        match call {
            BurstCall::Run(steps) => executor.run(steps, &self.input(steps), None)?,
            BurstCall::Record(steps) => executor.run(steps, &self.input(steps), Some(&mut self.recorder))?,
            BurstCall::Sample => {
                let all = 0..self.network.neurons();
                let input = self.input(1);
                let sampled = sample(executor, &self.network, &input, Some(&mut self.recorder), all)?;
                self.sampled.extend(sampled);
            }
            BurstCall::State => self.state = executor.state()?,
            BurstCall::SetState => executor.set_state(&self.state)?,
            BurstCall::Drive(amount) => executor.set_drive(0, amount)?,
            BurstCall::Change => {
                let mut random = Random::new(self.seed + self.calls);
                let mut network = Network::clone(&self.network);
                if network.is_plastic() {
                    network.take_weights(executor.state()?.weights)?;
                }
                let neurons = u64::from(network.neurons());
                let delay = network.min_delay().unwrap_or(1);
                let mut neuron = || (random.bits() % neurons) as u32;
                let add = |_| Change::AddSynapse {
                    source: neuron(),
                    synapse: Synapse { target: neuron(), delay, weight: 5 },
                };
                let changed = network.change(&(0..9).map(add).collect::<Vec<_>>())?;
                let network = Arc::new(network);
                executor.change(&network, &changed)?;
                self.network = network;
                // The state of the previous network has another shape.
                self.state = executor.state()?;
            }
        }
        self.calls += 1;
        Ok(())
    }

    /// Returns the recorded spikes.
    #[must_use]
    pub fn spikes(&self) -> &[Spike] {
        self.recorder.spikes()
    }
}
