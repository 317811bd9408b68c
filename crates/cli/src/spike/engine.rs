//! The options for choosing an engine for spiking networks.

use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use clap::ValueEnum;
use kvrm::GpuSelection;
use kvrm::gpu::AdapterInfo;
use kvrm::spiking::{BurstChoice, BurstEngine, BurstEngines, Executor, Network, OpenBurstEngine};

use crate::engine::AdapterArgs;
use crate::output::note;

/// The value of `--engine`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Name {
    /// A GPU if there is one and it is faster than the CPU for networks of this size, as measured once on this machine;
    /// else all cores of the CPU, with a line on standard error.
    Auto,
    /// A GPU. It is an error if there is none.
    Gpu,
    /// All cores of the CPU.
    Parallel,
    /// One core of the CPU: the simple implementation with which the others are compared.
    Reference,
}

/// The options for choosing an engine.
#[derive(clap::Args)]
pub(crate) struct EngineArgs {
    /// The engine that runs the network. All engines give the same spikes.
    #[arg(long, value_name = "ENGINE", default_value = "auto")]
    engine: Name,
    /// The number of threads on the CPU. The default is the number of cores.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    #[command(flatten)]
    adapter: AdapterArgs,
}

/// An opened engine, which is ready to run networks.
#[derive(Clone)]
pub(crate) struct OpenEngine(OpenBurstEngine);

/// The engine that was chosen for a network.
pub(crate) struct ChosenEngine(BurstChoice);

impl EngineArgs {
    /// Opens the engine of these options. [`OpenEngine::choose`] chooses between GPU and CPU for a network.
    pub(crate) fn open(&self) -> Result<OpenEngine> {
        self.set_threads()?;
        Ok(OpenEngine(match (self.engine, self.adapter.adapter.as_deref()) {
            (Name::Reference | Name::Parallel, Some(wanted)) => {
                bail!("--adapter '{wanted}' names a GPU, but the engine is the CPU; use --engine gpu")
            }
            (Name::Auto | Name::Gpu, Some(wanted)) => BurstEngine::open_gpu(wanted)?,
            (Name::Auto, None) => BurstEngine::Auto.open()?,
            (Name::Gpu, None) => BurstEngine::Gpu.open()?,
            (Name::Parallel, None) => BurstEngine::Parallel.open()?,
            (Name::Reference, None) => BurstEngine::Reference.open()?,
        }))
    }

    /// Opens the engines for networks that do not depend on each other: the selected GPUs, or else one engine. With the reference,
    /// each core runs a network.
    pub(crate) fn open_several(&self, gpus: Option<&GpuSelection>) -> Result<BurstEngines> {
        if let Some(selection) = gpus {
            if matches!(self.engine, Name::Parallel | Name::Reference) {
                bail!("--gpus '{selection}' selects GPUs, but the engine is the CPU; use --engine gpu");
            }
            self.set_threads()?;
            return Ok(BurstEngines::open_gpus(selection)?);
        }
        let OpenEngine(engine) = self.open()?;
        let count = if self.engine == Name::Reference { rayon::current_num_threads() } else { 1 };
        Ok((1..count).fold(BurstEngines::new(engine.clone()), |engines, _| engines.and(engine.clone())))
    }

    fn set_threads(&self) -> Result<()> {
        let Some(threads) = self.threads else { return Ok(()) };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.into());
        pool.build_global().with_context(|| format!("--threads {threads}"))
    }
}

impl OpenEngine {
    /// Chooses the engine for a network of this size.
    pub(crate) fn choose(&self, neurons: u32) -> ChosenEngine {
        ChosenEngine::of(&self.0, neurons)
    }
}

impl ChosenEngine {
    /// Chooses the engine for a network of this size.
    pub(crate) fn of(engine: &OpenBurstEngine, neurons: u32) -> Self {
        Self(engine.choose(neurons))
    }

    /// Returns the adapter of the GPU, or `None` for the CPU.
    pub(crate) fn adapter(&self) -> Option<&AdapterInfo> {
        self.0.adapter()
    }

    /// Returns the description of the GPU, or `None` for the CPU.
    pub(crate) fn device(&self) -> Option<String> {
        self.adapter().map(ToString::to_string)
    }

    /// Returns the name of the engine in reports.
    pub(crate) const fn name(&self) -> &'static str {
        self.0.engine().name()
    }

    /// Returns the number of threads that run the network, or `None` for a GPU.
    pub(crate) fn threads(&self) -> Option<usize> {
        self.0.threads()
    }

    /// Returns the device or the engine with its threads, in a few words.
    pub(crate) fn place(&self) -> String {
        match (self.device(), self.threads()) {
            (Some(device), _) => device,
            (None, Some(1)) => format!("{}, 1 thread", self.name()),
            (None, threads) => format!("{}, {} threads", self.name(), threads.unwrap_or_default()),
        }
    }

    /// Prints on standard error why the network runs on the CPU, if the user did not ask for it.
    pub(crate) fn announce(&self) {
        if let Some(reason) = self.0.fallback() {
            note(reason);
        }
    }

    /// Returns an executor for a network.
    pub(crate) fn executor(&self, network: &Arc<Network>) -> Result<Box<dyn Executor>> {
        Ok(self.0.executor(network)?)
    }
}
