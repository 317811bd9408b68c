//! Networks under construction.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kvrm::spiking::{Builder, ListedSynapse, PopulationId};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::field::field;
use super::model::AnyModel;
use super::network::SpikingNetwork;
use super::projection::{AnyPlasticity, AnyProjection};
use super::units::{Units, parameter};
use crate::error::{OrRaise as _, refused};

/// A builder of a spiking network. It is used up when the network is built.
#[pyclass(frozen, module = "kvrm._native")]
#[derive(Debug)]
pub(crate) struct SpikingBuilder {
    builder: Mutex<Option<Builder>>,
    units: Units,
}

/// The handle of a population of a builder.
#[pyclass(frozen, module = "kvrm._native")]
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpikingPopulation(PopulationId);

#[pymethods]
impl SpikingPopulation {
    /// The number of the population in the network.
    #[getter]
    const fn number(&self) -> u32 {
        self.0.number()
    }
}

/// The synapses of a list, in columns.
#[derive(FromPyObject)]
struct Columns<'py>(
    PyReadonlyArray1<'py, i64>,
    PyReadonlyArray1<'py, i64>,
    PyReadonlyArray1<'py, f64>,
    PyReadonlyArray1<'py, f64>,
);

#[pymethods]
impl SpikingBuilder {
    /// Makes a builder. The options are those of `kvrm.spiking.Builder`.
    #[new]
    #[pyo3(signature = (options: "dict[str, object]"))]
    fn new(options: &Bound<'_, PyDict>) -> PyResult<Self> {
        let units = Units { dt: field(options, "dt")?, fraction_bits: field(options, "fraction_bits")? };
        let mut builder =
            Builder::new(units.dt).seed(field(options, "seed")?).fraction_bits(units.fraction_bits);
        if let Some(limit) = field::<Option<f64>>(options, "injection_limit")? {
            let most = units.amount("injection limit", limit).or_raise()?;
            if most < 0 {
                return Err(parameter("injection limit", limit, "0 or more".to_owned())).or_raise();
            }
            builder = builder.injection_limit(most);
        }
        if let Some(delay) = field::<Option<f64>>(options, "max_delay")? {
            builder = builder.max_delay(units.steps(delay));
        }
        Ok(Self { builder: Mutex::new(Some(builder)), units })
    }

    /// Adds a population with one model for all neurons or one for each, and likewise initial potentials.
    #[pyo3(signature = (
        name, dimensions: "dict[str, int]", models: "list[tuple[str, dict[str, object]]]", potentials: "NDArray[numpy.float64] | None"
    ))]
    fn population(
        &self,
        name: &str,
        dimensions: &Bound<'_, PyDict>,
        models: Vec<AnyModel>,
        potentials: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<SpikingPopulation> {
        let py = dimensions.py();
        let dimensions: [u32; 3] =
            [field(dimensions, "width")?, field(dimensions, "height")?, field(dimensions, "depth")?];
        let neurons =
            dimensions.iter().fold(1_u64, |product, extent| product.saturating_mul((*extent).into()));
        let potentials =
            potentials.map(|potentials| potentials.as_slice().map(<[f64]>::to_vec)).transpose()?;
        let lengths = [("models", models.len()), ("potentials", potentials.as_ref().map_or(1, Vec::len))];
        for (what, length) in lengths {
            if length != 1 && length as u64 != neurons || length == 0 {
                let text = format!(
                    "population {name:?}: {length} {what} for {neurons} neurons: expected one for each"
                );
                return Err(refused(text));
            }
        }
        let neuron = |index: u32| {
            let AnyModel(model) = &models[if models.len() == 1 { 0 } else { index as usize }];
            let potential =
                potentials.as_ref().map(|all| all[if all.len() == 1 { 0 } else { index as usize }]);
            (model.clone(), potential)
        };
        let kind = models[0].0.kind();
        self.with(py, |builder| {
            if models.len() > 1 || potentials.is_some() {
                // An error at a later neuron would leave the earlier ones in the builder, so another builder tries first.
                let mut trial = Builder::new(self.units.dt).fraction_bits(self.units.fraction_bits);
                trial.populate(name, dimensions, kind, neuron).or_raise()?;
            }
            Ok(SpikingPopulation(builder.populate(name, dimensions, kind, neuron).or_raise()?))
        })
    }

    /// Adds the synapses of a projection.
    #[pyo3(signature = (source, target, projection: "dict[str, object]"))]
    fn connect(
        &self,
        py: Python<'_>,
        source: &SpikingPopulation,
        target: &SpikingPopulation,
        projection: AnyProjection,
    ) -> PyResult<()> {
        self.with(py, |builder| builder.connect(source.0, target.0, &projection.0).or_raise())
    }

    /// Adds synapses of a list: columns of sources, targets, weights, and delays in ms.
    #[pyo3(signature = (
        source, target,
        columns: "tuple[NDArray[numpy.int64], NDArray[numpy.int64], NDArray[numpy.float64], NDArray[numpy.float64]]"
    ))]
    fn connect_list(
        &self,
        py: Python<'_>,
        source: &SpikingPopulation,
        target: &SpikingPopulation,
        columns: Columns<'_>,
    ) -> PyResult<()> {
        let Columns(sources, targets, weights, delays) = &columns;
        let (sources, targets) = (sources.as_slice()?, targets.as_slice()?);
        let (weights, delays) = (weights.as_slice()?, delays.as_slice()?);
        let (units, [source, target]) = (self.units, [source.0, target.0]);
        if let Some(neuron) = sources.iter().chain(targets).find(|neuron| **neuron < 0) {
            return Err(refused(format!("there is no neuron {neuron}: they are numbered from 0")));
        }
        self.with(py, |builder| {
            // The builder refuses a number that is too large.
            let number = |neuron: i64| u32::try_from(neuron).unwrap_or(u32::MAX);
            let pairs = sources.iter().zip(targets).zip(weights.iter().zip(delays));
            let synapses: Vec<_> = pairs
                .map(|((source, target), (weight, delay))| ListedSynapse {
                    source: number(*source),
                    target: number(*target),
                    weight: *weight,
                    delay: units.steps(*delay),
                })
                .collect();
            builder.connect_list(source, target, &synapses).or_raise()
        })
    }

    /// Adds a plasticity rule with the limits of weights.
    #[pyo3(signature = (source, target, weights, rule: "tuple[str, dict[str, object]]"))]
    fn learn(
        &self,
        source: PyRef<'_, SpikingPopulation>,
        target: &SpikingPopulation,
        weights: (f64, f64),
        rule: AnyPlasticity,
    ) -> PyResult<()> {
        let (py, source, target) = (source.py(), source.0, target.0);
        let rule = rule.rule(self.units)?;
        self.with(py, |builder| builder.learn(source, target, weights.into(), rule).or_raise())
    }

    /// Generates all synapses and returns the network.
    fn build(&self, py: Python<'_>) -> PyResult<SpikingNetwork> {
        py.detach(|| {
            let builder = self.lock().take().ok_or_else(used_up)?;
            Ok(SpikingNetwork(Arc::new(builder.build().or_raise()?)))
        })
    }
}

impl SpikingBuilder {
    fn lock(&self) -> MutexGuard<'_, Option<Builder>> {
        self.builder.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls a function with the builder. It waits for other threads of Python, so these may run.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        call: impl FnOnce(&mut Builder) -> PyResult<T> + Send,
    ) -> PyResult<T> {
        py.detach(|| call(self.lock().as_mut().ok_or_else(used_up)?))
    }
}

fn used_up() -> PyErr {
    refused("the builder has built its network: make another builder".to_owned())
}
