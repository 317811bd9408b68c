//! Networks, and the files that contain them.

use std::io::Cursor;
use std::path::PathBuf;
use std::sync::Arc;

use kvrm::spiking::{self, Network, Synapses};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::model::kind_name;
use super::units::Units;
use crate::error::{OrRaise as _, refused};

/// A spiking network.
#[pyclass(frozen, module = "kvrm._native")]
#[derive(Debug)]
pub(crate) struct SpikingNetwork(pub(super) Arc<Network>);

/// Synapses: columns of sources, targets, weights, and delays in ms.
pub(super) type SynapseColumns<'py> = (
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
);

/// The first neuron, the neuron behind the last one, and the extents of a grid.
type Place = (u32, u32, (u32, u32, u32));

#[pymethods]
impl SpikingNetwork {
    /// Opens a file. `dt` is the length of a step of a NIR graph in ms.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf, dt: Option<f64>) -> PyResult<Self> {
        py.detach(|| Ok(Self(Arc::new(spiking::open(&path, dt).or_raise()?))))
    }

    /// Reads the bytes of a saved network.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, file: &[u8]) -> PyResult<Self> {
        py.detach(|| Ok(Self(Arc::new(Network::read_from("network", Cursor::new(file)).or_raise()?))))
    }

    /// Returns the bytes of a saved network.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| {
            let mut bytes = Vec::new();
            self.0.write_to(&mut bytes).or_raise().map(|()| bytes)
        })?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Writes the network to a file.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.0.save(&path).or_raise())
    }

    /// Whether another network is the same.
    fn equals(&self, py: Python<'_>, other: &Self) -> bool {
        py.detach(|| self.0 == other.0)
    }

    /// The length of a step, in ms.
    #[getter]
    fn dt(&self) -> f64 {
        self.0.parts().dt
    }

    /// The seed of all random numbers.
    #[getter]
    fn seed(&self) -> u64 {
        self.0.parts().seed
    }

    /// The number of fraction bits of weights.
    #[getter]
    fn fraction_bits(&self) -> u32 {
        self.0.parts().fraction_bits
    }

    /// The largest magnitude of a drive and of the injections into a neuron in a step, in the unit of weights.
    #[getter]
    fn injection_limit(&self) -> f64 {
        Units::of(&self.0).weight(self.0.parts().injection_limit)
    }

    /// The longest delay that is possible, in ms.
    #[getter]
    fn max_delay(&self) -> f64 {
        Units::of(&self.0).milliseconds(self.0.parts().max_delay)
    }

    /// The number of neurons.
    #[getter]
    fn neurons(&self) -> u32 {
        self.0.neurons()
    }

    /// The number of synapses.
    #[getter]
    fn synapse_count(&self) -> u64 {
        self.0.synapses().count()
    }

    /// Whether any weights learn.
    #[getter]
    fn learns(&self) -> bool {
        self.0.is_plastic()
    }

    /// Name, model, neurons and grid of each population.
    fn populations(&self) -> Vec<(String, &'static str, Place)> {
        let row = |population: &spiking::Population| {
            let (neurons, [x, y, z]) = (&population.neurons, population.dimensions);
            (population.name.clone(), kind_name(population.kind), (neurons.start, neurons.end, (x, y, z)))
        };
        self.0.populations().iter().map(row).collect()
    }

    /// Returns the synapses that leave the neurons from `start` to `end`, in columns.
    #[pyo3(signature = (start, end) -> "tuple[NDArray[numpy.uint32], NDArray[numpy.uint32], NDArray[numpy.float64], NDArray[numpy.float64]]")]
    fn synapses<'py>(&self, py: Python<'py>, start: u32, end: u32) -> PyResult<SynapseColumns<'py>> {
        synapse_columns(py, &self.0, self.0.synapses(), [start, end])
    }
}

/// Returns the synapses that leave the neurons of a range, in columns.
pub(super) fn synapse_columns<'py>(
    py: Python<'py>,
    network: &Network,
    synapses: &Synapses,
    [start, end]: [u32; 2],
) -> PyResult<SynapseColumns<'py>> {
    let lengths = synapses.lengths.get(start as usize..end as usize).ok_or_else(|| {
        refused(format!("neurons {start} to {end}: there are {}, numbered from 0", network.neurons()))
    })?;
    let (sources, targets, weights, delays) = py.detach(|| {
        let count = lengths.iter().map(|length| *length as usize).sum();
        let (mut sources, mut targets) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let (mut weights, mut delays) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let units = Units::of(network);
        for source in start..end {
            for synapse in synapses.row(source) {
                sources.push(source);
                targets.push(synapse.target);
                weights.push(units.weight(synapse.weight));
                delays.push(units.milliseconds(synapse.delay));
            }
        }
        (sources, targets, weights, delays)
    });
    Ok((
        PyArray1::from_vec(py, sources),
        PyArray1::from_vec(py, targets),
        PyArray1::from_vec(py, weights),
        PyArray1::from_vec(py, delays),
    ))
}
