//! Statistics of recorded spikes.

use kvrm::spiking::{Spike, Statistics, rates};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::field::field;

/// The neurons and the steps of which spikes count.
struct Extent {
    neurons: std::ops::Range<u32>,
    steps: std::ops::Range<u64>,
    dt: f64,
}

impl Extent {
    fn new(options: &Bound<'_, PyDict>) -> PyResult<Self> {
        let neurons = field(options, "first_neuron")?..field(options, "last_neuron")?;
        let steps = field(options, "first_step")?..field(options, "last_step")?;
        Ok(Self { neurons, steps, dt: field(options, "dt")? })
    }
}

/// Returns spikes, which arrive in columns.
fn spikes(steps: &PyReadonlyArray1<'_, u64>, neurons: &PyReadonlyArray1<'_, u32>) -> PyResult<Vec<Spike>> {
    let pairs = steps.as_slice()?.iter().zip(neurons.as_slice()?);
    Ok(pairs.map(|(step, neuron)| Spike { step: *step, neuron: *neuron }).collect())
}

/// The number of neurons and of spikes, the rate, the coefficient of variation, and the correlation.
type Row = (u32, u64, f64, Option<f64>, Option<f64>);

/// Returns the number of neurons and of spikes, the rate, the coefficient of variation of intervals, and the correlation of spikes
/// that are sorted by step. The options are the first neuron and step, those behind the last ones, and the length of a step.
#[pyfunction]
#[pyo3(signature = (steps: "NDArray[numpy.uint64]", neurons: "NDArray[numpy.uint32]", options: "dict[str, object]"))]
pub(crate) fn spiking_statistics(
    py: Python<'_>,
    steps: PyReadonlyArray1<'_, u64>,
    neurons: PyReadonlyArray1<'_, u32>,
    options: &Bound<'_, PyDict>,
) -> PyResult<Row> {
    let (spikes, extent) = (spikes(&steps, &neurons)?, Extent::new(options)?);
    let of = py.detach(|| Statistics::new(&spikes, extent.neurons, extent.steps, extent.dt));
    Ok((of.neurons, of.spikes, of.rate, of.cv, of.correlation))
}

/// Returns the mean rate per neuron over time, in spikes a second, in bins of so many steps.
#[pyfunction]
#[pyo3(signature = (
    steps: "NDArray[numpy.uint64]", neurons: "NDArray[numpy.uint32]", options: "dict[str, object]", bin
) -> "NDArray[numpy.float64]")]
pub(crate) fn spiking_rates<'py>(
    py: Python<'py>,
    steps: PyReadonlyArray1<'py, u64>,
    neurons: PyReadonlyArray1<'py, u32>,
    options: &Bound<'py, PyDict>,
    bin: u64,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let (spikes, extent) = (spikes(&steps, &neurons)?, Extent::new(options)?);
    Ok(PyArray1::from_vec(py, py.detach(|| rates(&spikes, extent.neurons, extent.steps, bin, extent.dt))))
}
