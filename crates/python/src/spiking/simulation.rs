//! Simulations.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use kvrm::spiking::{Error, Injection, Input, Network, Recorder, Simulation, Spike, Synapses};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::change::AnyChange;
use super::engine::SpikingEngine;
use super::network::{SpikingNetwork, SynapseColumns, synapse_columns};
use super::run::{Pace, run};
use super::state::{AnyState, fields, potentials};
use super::units::{Units, parameter};
use crate::error::{OrRaise as _, refused};
use crate::locked::locked;

/// The shortest time between two looks at the progress.
const OBSERVE_EVERY: Duration = Duration::from_millis(100);

/// A simulation. Its methods let other threads run while they work.
#[pyclass(frozen, module = "kvrm._native")]
#[derive(Debug)]
pub(crate) struct SpikingSimulation(Mutex<Inner>);

#[derive(Debug)]
struct Inner {
    simulation: Simulation,
    pace: Pace,
    /// The number of spikes that the recorder has lost.
    lost: u64,
}

/// Spikes: columns of steps and neurons.
type SpikeColumns<'py> = (Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<u32>>);
/// Sampled spikes: the step; columns of neurons and populations; places, three numbers each; and potentials.
type Samples<'py> = (
    u64,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<f64>>,
);

#[pymethods]
impl SpikingSimulation {
    /// Makes a simulation of a network in its initial state.
    #[new]
    fn new(py: Python<'_>, network: &SpikingNetwork, engine: &SpikingEngine) -> PyResult<Self> {
        py.detach(|| {
            let simulation = engine.simulation(&network.0)?;
            Ok(Self(Mutex::new(Inner { simulation, pace: Pace::default(), lost: 0 })))
        })
    }

