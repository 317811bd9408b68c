//! The choice of the engine that runs a spiking network: a GPU, all cores of the CPU, or the reference.

use std::fmt;
use std::sync::Arc;

use kvrm_spiking::{Executor, Network, Parallel, Reference, Simulation};

use super::kernels::BurstKernels;
use super::options::Options;
use super::recovery::BurstExecutor;
use super::speeds::{Speeds, StepTimes};
use crate::auto::{self, NoGpu};
use crate::device::Device;
use crate::device::adapter::AdapterInfo;
use crate::device::error::Error;
use crate::device::registry;

/// The engines that run spiking networks. All of them have the same state after the same steps, bit by bit.
///
/// ```no_run
/// use kvrm_gpu::spiking::BurstEngine;
/// use kvrm_spiking::{Simulation, networks};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let network = networks::feagi(100_000, 64, 1)?;
/// let choice = BurstEngine::Auto.open()?.choose(network.neurons());
/// if let Some(reason) = choice.fallback() {
///     eprintln!("{reason}"); // such as "no GPU: llvmpipe is software; running on all cores of the CPU"
/// }
/// let mut simulation = Simulation::try_new(network, |network| choice.executor(network))?;
/// simulation.run(1000)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum BurstEngine {
    /// A GPU if the host has one and it is faster than the CPU for networks of the size, as measured once on this
    /// machine; else all cores of the CPU.
    #[default]
    Auto,
    /// The GPU that [`adapter::choose`](crate::adapter::choose) chooses.
    Gpu,
    /// All cores of the CPU ([`Parallel`]).
    Parallel,
    /// One core of the CPU ([`Reference`]).
    Reference,
}

impl BurstEngine {
    /// Opens the engine. [`OpenBurstEngine::choose`] then chooses between GPU and CPU for a network.
    ///
    /// The first time on a machine, [`BurstEngine::Auto`] measures both, which takes a second; see
    /// [`Speeds::load_or_measure`].
    ///
    /// # Errors
    ///
    /// [`BurstEngine::Gpu`] finds no adapter that can be used, or a GPU fails.
    pub fn open(self) -> Result<OpenBurstEngine, BurstEngineError> {
        let engine = match self {
            Self::Auto => match auto::gpu() {
                Ok(()) => {
                    let kernels = kernels(None)?;
                    let speeds = Speeds::load_or_measure(&kernels)?;
                    Opened::Faster { kernels, speeds }
                }
                Err(reason) => Opened::NoGpu(reason),
            },
            Self::Gpu => Opened::Gpu(kernels(None)?),
            Self::Parallel => Opened::Parallel,
            Self::Reference => Opened::Reference,
        };
        Ok(OpenBurstEngine(engine))
    }

    /// Opens a GPU by name, backend or index, as [`adapter::choose`](crate::adapter::choose) says.
    ///
    /// # Errors
    ///
    /// No adapter fits, or the adapter cannot be opened.
    pub fn open_gpu(wanted: &str) -> Result<OpenBurstEngine, BurstEngineError> {
        Ok(OpenBurstEngine(Opened::Gpu(kernels(Some(wanted))?)))
    }

    /// Returns the engine on an open GPU.
    pub(super) fn on_gpu(device: &Device) -> OpenBurstEngine {
        OpenBurstEngine(Opened::Gpu(BurstKernels::new(device)))
    }

    /// Returns the name of the engine in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Gpu => "gpu",
            Self::Parallel => "parallel",
            Self::Reference => "reference",
        }
    }
}

/// Opens an adapter for the burst engine.
fn kernels(wanted: Option<&str>) -> Result<BurstKernels, Error> {
    registry::open(wanted).map(|device| BurstKernels::new(&device))
}

