//! Scripts of calls of the burst engine, with all that a caller sees of them.

use std::sync::Arc;

use kvrm_spiking::{
    Change, Error, Executor, Firing, Input, Network, Recorder, Spike, State, Synapse, sample,
};

use crate::networks::injections;
use crate::random::Random;

/// A call of an executor.
#[derive(Clone, Copy, Debug)]
pub enum Call {
    /// So many steps.
    Run(u64),
    /// So many steps with their spikes.
    Record(u64),
    /// A step with what fires in it.
    Sample,
    /// The state.
    State,
    /// The state that was asked for last becomes the state again.
    SetState,
    /// Population 0 gets so much in each step.
    Drive(i32),
    /// Synapses are added.
    Change,
}

/// What a caller sees of a network at work, and what it needs for its next call.
#[derive(Debug)]
pub struct Play {
    network: Arc<Network>,
    seed: u64,
    recorder: Recorder,
    /// What samples have shown.
    pub firings: Vec<Firing>,
    /// The state that was asked for last.
    pub state: State,
    calls: u64,
}

impl Play {
    /// The network, and a seed for inputs and changes.
    #[must_use]
    pub fn new(network: &Arc<Network>, seed: u64) -> Self {
        Self {
            network: Arc::clone(network),
            seed,
            recorder: Recorder::new(1 << 20),
            firings: Vec::new(),
            state: State::initial(network),
            calls: 0,
        }
    }

    fn input(&self, steps: u64) -> Input {
        Input::new(injections(&self.network, self.seed + self.calls, steps)).expect("amounts are small")
    }

    /// Makes a call. If it fails, the next one with the same number of successful calls before it is the same call.
    ///
    /// # Errors
    /// Those of the executor.
    ///
    /// # Panics
    /// Never: what it injects is in range.
    pub fn call(&mut self, executor: &mut dyn Executor, call: Call) -> Result<(), Error> {
        match call {
            Call::Run(steps) => executor.run(steps, &self.input(steps), None)?,
            Call::Record(steps) => executor.run(steps, &self.input(steps), Some(&mut self.recorder))?,
            Call::Sample => {
                let all = 0..self.network.neurons();
                let input = self.input(1);
                let sampled = sample(executor, &self.network, &input, Some(&mut self.recorder), all)?;
                self.firings.extend(sampled);
            }
            Call::State => self.state = executor.state()?,
            Call::SetState => executor.set_state(&self.state)?,
            Call::Drive(amount) => executor.set_drive(0, amount)?,
            Call::Change => {
                let mut random = Random::new(self.seed + self.calls);
                let mut network = Network::clone(&self.network);
                if network.is_plastic() {
                    network.take_weights(executor.state()?.weights)?;
                }
                let neurons = u64::from(network.neurons());
                let delay = network.min_delay().unwrap_or(1);
                let mut neuron = || (random.bits() % neurons) as u32;
                let add = |_| Change::Add {
                    source: neuron(),
                    synapse: Synapse { target: neuron(), delay, weight: 5 },
                };
                let changed = network.change(&(0..9).map(add).collect::<Vec<_>>())?;
                let network = Arc::new(network);
                executor.change(&network, &changed)?;
                self.network = network;
                // That of the network before has another shape.
                self.state = executor.state()?;
            }
        }
        self.calls += 1;
        Ok(())
    }

    /// The spikes that were recorded.
    #[must_use]
    pub fn spikes(&self) -> &[Spike] {
        self.recorder.spikes()
    }
}
