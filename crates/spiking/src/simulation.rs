//! [`Simulation`], the interface for users who run networks.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use crate::{
    Change, Error, Executor, Injection, Input, Network, Recorder, SampledSpike, Spike, State, sample,
};

/// A network and the engine that runs it, with pending injections and a recorder.
///
/// ```
/// use kvrm_spiking::{Builder, ConnectionRule, Feagi, Model, Parallel, Projection, Simulation};
///
/// # fn main() -> Result<(), kvrm_spiking::Error> {
/// let mut builder = Builder::new(1.0);
/// let area = builder.population("area", 100, &Model::Feagi(Feagi::default()))?;
/// builder.connect(area, area, &Projection::new(ConnectionRule::OutDegree(3), 1.0, 1))?;
/// let mut simulation = Simulation::new(builder.build()?, |network| Box::new(Parallel::new(network)));
/// simulation.record(10_000);
/// simulation.inject(7, 1)?;
/// simulation.run(5)?;
/// assert_eq!(simulation.spikes()[0].neuron, 7, "the injection makes neuron 7 fire");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Simulation {
    network: Arc<Network>,
    executor: Box<dyn Executor>,
    /// The amounts of pending injections, by neuron and by step, counted from the initial state of the network.
    injections: BTreeMap<(u64, u32), i32>,
    recorder: Option<Recorder>,
    step: u64,
}

impl Simulation {
    /// Returns a simulation of a network in its initial state, on the engine that `engine` makes for it.
    pub fn new(network: Network, engine: impl FnOnce(Arc<Network>) -> Box<dyn Executor>) -> Self {
        let network = Arc::new(network);
        let executor = engine(Arc::clone(&network));
        Self { network, executor, injections: BTreeMap::new(), recorder: None, step: 0 }
    }

    /// Returns a simulation as [`Simulation::new`] does, on an engine that cannot always be made.
    ///
    /// # Errors
    /// The errors of `engine`.
    pub fn try_new<E>(
        network: Network,
        engine: impl FnOnce(&Arc<Network>) -> Result<Box<dyn Executor>, E>,
    ) -> Result<Self, E> {
        let network = Arc::new(network);
        let executor = engine(&network)?;
        Ok(Self { network, executor, injections: BTreeMap::new(), recorder: None, step: 0 })
    }

    /// Returns the network.
    #[must_use]
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// Returns the name of the engine.
    #[must_use]
    pub fn engine(&self) -> String {
        self.executor.name()
    }

    /// Returns the number of steps executed so far.
    #[must_use]
    pub const fn step(&self) -> u64 {
        self.step
    }

    /// Injects an amount into a neuron in the next step, in weight units.
    ///
    /// # Errors
    /// There is no such neuron, or its injections in this step exceed the injection limit.
    pub fn inject(&mut self, neuron: u32, amount: i32) -> Result<(), Error> {
        self.inject_at(self.step, neuron, amount)
    }

    /// Injects an amount into a neuron in a later step, in weight units. `step` counts from the initial state of the
    /// network.
    ///
    /// # Errors
    /// There is no such neuron, its injections in that step exceed the injection limit, or the step is over.
    pub fn inject_at(&mut self, step: u64, neuron: u32, amount: i32) -> Result<(), Error> {
        if step < self.step {
            return Err(Error::parameter("step of an injection", step, format!("{} or later", self.step)));
        }
        let before = self.injections.get(&(step, neuron)).map(|&amount| Injection { step, neuron, amount });
        let all = before.into_iter().chain([Injection { step, neuron, amount }]).collect();
        let input = Input::new(all)?;
        input.check(&self.network, u64::MAX)?;
        self.injections.extend(input.injections().iter().map(|sum| ((step, neuron), sum.amount)));
        Ok(())
    }

    /// Sets the drive of a population: the input of each of its neurons in every step, in weight units; 0 is no input.
    ///
    /// # Errors
    /// There is no such population, or the magnitude exceeds the injection limit.
    pub fn set_drive(&mut self, population: u32, amount: i32) -> Result<(), Error> {
        self.executor.set_drive(population, amount)
    }

    /// Records spikes from now on, at most `capacity`. Spikes recorded before are dropped.
    pub fn record(&mut self, capacity: usize) {
        self.record_with(Recorder::new(capacity));
    }

    /// Records spikes from now on with this recorder.
    pub fn record_with(&mut self, recorder: Recorder) {
        self.recorder = Some(recorder);
    }

