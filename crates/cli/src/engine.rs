//! What the commands that run lanes have in common: the engine.

use anyhow::{Result, bail};
use clap::ValueEnum;
use kvrm::{Engine, Error, Executor, Factory, GpuEngine, Plan, ReferenceEngine};

/// An engine, as the command line names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Name {
    /// A GPU if there is one, else the CPU; which it is stands on standard error.
    Auto,
    /// A GPU.
    Gpu,
    /// The CPU.
    Reference,
}

/// What to run lanes on.
#[derive(clap::Args)]
pub(crate) struct EngineArgs {
    /// The engine.
    #[arg(long, value_name = "ENGINE", default_value = "auto")]
    engine: Name,
    #[command(flatten)]
    adapter: AdapterArgs,
}

/// Which GPU to use.
#[derive(clap::Args)]
pub(crate) struct AdapterArgs {
    /// Part of the name of the GPU to use; unless said, that of `KVRM_ADAPTER`, or the best there is.
    #[arg(long, value_name = "NAME")]
    pub(crate) adapter: Option<String>,
}

/// An engine that is ready to run lanes.
#[derive(Clone)]
pub(crate) struct Chosen {
    gpu: Option<GpuEngine>,
    /// Why the CPU was chosen, if it was not asked for.
    pub(crate) fallback: Option<String>,
}

impl EngineArgs {
    /// Opens what is asked for.
    pub(crate) fn choose(&self) -> Result<Chosen> {
        self.adapter.choose(self.engine)
    }
}

impl AdapterArgs {
    /// Opens an engine. To name an adapter is to ask for a GPU.
    pub(crate) fn choose(&self, name: Name) -> Result<Chosen> {
        let wanted = self.adapter.as_deref();
        let choice = match (name, wanted) {
            (Name::Reference, Some(wanted)) => {
                bail!("--adapter '{wanted}' asks for a GPU, and the engine is the CPU; add --engine gpu")
            }
            (Name::Reference, None) => Engine::Reference.choose(),
            (Name::Auto, None) => Engine::Auto.choose(),
            (Name::Gpu, _) | (Name::Auto, Some(_)) => Engine::Gpu.choose(),
        };
        let gpu = match choice.engine {
            Engine::Gpu => Some(GpuEngine::open(wanted)?),
            Engine::Auto | Engine::Reference => None,
        };
        Ok(Chosen { gpu, fallback: choice.reason })
    }
}

impl Chosen {
    /// The device, if it is not the CPU.
    pub(crate) fn device(&self) -> Option<String> {
        self.gpu.as_ref().map(|gpu| gpu.device().info().to_string())
    }

    /// The engine's name in reports.
    pub(crate) const fn name(&self) -> &'static str {
        if self.gpu.is_some() { "gpu" } else { "reference" }
    }

    /// What to tell about it; nothing if the CPU was asked for.
    pub(crate) fn note(&self) -> Option<String> {
        self.device().map(|device| format!("running on {device}")).or_else(|| self.fallback.clone())
    }
}

impl Factory for Chosen {
    fn executor(&self, plan: &Plan<'_>) -> Result<Box<dyn Executor>, Error> {
        match &self.gpu {
            Some(gpu) => gpu.executor(plan),
            None => ReferenceEngine.executor(plan),
        }
    }

    fn images_max(&self) -> usize {
        match &self.gpu {
            Some(gpu) => gpu.images_max(),
            None => ReferenceEngine.images_max(),
        }
    }
}
