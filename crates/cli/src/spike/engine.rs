//! The options for choosing an engine for spiking networks.

use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use clap::ValueEnum;
use kvrm::gpu::AdapterInfo;
use kvrm::spiking::{BurstExecutor, BurstKernels, Executor, Network, Options, Parallel, Reference, Speeds};
use kvrm::{Engine, GpuEngine};

use crate::engine::AdapterArgs;
use crate::output::note;

/// The device of networks without a GPU, for messages.
const ALL_CORES: &str = "all cores of the CPU";

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
pub(crate) struct OpenEngine {
    kind: Kind,
    /// The measured speeds of GPU and CPU, if the faster one is wanted.
    speeds: Option<Speeds>,
    /// The description of the GPU; `None` on the CPU.
    pub(crate) device: Option<String>,
    /// The reason that the CPU was chosen, if the user did not ask for it.
    fallback: Option<String>,
}

/// The engine itself.
#[derive(Clone)]
enum Kind {
    Reference,
    Parallel,
    Gpu(BurstKernels),
}

impl EngineArgs {
    /// Opens the engine of these options. [`OpenEngine::sized`] chooses between GPU and CPU for a network.
    pub(crate) fn open(&self) -> Result<OpenEngine> {
        if let Some(threads) = self.threads {
            rayon::ThreadPoolBuilder::new()
                .num_threads(threads.into())
                .build_global()
                .with_context(|| format!("--threads {threads}"))?;
        }
        let wanted = self.adapter.adapter.as_deref();
        if let (Name::Reference | Name::Parallel, Some(wanted)) = (self.engine, wanted) {
            bail!("--adapter '{wanted}' names a GPU, but the engine is the CPU; use --engine gpu");
        }
        let choice = match (self.engine, wanted) {
            (Name::Reference, _) => return Ok(OpenEngine::cpu(Kind::Reference)),
            (Name::Parallel, _) => return Ok(OpenEngine::cpu(Kind::Parallel)),
            (Name::Auto, None) => Engine::Auto.choose(),
            (Name::Gpu, _) | (Name::Auto, Some(_)) => Engine::Gpu.choose(),
        };
        Ok(match choice.engine {
            Engine::Gpu => {
                let device = GpuEngine::open(wanted)?.device().clone();
                let kernels = BurstKernels::new(&device);
                let is_open = self.engine == Name::Auto && wanted.is_none();
                let speeds = is_open.then(|| Speeds::of(&kernels)).transpose()?;
                let device = Some(device.info().to_string());
                OpenEngine { kind: Kind::Gpu(kernels), speeds, device, fallback: None }
            }
            Engine::Auto | Engine::Reference => {
                // The text is made for lanes, whose engine on the CPU has another name.
                let reason = choice.reason.map(|reason| reason.replace("the CPU reference", ALL_CORES));
                OpenEngine { fallback: reason, ..OpenEngine::cpu(Kind::Parallel) }
            }
        })
    }
}

impl OpenEngine {
    const fn cpu(kind: Kind) -> Self {
        Self { kind, speeds: None, device: None, fallback: None }
    }

    /// Returns the engine for a network of this size: all cores of the CPU if the faster engine is wanted and that is
    /// the CPU.
    pub(crate) fn sized(&self, neurons: u32) -> Self {
        match (&self.speeds, &self.device) {
            (Some(speeds), Some(device)) if !speeds.gpu_is_faster(neurons) => {
                let reason =
                    format!("running on {ALL_CORES}: for {neurons} neurons it is faster than {device}");
                Self { fallback: Some(reason), ..Self::cpu(Kind::Parallel) }
            }
            _ => self.clone(),
        }
    }

    /// Returns the adapter of the GPU, or `None` for the CPU.
    pub(crate) fn adapter(&self) -> Option<&AdapterInfo> {
        match &self.kind {
            Kind::Reference | Kind::Parallel => None,
            Kind::Gpu(kernels) => Some(kernels.device().info()),
        }
    }

    /// Returns the name of the engine in reports.
    pub(crate) const fn name(&self) -> &'static str {
        match self.kind {
            Kind::Reference => "reference",
            Kind::Parallel => "parallel",
            Kind::Gpu(_) => "gpu",
        }
    }

    /// Returns the number of threads that run the network, or `None` for a GPU.
    pub(crate) fn threads(&self) -> Option<usize> {
        match self.kind {
            Kind::Reference => Some(1),
            Kind::Parallel => Some(rayon::current_num_threads()),
            Kind::Gpu(_) => None,
        }
    }

    /// Returns the device or the engine with its threads, in a few words.
    pub(crate) fn place(&self) -> String {
        match (&self.device, self.threads()) {
            (Some(device), _) => device.clone(),
            (None, Some(1)) => format!("{}, 1 thread", self.name()),
            (None, threads) => format!("{}, {} threads", self.name(), threads.unwrap_or_default()),
        }
    }

    /// Prints on standard error why the network runs on the CPU, if the user did not ask for it.
    pub(crate) fn announce(&self) {
        if let Some(reason) = &self.fallback {
            note(reason);
        }
    }

    /// Returns an executor for a network.
    pub(crate) fn executor(&self, network: &Arc<Network>) -> Result<Box<dyn Executor>> {
        let network = Arc::clone(network);
        Ok(match &self.kind {
            Kind::Reference => Box::new(Reference::new(network)),
            Kind::Parallel => Box::new(Parallel::new(network)),
            Kind::Gpu(kernels) => Box::new(BurstExecutor::new(kernels, network, Options::default())?),
        })
    }
}
