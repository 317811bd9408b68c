//! A network at work, for those who use it.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use crate::{Change, Error, Executor, Firing, Injection, Input, Network, Recorder, Spike, State, sample};

/// A network, the engine that runs it, and what has been injected and recorded.
///
/// ```
/// use kvrm_spiking::{Builder, Connect, Feagi, Model, Parallel, Projection, Simulation};
///
/// # fn main() -> Result<(), kvrm_spiking::Error> {
/// let mut builder = Builder::new(1.0);
/// let area = builder.population("area", 100, &Model::Feagi(Feagi::default()))?;
/// builder.connect(area, area, &Projection::new(Connect::OutDegree(3), 1.0, 1))?;
/// let mut simulation = Simulation::new(builder.build()?, |network| Box::new(Parallel::new(network)));
/// simulation.record(10_000);
/// simulation.inject(7, 1)?;
/// simulation.run(5)?;
/// assert_eq!(simulation.spikes()[0].neuron, 7, "the first to fire is the one that was excited");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Simulation {
    network: Arc<Network>,
    executor: Box<dyn Executor>,
    /// Amounts by step, counted from the network's beginning, and neuron.
    injections: BTreeMap<(u64, u32), i32>,
    recorder: Option<Recorder>,
    step: u64,
}

impl Simulation {
    /// A network on the engine that `engine` makes for it, both at their beginning.
    pub fn new(network: Network, engine: impl FnOnce(Arc<Network>) -> Box<dyn Executor>) -> Self {
        let network = Arc::new(network);
        let executor = engine(Arc::clone(&network));
        Self { network, executor, injections: BTreeMap::new(), recorder: None, step: 0 }
    }

    /// The network.
    #[must_use]
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// The engine.
    #[must_use]
    pub fn engine(&self) -> String {
        self.executor.name()
    }

    /// Steps made so far.
    #[must_use]
    pub const fn step(&self) -> u64 {
        self.step
    }

    /// Gives a neuron an amount in the next step, in weight units.
    ///
    /// # Errors
    /// There is no such neuron, or all it gets in this step exceeds the injection limit.
    pub fn inject(&mut self, neuron: u32, amount: i32) -> Result<(), Error> {
        self.inject_at(self.step, neuron, amount)
    }

    /// Gives a neuron an amount in a step to come, in weight units.
    ///
    /// # Errors
    /// There is no such neuron, all it gets in that step exceeds the injection limit, or the step is over.
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

    /// Sets what a population gets in every step, in weight units; 0 is no input.
    ///
    /// # Errors
    /// There is no such population, or the amount exceeds the injection limit.
    pub fn set_drive(&mut self, population: u32, amount: i32) -> Result<(), Error> {
        self.executor.set_drive(population, amount)
    }

    /// Records spikes from now on, up to a number; what was recorded before is gone.
    pub fn record(&mut self, capacity: usize) {
        self.record_with(Recorder::new(capacity));
    }

    /// Records with a recorder that is set up already.
    pub fn record_with(&mut self, recorder: Recorder) {
        self.recorder = Some(recorder);
    }

    /// Makes some steps.
    ///
    /// # Errors
    /// Spikes were lost, all steps being made; or the engine fails, and no step is made. Injections are still due then.
    pub fn run(&mut self, steps: u64) -> Result<(), Error> {
        self.advance(steps, |executor, input, recorder| executor.run(steps, input, recorder))
    }

    /// Makes one step, and tells which of these neurons fire in it, where, and at which potential, as FEAGI samples its
    /// fire queue. See [`sample()`].
    ///
    /// # Errors
    /// There are no such neurons, and no step is made; or those of [`sample()`].
    pub fn sample(&mut self, neurons: Range<u32>) -> Result<Vec<Firing>, Error> {
        let network = Arc::clone(&self.network);
        self.advance(1, |executor, input, recorder| sample(executor, &network, input, recorder, neurons))
    }

    /// Makes some steps in the way that `make` does, with what is due in them.
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

    /// The spikes that have been recorded.
    #[must_use]
    pub fn spikes(&self) -> &[Spike] {
        self.recorder.as_ref().map_or(&[], Recorder::spikes)
    }

    /// Takes the spikes that have been recorded, which makes room.
    pub fn take_spikes(&mut self) -> Vec<Spike> {
        self.recorder.as_mut().map_or_else(Vec::new, Recorder::take)
    }

    /// Spikes a second of each population, of those that have been recorded in the last `steps` steps.
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

    /// The neurons of a population that have fired in the last step, with their places in its grid.
    ///
    /// # Errors
    /// There is no such population, or the engine fails.
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

    /// The state after the last step.
    ///
    /// # Errors
    /// The engine fails.
    pub fn state(&mut self) -> Result<State, Error> {
        self.executor.state()
    }

    /// Goes on from another state. Injections for steps before it are dropped.
    ///
    /// # Errors
    /// The state is not one of this network, or the engine fails.
    pub fn set_state(&mut self, state: &State) -> Result<(), Error> {
        self.executor.set_state(state)?;
        self.step = state.step;
        self.injections = self.injections.split_off(&(state.step, 0));
        Ok(())
    }

    /// Changes the network between two steps; its state stays.
    ///
    /// # Errors
    /// A change is impossible, or what is on its way leaves no room for what can arrive then, and nothing has changed;
    /// or the engine fails.
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