    /// The number of steps executed so far.
    #[getter]
    fn step(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |inner| Ok(inner.simulation.step()))
    }

    /// The number of spikes that were not recorded.
    #[getter]
    fn lost(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |inner| Ok(inner.lost))
    }

    /// Returns the network with all changes.
    fn network(&self, py: Python<'_>) -> PyResult<SpikingNetwork> {
        self.with(py, |inner| Ok(SpikingNetwork(Arc::new(Network::clone(inner.simulation.network())))))
    }

    /// Records spikes of the neurons from `start` to `end` from now on.
    fn record(&self, py: Python<'_>, capacity: usize, start: u32, end: u32) -> PyResult<()> {
        self.with(py, |inner| {
            inner.lost = 0;
            inner.simulation.record_with(Recorder::new(capacity).for_neurons(start..end));
            Ok(())
        })
    }

    /// Injects amounts into neurons, in steps that count from the initial state.
    #[pyo3(signature = (steps: "NDArray[numpy.uint64]", neurons: "NDArray[numpy.int64]", amounts: "NDArray[numpy.float64]"))]
    fn inject(
        &self,
        py: Python<'_>,
        steps: PyReadonlyArray1<'_, u64>,
        neurons: PyReadonlyArray1<'_, i64>,
        amounts: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<()> {
        let (steps, neurons, amounts) = (steps.as_slice()?, neurons.as_slice()?, amounts.as_slice()?);
        self.with(py, |inner| {
            let network = inner.simulation.network();
            let units = Units::of(network);
            let mut injections = Vec::with_capacity(steps.len());
            for ((step, neuron), amount) in steps.iter().zip(neurons).zip(amounts) {
                let number = u32::try_from(*neuron).ok().filter(|neuron| *neuron < network.neurons());
                let neuron = number.ok_or_else(|| no_neuron(*neuron, network))?;
                let amount = units.amount("injection", *amount).or_raise()?;
                injections.push(Injection { step: *step, neuron, amount });
            }
            // Nothing is injected if one of them is wrong.
            let input = Input::new(injections).or_raise()?;
            input.check(network, u64::MAX).or_raise()?;
            let now = inner.simulation.step();
            if let Some(first) = input.injections().first().filter(|first| first.step < now) {
                let expected = format!("{now} or later");
                return Err(parameter("step of an injection", first.step as f64, expected)).or_raise();
            }
            for Injection { step, neuron, amount } in input.injections() {
                inner.simulation.inject_at(*step, *neuron, *amount).or_raise()?;
            }
            Ok(())
        })
    }

    /// Sets the drive of a population.
    fn set_drive(&self, py: Python<'_>, population: u32, amount: f64) -> PyResult<()> {
        self.with(py, |inner| {
            let amount = Units::of(inner.simulation.network()).amount("drive", amount).or_raise()?;
            inner.simulation.set_drive(population, amount).or_raise()
        })
    }

    /// Runs some steps. `observe` is called with the steps of this run and its seconds; if it returns false, the run ends. Returns
    /// both.
    #[pyo3(signature = (steps, observe: "collections.abc.Callable[[int, float], object] | None"))]
    fn run(&self, py: Python<'_>, steps: u64, observe: Option<Py<PyAny>>) -> PyResult<(u64, f64)> {
        let (mut interruption, mut last, mut done) = (None, None, 0);
        let begin = Instant::now();
        let look = |now: u64, elapsed: Duration| {
            done = now;
            let is_due = last.is_none_or(|last| elapsed >= last + OBSERVE_EVERY) || now == steps;
            let looked = Python::attach(|py| {
                py.check_signals()?;
                let Some(observe) = observe.as_ref().filter(|_| is_due) else { return Ok(true) };
                last = Some(elapsed);
                let answer = observe.bind(py).call1((now, elapsed.as_secs_f64()))?;
                Ok(answer.is_none() || answer.is_truthy()?)
            });
            match looked {
                Ok(true) => ControlFlow::Continue(()),
                Ok(false) => ControlFlow::Break(()),
                Err(error) => {
                    interruption = Some(error);
                    ControlFlow::Break(())
                }
            }
        };
        let result = self.with(py, |inner| {
            let result = run(&mut inner.simulation, &mut inner.pace, steps, look);
            inner.note(&result);
            result.or_raise()
        });
        // The network is between two steps, and another run continues it.
        if let Some(interruption) = interruption {
            return Err(interruption);
        }
        result.map(|()| (done, begin.elapsed().as_secs_f64()))
    }

    /// Runs one step and returns those of the neurons from `start` to `end` that fire.
    #[pyo3(signature = (start, end) -> "tuple[int, NDArray[numpy.uint32], NDArray[numpy.uint32], NDArray[numpy.uint32], NDArray[numpy.float64]]")]
    fn sample<'py>(&self, py: Python<'py>, start: u32, end: u32) -> PyResult<Samples<'py>> {
        let (step, sampled) = self.with(py, |inner| {
            let step = inner.simulation.step();
            let sampled = inner.simulation.sample(start..end);
            inner.note(&sampled);
            Ok((step, sampled.or_raise()?))
        })?;
        let (mut neurons, mut populations) = (Vec::new(), Vec::new());
        let (mut places, mut potentials) = (Vec::new(), Vec::new());
        for spike in sampled {
            neurons.push(spike.neuron);
            populations.push(spike.population);
            places.extend(spike.place);
            potentials.push(spike.potential.unwrap_or(f64::NAN));
        }
        let words = |words| PyArray1::from_vec(py, words);
        Ok((step, words(neurons), words(populations), words(places), PyArray1::from_vec(py, potentials)))
    }

    /// Returns the recorded spikes, and forgets them if `take` is true.
    #[pyo3(signature = (take) -> "tuple[NDArray[numpy.uint64], NDArray[numpy.uint32]]")]
    fn spikes<'py>(&self, py: Python<'py>, take: bool) -> PyResult<SpikeColumns<'py>> {
        let (steps, neurons) = self.with(py, |inner| {
            let columns = |spikes: &[Spike]| -> (Vec<u64>, Vec<u32>) {
                spikes.iter().map(|spike| (spike.step, spike.neuron)).unzip()
            };
            if take {
                inner.lost = 0;
                return Ok(columns(&inner.simulation.take_spikes()));
            }
            Ok(columns(inner.simulation.spikes()))
        })?;
        Ok((PyArray1::from_vec(py, steps), PyArray1::from_vec(py, neurons)))
    }

    /// Returns the mean rate of each population from the spikes recorded in the last `steps` steps.
    #[pyo3(signature = (steps) -> "NDArray[numpy.float64]")]
    fn rates<'py>(&self, py: Python<'py>, steps: u64) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let rates = self.with(py, |inner| Ok(inner.simulation.rates(steps)))?;
        Ok(PyArray1::from_vec(py, rates))
    }

    /// Returns the membrane potentials of all neurons.
    #[pyo3(signature = () -> "NDArray[numpy.float64]")]
    fn potentials<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let potentials = self.with(py, |inner| {
            let state = inner.simulation.state().or_raise()?;
            Ok(potentials(inner.simulation.network(), &state))
        })?;
        Ok(PyArray1::from_vec(py, potentials))
    }

    /// Returns the synapses that leave the neurons from `start` to `end`, with the weights that they have now.
    #[pyo3(signature = (start, end) -> "tuple[NDArray[numpy.uint32], NDArray[numpy.uint32], NDArray[numpy.float64], NDArray[numpy.float64]]")]
    fn synapses<'py>(&self, py: Python<'py>, start: u32, end: u32) -> PyResult<SynapseColumns<'py>> {
        let learned = self.with(py, |inner| {
            let is_plastic = inner.simulation.network().is_plastic();
            if is_plastic {
                inner.simulation.state().or_raise().map(|state| Some(state.weights))
            } else {
                Ok(None)
            }
        })?;
        let inner = locked(&self.0, "the simulation is")?;
        let network = inner.simulation.network();
        let synapses = network.synapses();
        match learned {
            Some(words) => {
                let (starts, lengths) = (synapses.starts.clone(), synapses.lengths.clone());
                let synapses = Synapses { starts, lengths, words, packing: synapses.packing };
                synapse_columns(py, network, &synapses, [start, end])
            }
            None => synapse_columns(py, network, synapses, [start, end]),
        }
    }

    /// Returns the state after the last step, as a dictionary of its fields.
    #[pyo3(signature = () -> "dict[str, object]")]
    fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let state = self.with(py, |inner| inner.simulation.state().or_raise())?;
        fields(py, state)
    }

    /// Continues from another state.
    #[pyo3(signature = (state: "dict[str, object]"))]
    fn set_state(&self, py: Python<'_>, state: AnyState) -> PyResult<()> {
        self.with(py, |inner| inner.simulation.set_state(&state.0).or_raise())
    }

    /// Changes the network between two steps.
    #[pyo3(signature = (changes: "list[tuple[str, dict[str, object]]]"))]
    fn change(&self, py: Python<'_>, changes: Vec<AnyChange>) -> PyResult<()> {
        self.with(py, |inner| {
            let units = Units::of(inner.simulation.network());
            let changes: Result<Vec<_>, Error> = changes.iter().map(|change| change.change(units)).collect();
            inner.simulation.change(&changes.or_raise()?).or_raise()
        })
    }
}

impl Inner {
    /// Notes how many spikes were lost.
    const fn note<T>(&mut self, result: &Result<T, Error>) {
        if let Err(Error::RecordingOverflow { lost, .. }) = result {
            self.lost = *lost;
        }
    }
}

impl SpikingSimulation {
    /// Calls a function with the simulation, while other threads of Python may run.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        call: impl FnOnce(&mut Inner) -> PyResult<T> + Send,
    ) -> PyResult<T> {
        py.detach(|| call(&mut *locked(&self.0, "the simulation is")?))
    }
}

fn no_neuron(neuron: i64, network: &Network) -> PyErr {
    refused(format!("there is no neuron {neuron}: there are {}, numbered from 0", network.neurons()))
}