/// A failure to open an engine for spiking networks or to run a network on it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BurstEngineError {
    /// The GPU cannot be used, or the network does not fit on it.
    #[error(transparent)]
    Gpu(#[from] Error),
    /// The network does not fit in the memory of the host, or a measurement failed.
    #[error(transparent)]
    Network(#[from] kvrm_spiking::Error),
}

/// An opened engine for spiking networks, which chooses between GPU and CPU for each network.
#[derive(Clone, Debug)]
pub struct OpenBurstEngine(Opened);

#[derive(Clone, Debug)]
enum Opened {
    Reference,
    Parallel,
    Gpu(BurstKernels),
    /// The GPU or all cores of the CPU, whichever is faster.
    Faster {
        kernels: BurstKernels,
        speeds: Speeds,
    },
    /// All cores of the CPU, because there is no GPU.
    NoGpu(NoGpu),
}

impl OpenBurstEngine {
    /// Returns a simulation of a network on the engine that is chosen for its size.
    ///
    /// # Errors
    ///
    /// The state of the network does not fit in memory, or the GPU fails.
    pub fn simulation(&self, network: Network) -> Result<Simulation, BurstEngineError> {
        let choice = self.choose(network.neurons());
        Simulation::try_new(network, |network| choice.executor(network))
    }

    /// Chooses the engine for a network of `neurons` neurons.
    #[must_use]
    pub fn choose(&self, neurons: u32) -> BurstChoice {
        match &self.0 {
            Opened::Reference => BurstChoice::on_cpu(BurstEngine::Reference, ChoiceReason::Requested),
            Opened::Parallel => BurstChoice::on_cpu(BurstEngine::Parallel, ChoiceReason::Requested),
            Opened::Gpu(kernels) => BurstChoice::on_gpu(kernels, ChoiceReason::Requested),
            Opened::NoGpu(reason) => {
                BurstChoice::on_cpu(BurstEngine::Parallel, ChoiceReason::NoGpu(reason.clone()))
            }
            Opened::Faster { kernels, speeds } => {
                let times = speeds.step_times(neurons);
                if times.gpu < times.cpu {
                    return BurstChoice::on_gpu(kernels, ChoiceReason::GpuIsFaster { neurons, times });
                }
                let gpu = Box::new(kernels.device().info().clone());
                BurstChoice::on_cpu(BurstEngine::Parallel, ChoiceReason::CpuIsFaster { neurons, times, gpu })
            }
        }
    }
}

/// The engine that was chosen for a network, and the reason.
#[derive(Clone, Debug)]
pub struct BurstChoice {
    engine: BurstEngine,
    kernels: Option<BurstKernels>,
    reason: ChoiceReason,
}

/// The reason for the choice of an engine.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ChoiceReason {
    /// The caller has named the engine.
    Requested,
    /// The host has no GPU that can be used, so the network runs on the CPU.
    NoGpu(NoGpu),
    /// The network is of a size for which the CPU is faster.
    CpuIsFaster {
        /// The number of neurons of the network.
        neurons: u32,
        /// The times that were compared.
        times: StepTimes,
        /// The GPU that was not chosen.
        gpu: Box<AdapterInfo>,
    },
    /// The network is of a size for which the GPU is faster.
    GpuIsFaster {
        /// The number of neurons of the network.
        neurons: u32,
        /// The times that were compared.
        times: StepTimes,
    },
}

/// Explains the choice in one line.
impl fmt::Display for ChoiceReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const ALL_CORES: &str = "all cores of the CPU";
        match self {
            Self::Requested => write!(f, "the engine was asked for"),
            Self::NoGpu(reason) => write!(f, "no GPU: {reason}; running on {ALL_CORES}"),
            Self::CpuIsFaster { neurons, gpu, .. } => {
                write!(f, "running on {ALL_CORES}: for {neurons} neurons it is faster than {gpu}")
            }
            Self::GpuIsFaster { neurons, .. } => {
                write!(f, "running on the GPU: for {neurons} neurons it is faster than {ALL_CORES}")
            }
        }
    }
}

impl BurstChoice {
    const fn on_cpu(engine: BurstEngine, reason: ChoiceReason) -> Self {
        Self { engine, kernels: None, reason }
    }

    fn on_gpu(kernels: &BurstKernels, reason: ChoiceReason) -> Self {
        Self { engine: BurstEngine::Gpu, kernels: Some(kernels.clone()), reason }
    }

    /// Returns the chosen engine, which is never [`BurstEngine::Auto`].
    #[must_use]
    pub const fn engine(&self) -> BurstEngine {
        self.engine
    }

    /// Returns the reason for the choice.
    #[must_use]
    pub const fn reason(&self) -> &ChoiceReason {
        &self.reason
    }

