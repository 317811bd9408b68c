//! Samples of firing neurons with their membrane potentials, as FEAGI takes them from its fire queue for display.

use std::ops::Range;

use rayon::prelude::*;

use crate::model::{self, Clock, Neuron};
use crate::{Error, Executor, Input, Network, Record, Recorder, State};

/// A spike with the place and the membrane potential of the neuron.
#[derive(Clone, Debug, PartialEq)]
pub struct SampledSpike {
    /// The step, counted from the initial state of the network.
    pub step: u64,
    /// The neuron.
    pub neuron: u32,
    /// The number of its population.
    pub population: u32,
    /// The coordinates of the neuron in the grid of its population.
    pub place: [u32; 3],
    /// The membrane potential that is compared with the threshold, before the reset: in FEAGI's units, in mV above the
    /// resting potential for LIF neurons, in mV for Izhikevich neurons. `None` for Poisson sources, which have none.
    pub potential: Option<f64>,
}

/// Runs one step with an engine of `network`, as [`Executor::run`] does, and returns those of `neurons` that fire, in
/// order.
///
/// Engines do not keep the potentials at firing, so steps that are not sampled cost nothing. This function computes
/// them from the state before the step with the functions of the reference, so they are the same on every engine and
/// host. A sample takes as long as [`Executor::state`] and a step of `neurons` on all cores.
///
/// # Errors
/// - `neurons` is out of range, and no step was executed.
/// - [`Error::RecordingOverflow`] after the step.
/// - [`Error::Engine`] after the step if other neurons fired than by the reference. This is a bug of the engine.
/// - The errors of [`Executor::run`].
pub fn sample(
    executor: &mut dyn Executor,
    network: &Network,
    input: &Input,
    recorder: Option<&mut Recorder>,
    neurons: Range<u32>,
) -> Result<Vec<SampledSpike>, Error> {
    if neurons.end > network.neurons() {
        let neuron = u64::from(neurons.end) - 1;
        return Err(Error::NoSuchNeuron { neuron, neurons: network.neurons().into() });
    }
    let before = executor.state()?;
    let mut all = Recorder::new(network.neurons() as usize);
    executor.run(1, input, Some(&mut all))?;
    let fired = || all.spikes().iter().map(|spike| spike.neuron);
    let recorded = recorder.map_or(Ok(()), |recorder| {
        recorder.record(before.step, fired());
        recorder.finish()
    });
    let sampled = sampled_spikes(network, &before, input, neurons.clone());
    let computed: Vec<u32> = sampled.iter().map(|spike| spike.neuron).collect();
    let found: Vec<u32> = fired().filter(|neuron| neurons.contains(neuron)).collect();
    // A difference means that the engine or its device is broken, or that the engine runs another network.
    if let Some(neuron) = first_difference(&computed, &found) {
        let step = before.step;
        let what = format!(
            "neuron {neuron} fires in step {step} on the engine or by the reference, but not on both"
        );
        return Err(Error::Engine(what.into()));
    }
    recorded.map(|()| sampled)
}

/// Returns the neurons that fire in the step after a state.
fn sampled_spikes(network: &Network, state: &State, input: &Input, neurons: Range<u32>) -> Vec<SampledSpike> {
    let parts = network.parts();
    let clock = Clock::new(parts.seed, state.step);
    let injections = input.at(0);
    let sampled_spike = |neuron: u32| {
        let record = network.record(neuron);
        let place = injections.binary_search_by_key(&neuron, |injection| injection.neuron);
        let injected = place.ok().map(|place| injections[place].amount);
        let arrival = state.arrival(network, 0, neuron, injected);
        let words = state.words(neuron);
        let from = Neuron { number: neuron, record, tables: &parts.tables };
        model::update(&from, &clock, arrival, &mut words.clone())?;
        let population = record.words[Record::POPULATION];
        Some(SampledSpike {
            step: state.step,
            neuron,
            population,
            place: parts.populations[population as usize].place(neuron),
            potential: model::potential_at_firing(&from, &clock, arrival, words),
        })
    };
    neurons.into_par_iter().filter_map(sampled_spike).collect()
}

/// Returns the smallest number that is in only one of two sorted lists.
fn first_difference(left: &[u32], right: &[u32]) -> Option<u32> {
    let same = left.iter().zip(right).take_while(|(left, right)| left == right).count();
    [left.get(same), right.get(same)].into_iter().flatten().min().copied()
}
