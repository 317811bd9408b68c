//! States as arrays, and their files.

use std::path::PathBuf;

use kvrm::spiking::{Kind, Network, Population, State, fixed, join};
use numpy::{Element, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::field::field;
use super::network::SpikingNetwork;
use crate::error::OrRaise as _;

/// A state from a dictionary of its fields.
#[derive(Debug)]
pub(crate) struct AnyState(pub(super) State);

impl<'py> FromPyObject<'_, 'py> for AnyState {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let options: Bound<'py, PyDict> = object.extract()?;
        Ok(Self(State {
            step: field(&options, "step")?,
            columns: column(&options, "columns")?,
            ring: column(&options, "ring")?,
            marks: column(&options, "marks")?,
            fired: column(&options, "fired")?,
            history: column(&options, "history")?,
            weights: column(&options, "weights")?,
            drives: column(&options, "drives")?,
        }))
    }
}

fn column<T: Element + Copy + 'static>(options: &Bound<'_, PyDict>, name: &str) -> PyResult<Vec<T>> {
    let array: PyReadonlyArray1<'_, T> = field(options, name)?;
    Ok(array.as_slice()?.to_vec())
}

/// Returns a state as a dictionary of its fields.
pub(super) fn fields(py: Python<'_>, state: State) -> PyResult<Bound<'_, PyDict>> {
    let State { step, columns, ring, marks, fired, history, weights, drives } = state;
    let fields = PyDict::new(py);
    fields.set_item("step", step)?;
    for (name, words) in [("columns", columns), ("marks", marks), ("fired", fired), ("weights", weights)] {
        fields.set_item(name, PyArray1::from_vec(py, words))?;
    }
    fields.set_item("ring", PyArray1::from_vec(py, ring))?;
    fields.set_item("history", PyArray1::from_vec(py, history))?;
    fields.set_item("drives", PyArray1::from_vec(py, drives))?;
    Ok(fields)
}

/// Returns the membrane potential of each neuron: in FEAGI's units, in mV above the resting potential for LIF neurons, in mV for
/// Izhikevich neurons, and NaN for Poisson sources.
pub(super) fn potentials(network: &Network, state: &State) -> Vec<f64> {
    let neurons = network.neurons() as usize;
    let potential = |kind: Kind, neuron: u32| {
        let word = |word: usize| state.columns[word * neurons + neuron as usize];
        match kind {
            Kind::Feagi => join(word(0), word(1)) as f64 / (fixed::POTENTIAL_BITS as f64).exp2(),
            Kind::Lif | Kind::Izhikevich => fixed::float(word(0) as i32, fixed::MILLIVOLT_BITS),
            Kind::Poisson => f64::NAN,
        }
    };
    let of = |population: &Population| {
        let kind = population.kind;
        population.neurons.clone().map(move |neuron| potential(kind, neuron)).collect::<Vec<_>>()
    };
    network.populations().iter().flat_map(of).collect()
}

/// Writes a state to a file.
#[pyfunction]
#[pyo3(signature = (path, state: "dict[str, object]"))]
pub(crate) fn spiking_save_state(py: Python<'_>, path: PathBuf, state: AnyState) -> PyResult<()> {
    py.detach(|| state.0.save(&path).or_raise())
}

/// Reads a state of a network from a file.
#[pyfunction]
#[pyo3(signature = (path, network) -> "dict[str, object]")]
pub(crate) fn spiking_load_state<'py>(
    py: Python<'py>,
    path: PathBuf,
    network: &SpikingNetwork,
) -> PyResult<Bound<'py, PyDict>> {
    let state = py.detach(|| State::load(&path, &network.0).or_raise())?;
    fields(py, state)
}