    /// Returns the reason if [`BurstEngine::Auto`] has chosen the CPU.
    #[must_use]
    pub const fn fallback(&self) -> Option<&ChoiceReason> {
        match &self.reason {
            reason @ (ChoiceReason::NoGpu(_) | ChoiceReason::CpuIsFaster { .. }) => Some(reason),
            ChoiceReason::Requested | ChoiceReason::GpuIsFaster { .. } => None,
        }
    }

    /// Returns the adapter of the GPU, or `None` for the CPU.
    #[must_use]
    pub fn adapter(&self) -> Option<&AdapterInfo> {
        self.kernels.as_ref().map(|kernels| kernels.device().info())
    }

    /// Returns the number of threads that run the network, or `None` for a GPU.
    #[must_use]
    pub fn threads(&self) -> Option<usize> {
        match self.engine {
            BurstEngine::Reference => Some(1),
            BurstEngine::Parallel => Some(rayon::current_num_threads()),
            BurstEngine::Auto | BurstEngine::Gpu => None,
        }
    }

    /// Returns an executor of a network in its initial state if the engine is a GPU.
    ///
    /// # Errors
    ///
    /// The network does not fit on the GPU, or the GPU fails.
    pub fn gpu_executor(&self, network: &Arc<Network>) -> Result<Option<BurstExecutor>, Error> {
        let new = |kernels| BurstExecutor::new(kernels, Arc::clone(network), Options::default());
        self.kernels.as_ref().map(new).transpose()
    }

    /// Returns an executor of a network in its initial state.
    ///
    /// # Errors
    ///
    /// The state of the network does not fit in memory, or the GPU fails.
    pub fn executor(&self, network: &Arc<Network>) -> Result<Box<dyn Executor>, BurstEngineError> {
        if let Some(executor) = self.gpu_executor(network)? {
            return Ok(Box::new(executor));
        }
        let network = Arc::clone(network);
        network.check_memory()?;
        Ok(match self.engine {
            BurstEngine::Reference => Box::new(Reference::new(network)),
            _ => Box::new(Parallel::new(network)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::speeds::tests::speeds;
    use super::*;
    use crate::device::adapter::Kind;

    #[test]
    fn engines_of_the_cpu_are_chosen_if_asked_for() {
        let network = Arc::new(kvrm_spiking::networks::feagi(10, 2, 1).expect("a small network"));
        for (engine, threads) in
            [(BurstEngine::Reference, 1), (BurstEngine::Parallel, rayon::current_num_threads())]
        {
            let choice = engine.open().expect("the CPU is always there").choose(10);
            assert_eq!((choice.engine(), choice.reason()), (engine, &ChoiceReason::Requested), "{engine:?}");
            assert_eq!((choice.threads(), choice.adapter()), (Some(threads), None), "{engine:?}");
            assert_eq!(choice.fallback(), None, "{engine:?}");
            let executor = choice.executor(&network).expect("the network fits");
            assert!(executor.name().contains(engine.name()), "{engine:?}: {}", executor.name());
        }
    }

    #[test]
    fn without_a_gpu_all_cores_run_the_network_and_the_reason_is_kept() {
        let reason = NoGpu::Software { name: "llvmpipe".to_owned() };
        let choice = OpenBurstEngine(Opened::NoGpu(reason.clone())).choose(1_000_000);
        assert_eq!(choice.engine(), BurstEngine::Parallel, "however large the network is");
        assert_eq!(choice.fallback(), Some(&ChoiceReason::NoGpu(reason)), "as data");
        let text = choice.reason().to_string();
        assert_eq!(text, "no GPU: llvmpipe is software; running on all cores of the CPU", "in words");
    }

    #[test]
    fn a_faster_cpu_is_explained_with_the_gpu() {
        let gpu = AdapterInfo::example("Big GPU", Kind::Discrete, true);
        let times = speeds([(5.0, 20.0); 4]).step_times(77);
        let reason = ChoiceReason::CpuIsFaster { neurons: 77, times, gpu: Box::new(gpu.clone()) };
        assert_eq!((times.cpu, times.gpu), (5.0, 20.0), "the nearest size");
        let expected = format!("running on all cores of the CPU: for 77 neurons it is faster than {gpu}");
        assert_eq!(reason.to_string(), expected, "in words");
    }
}
