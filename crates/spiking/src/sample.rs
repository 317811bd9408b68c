//! Samples of what fires, as FEAGI takes them of its fire queue to show it.

use std::ops::Range;

use rayon::prelude::*;

use crate::model::{self, Clock, Neuron};
use crate::{Error, Executor, Input, Network, Record, Recorder, State};

/// A neuron fires.
#[derive(Clone, Debug, PartialEq)]
pub struct Firing {
    /// The step, counted from the network's beginning.
    pub step: u64,
    /// The neuron.
    pub neuron: u32,
    /// The number of its population.
    pub population: u32,
    /// Its place in the grid of its population.
    pub place: [u32; 3],
    /// Its potential when it fires, which is the one that is compared with the threshold: in FEAGI's units, in mV above
    /// the resting potential for LIF neurons, in mV for Izhikevich's. `None` for sources, which have none.
    pub potential: Option<f64>,
}

/// Lets an engine of `network` make one step, as [`Executor::run`] does, and tells which of `neurons` fire in it, in
/// order.
///
/// Engines do not keep the potentials at firing, so steps that nobody samples cost nothing. They are computed here, from
/// the state before the step, by the functions of the reference; so they are the same on every engine and host. A sample
/// takes as long as [`Executor::state`] and a step of `neurons` on all cores.
///
/// # Errors
/// There are no such neurons, and no step is made. After the step: [`Error::RecordingOverflow`], or who fires by the
/// functions of the reference does not do so on the engine, which must not happen. Or those of [`Executor::run`].
pub fn sample(
    executor: &mut dyn Executor,
    network: &Network,
    input: &Input,
    recorder: Option<&mut Recorder>,
    neurons: Range<u32>,
) -> Result<Vec<Firing>, Error> {
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
    let firings = firings(network, &before, input, neurons.clone());
    let computed: Vec<u32> = firings.iter().map(|firing| firing.neuron).collect();
    let found: Vec<u32> = fired().filter(|neuron| neurons.contains(neuron)).collect();
    // An engine of which this is not so is broken, or its device: potentials of another network would not be noticed.
    if let Some(neuron) = first_difference(&computed, &found) {
        let step = before.step;
        let what = format!("neuron {neuron} fires in step {step} either on it or by the reference, not both");
        return Err(Error::Engine(what.into()));
    }
    recorded.map(|()| firings)
}

/// Who fires in the step after a state.
fn firings(network: &Network, state: &State, input: &Input, neurons: Range<u32>) -> Vec<Firing> {
    let parts = network.parts();
    let clock = Clock::new(parts.seed, state.step);
    let injections = input.at(0);
    let firing = |neuron: u32| {
        let record = network.record(neuron);
        let place = injections.binary_search_by_key(&neuron, |injection| injection.neuron);
        let injected = place.ok().map(|place| injections[place].amount);
        let arrival = state.arrival(network, 0, neuron, injected);
        let words = state.words(neuron);
        let from = Neuron { number: neuron, record, tables: &parts.tables };
        model::update(&from, &clock, arrival, &mut words.clone())?;
        let population = record.words[Record::POPULATION];
        Some(Firing {
            step: state.step,
            neuron,
            population,
            place: parts.populations[population as usize].place(neuron),
            potential: model::potential_at_firing(&from, &clock, arrival, words),
        })
    };
    neurons.into_par_iter().filter_map(firing).collect()
}

/// The least number that is in one of two sorted lists only.
fn first_difference(left: &[u32], right: &[u32]) -> Option<u32> {
    let same = left.iter().zip(right).take_while(|(left, right)| left == right).count();
    [left.get(same), right.get(same)].into_iter().flatten().min().copied()
}
