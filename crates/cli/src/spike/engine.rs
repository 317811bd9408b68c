//! Engines for spiking networks.

use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use clap::ValueEnum;
use kvrm::gpu::AdapterInfo;
use kvrm::spiking::{BurstExecutor, BurstKernels, Executor, Network, Options, Parallel, Reference, Speeds};
use kvrm::{Engine, GpuEngine};

use crate::engine::AdapterArgs;
use crate::output::note;

/// What networks run on without a GPU.
const ALL_CORES: &str = "all cores of the CPU";

/// An engine, as the command line names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Name {
    /// A GPU if there is one and it is the faster one for networks of this size, as measured once on this machine; else
    /// all cores. Which it is stands on standard error.
    Auto,
    /// A GPU.
    Gpu,
    /// All cores of the CPU.
    Parallel,
    /// One core of the CPU, as simple as can be: what the others are compared with.
    Reference,
}

/// What to run networks on.
#[derive(clap::Args)]
pub(crate) struct EngineArgs {
    /// The engine. All give the same spikes.
    #[arg(long, value_name = "ENGINE", default_value = "auto")]
    engine: Name,
    /// How many threads the CPU uses; as many as it has cores unless said.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    #[command(flatten)]
    adapter: AdapterArgs,
}

/// An engine that is ready.
#[derive(Clone)]
pub(crate) struct Chosen {
    kind: Kind,
    /// What tells whether it is the fastest, if that was asked for.
    speeds: Option<Speeds>,
    /// The device, if it is not the CPU.
    pub(crate) device: Option<String>,
    /// Why it is the CPU, if that was not asked for.
    fallback: Option<String>,
}

#[derive(Clone)]
enum Kind {
    Reference,
    Parallel,
    Gpu(BurstKernels),
}

impl EngineArgs {
    /// Opens what is asked for. What it is for a network says [`Chosen::sized`].
    pub(crate) fn choose(&self) -> Result<Chosen> {
        if let Some(threads) = self.threads {
            rayon::ThreadPoolBuilder::new()
                .num_threads(threads.into())
                .build_global()
                .with_context(|| format!("--threads {threads}"))?;
        }
        let wanted = self.adapter.adapter.as_deref();
        if let (Name::Reference | Name::Parallel, Some(wanted)) = (self.engine, wanted) {
            bail!("--adapter '{wanted}' asks for a GPU, and the engine is the CPU; add --engine gpu");
        }
        let choice = match (self.engine, wanted) {
            (Name::Reference, _) => return Ok(Chosen::cpu(Kind::Reference)),
            (Name::Parallel, _) => return Ok(Chosen::cpu(Kind::Parallel)),
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
                Chosen { kind: Kind::Gpu(kernels), speeds, device, fallback: None }
            }
            Engine::Auto | Engine::Reference => {
                // The reason is that of lanes, whose engine on CPUs has another name.
                let reason = choice.reason.map(|reason| reason.replace("the CPU reference", ALL_CORES));
                Chosen { fallback: reason, ..Chosen::cpu(Kind::Parallel) }
            }
        })
    }
}

impl Chosen {
    const fn cpu(kind: Kind) -> Self {
        Self { kind, speeds: None, device: None, fallback: None }
    }

    /// The engine for a network of so many neurons: all cores of the CPU, if the fastest is asked for and they are.
    pub(crate) fn sized(&self, neurons: u32) -> Self {
        match (&self.speeds, &self.device) {
            (Some(speeds), Some(device)) if !speeds.gpu_is_faster(neurons) => {
                let reason =
                    format!("running on {ALL_CORES}: for {neurons} neurons it was faster than {device}");
                Self { fallback: Some(reason), ..Self::cpu(Kind::Parallel) }
            }
            _ => self.clone(),
        }
    }

    /// The adapter of the device, if it is not the CPU.
    pub(crate) fn adapter(&self) -> Option<&AdapterInfo> {
        match &self.kind {
            Kind::Reference | Kind::Parallel => None,
            Kind::Gpu(kernels) => Some(kernels.device().info()),
        }
    }

    /// The engine's name in reports.
    pub(crate) const fn name(&self) -> &'static str {
        match self.kind {
            Kind::Reference => "reference",
            Kind::Parallel => "parallel",
            Kind::Gpu(_) => "gpu",
        }
    }

    /// Threads that run the network, if it is the CPU.
    pub(crate) fn threads(&self) -> Option<usize> {
        match self.kind {
            Kind::Reference => Some(1),
            Kind::Parallel => Some(rayon::current_num_threads()),
            Kind::Gpu(_) => None,
        }
    }

    /// Where networks run, in a few words.
    pub(crate) fn place(&self) -> String {
        match (&self.device, self.threads()) {
            (Some(device), _) => device.clone(),
            (None, Some(1)) => format!("{}, 1 thread", self.name()),
            (None, threads) => format!("{}, {} threads", self.name(), threads.unwrap_or_default()),
        }
    }

    /// Says on standard error why it is the CPU, if that was not asked for.
    pub(crate) fn announce(&self) {
        if let Some(reason) = &self.fallback {
            note(reason);
        }
    }

    /// The engine at work on a network.
    pub(crate) fn executor(&self, network: &Arc<Network>) -> Result<Box<dyn Executor>> {
        let network = Arc::clone(network);
        Ok(match &self.kind {
            Kind::Reference => Box::new(Reference::new(network)),
            Kind::Parallel => Box::new(Parallel::new(network)),
            Kind::Gpu(kernels) => Box::new(BurstExecutor::new(kernels, network, Options::default())?),
        })
    }
}