    /// Runs `steps` steps.
    ///
    /// # Errors
    /// [`Error::RecordingOverflow`] after all steps if spikes were lost. If the engine failed, no step was executed,
    /// and the injections are still pending.
    pub fn run(&mut self, steps: u64) -> Result<(), Error> {
        self.advance(steps, |executor, input, recorder| executor.run(steps, input, recorder))
    }

    /// Runs one step and returns those of these neurons that fire, with their places and membrane potentials, as FEAGI
    /// samples its fire queue. See [`sample()`].
    ///
    /// # Errors
    /// The neurons are out of range, and no step was executed; or the errors of [`sample()`].
    pub fn sample(&mut self, neurons: Range<u32>) -> Result<Vec<SampledSpike>, Error> {
        let network = Arc::clone(&self.network);
        self.advance(1, |executor, input, recorder| sample(executor, &network, input, recorder, neurons))
    }

    /// Runs `steps` steps by calling `make`, with the injections that are due in them.
    fn advance<T>(
        &mut self,
        steps: u64,
        make: impl FnOnce(&mut dyn Executor, &Input, Option<&mut Recorder>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let end = self.step.saturating_add(steps);
        let due = self.injections.range(..(end, 0)).map(|(&(step, neuron), &amount)| Injection {
            step: step - self.step,
            neuron,
            amount,
        });
        let input = Input::new(due.collect())?;
        let made = make(&mut *self.executor, &input, self.recorder.as_mut());
        if matches!(made, Ok(_) | Err(Error::RecordingOverflow { .. })) {
            self.injections = self.injections.split_off(&(end, 0));
            self.step = end;
        }
        made
    }

    /// Returns the recorded spikes, sorted by step and neuron.
    #[must_use]
    pub fn spikes(&self) -> &[Spike] {
        self.recorder.as_ref().map_or(&[], Recorder::spikes)
    }

    /// Returns the recorded spikes and empties the recorder.
    pub fn take_spikes(&mut self) -> Vec<Spike> {
        self.recorder.as_mut().map_or_else(Vec::new, Recorder::take)
    }

    /// Returns the mean rate of each population, in spikes a second, from the spikes recorded in the last `steps`
    /// steps.
    #[must_use]
    pub fn rates(&self, steps: u64) -> Vec<f64> {
        let first = self.step.saturating_sub(steps);
        let populations = self.network.populations();
        let mut counts = vec![0_u64; populations.len()];
        for spike in self.spikes().iter().filter(|spike| (first..self.step).contains(&spike.step)) {
            counts[populations.partition_point(|population| population.neurons.end <= spike.neuron)] += 1;
        }
        let seconds = steps.min(self.step) as f64 * self.network.parts().dt / 1000.0;
        let rate =
            |(count, neurons): (u64, f64)| if count == 0 { 0.0 } else { count as f64 / neurons / seconds };
        let sizes = populations.iter().map(|population| population.neurons.len() as f64);
        counts.into_iter().zip(sizes).map(rate).collect()
    }

    /// Returns the neurons of a population that fired in the last step, with their coordinates in its grid.
    ///
    /// # Errors
    /// There is no such population, or the engine failed.
    pub fn fired(&mut self, population: u32) -> Result<Vec<(u32, [u32; 3])>, Error> {
        let populations = self.network.populations();
        let count = populations.len() as u64;
        let population = populations
            .get(population as usize)
            .ok_or(Error::NoSuchPopulation { population: population.into(), populations: count })?;
        let state = self.executor.state()?;
        let own = state.fired().filter(|neuron| population.neurons.contains(neuron));
        Ok(own.map(|neuron| (neuron, population.place(neuron))).collect())
    }

    /// Returns the state after the last step.
    ///
    /// # Errors
    /// The engine failed.
    pub fn state(&mut self) -> Result<State, Error> {
        self.executor.state()
    }

    /// Continues from another state. Injections for steps before it are dropped.
    ///
    /// # Errors
    /// The state does not match the network, or the engine failed.
    pub fn set_state(&mut self, state: &State) -> Result<(), Error> {
        self.executor.set_state(state)?;
        self.step = state.step;
        self.injections = self.injections.split_off(&(state.step, 0));
        Ok(())
    }

    /// Changes the network between two steps. Its state stays.
    ///
    /// # Errors
    /// A change is impossible, or pending and possible new input of a neuron could overflow, and nothing has changed;
    /// or the engine failed.
    pub fn change(&mut self, changes: &[Change]) -> Result<(), Error> {
        let mut network = Network::clone(&self.network);
        if network.is_plastic() {
            network.take_weights(self.executor.state()?.weights)?;
        }
        let changed = network.change(changes)?;
        let network = Arc::new(network);
        self.executor.change(&network, &changed)?;
        self.network = network;
        Ok(())
    }
}
