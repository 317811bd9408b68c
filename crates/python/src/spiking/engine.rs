//! The engine that runs networks.

use std::sync::Arc;

use kvrm::spiking::{BurstChoice, BurstEngine, Network, OpenBurstEngine, Simulation};
use pyo3::prelude::*;

use super::network::SpikingNetwork;
use crate::error::{OrRaise as _, refused};

/// An opened engine for spiking networks.
#[pyclass(frozen, module = "kvrm._native")]
#[derive(Debug)]
pub(crate) struct SpikingEngine(OpenBurstEngine);

#[pymethods]
impl SpikingEngine {
    /// Opens an engine by its name. An adapter names a GPU.
    #[new]
    fn new(py: Python<'_>, name: &str, adapter: Option<&str>) -> PyResult<Self> {
        const ENGINES: [BurstEngine; 4] =
            [BurstEngine::Auto, BurstEngine::Gpu, BurstEngine::Parallel, BurstEngine::Reference];
        let engine = ENGINES.into_iter().find(|engine| engine.name() == name).ok_or_else(|| {
            refused(format!("engine {name:?}: expected one of {}", ENGINES.map(BurstEngine::name).join(", ")))
        })?;
        let opened = py.detach(|| match (engine, adapter) {
            (BurstEngine::Parallel | BurstEngine::Reference, Some(_)) => {
                Err(refused(format!("adapter needs a GPU, but engine {name:?} is the CPU")))
            }
            (BurstEngine::Auto | BurstEngine::Gpu, Some(wanted)) => BurstEngine::open_gpu(wanted).or_raise(),
            (engine, None) => engine.open().or_raise(),
        })?;
        Ok(Self(opened))
    }

    /// Chooses between GPU and CPU for a network: name, GPU, number of threads, and why `auto` took the CPU.
    fn choose(
        &self,
        network: &SpikingNetwork,
    ) -> (&'static str, Option<String>, Option<usize>, Option<String>) {
        let choice = self.choice(&network.0);
        let device = choice.adapter().map(ToString::to_string);
        (choice.engine().name(), device, choice.threads(), choice.fallback().map(ToString::to_string))
    }
}

impl SpikingEngine {
    fn choice(&self, network: &Network) -> BurstChoice {
        self.0.choose(network.neurons())
    }

    /// Returns a simulation of a copy of a network.
    pub(super) fn simulation(&self, network: &Arc<Network>) -> PyResult<Simulation> {
        self.0.simulation(Network::clone(network)).or_raise()
    }
}
