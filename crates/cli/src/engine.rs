//! What the commands that run lanes have in common: the engine.

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use clap::ValueEnum;
use clap::builder::PossibleValue;
use kvrm::gpu::AdapterInfo;
use kvrm::models::Weights;
use kvrm::{
    ClassSelection, Engine, Error, Executor, Factory, GpuEngine, Plan, ReferenceEngine, SelectionMode,
};

use crate::output::note;

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
    #[command(flatten)]
    class_selection: ClassSelectionArgs,
}

/// What chooses the class of each instruction, by which its row in the instruction table is found.
#[derive(clap::Args)]
pub(crate) struct ClassSelectionArgs {
    /// When a network chooses the class of an instruction. Runs are the same in all modes; modes with a network run
    /// on a GPU, and what it decided is in the report.
    #[arg(long, alias = "dispatch", value_name = "MODE")]
    class_selection: Option<ModeArg>,
    /// Other weights than those that come with KVRM: a .safetensors file of a dispatch or small-dispatch network.
    #[arg(long, value_name = "FILE", requires = "class_selection")]
    weights: Option<PathBuf>,
    /// Stop a lane where the network chooses a class in which the instruction has no row, instead of going on as the
    /// table says.
    #[arg(long, requires = "class_selection")]
    stop_on_misprediction: bool,
}

/// A mode, as the command line names it.
#[derive(Clone, Copy)]
struct ModeArg(SelectionMode);

impl ValueEnum for ModeArg {
    fn value_variants<'a>() -> &'a [Self] {
        &[
            Self(SelectionMode::Table),
            Self(SelectionMode::MemoDomain),
            Self(SelectionMode::MemoWord),
            Self(SelectionMode::Network),
            Self(SelectionMode::Hybrid),
        ]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.name()).help(match self.0 {
            SelectionMode::Table => "never: a table does",
            SelectionMode::MemoDomain => "once, for all words there are, when the machine is built",
            SelectionMode::MemoWord => "each time a word of code is lowered",
            SelectionMode::Network => "in each step",
            SelectionMode::Hybrid => {
                "in each step, too, but a table decides, and the network is compared with it"
            }
        }))
    }
}

impl ClassSelectionArgs {
    /// What is asked for.
    fn selection(&self) -> Result<ClassSelection> {
        let Some(ModeArg(mode)) = self.class_selection else { return Ok(ClassSelection::TABLE) };
        if self.stop_on_misprediction && matches!(mode, SelectionMode::Table | SelectionMode::Hybrid) {
            bail!("--stop-on-misprediction: in {mode} mode the table decides, so no lane could stop");
        }
        if mode == SelectionMode::Table && self.weights.is_some() {
            bail!("--class-selection table asks no network, so it has no use for --weights");
        }
        let selection = match &self.weights {
            Some(path) => ClassSelection::with_weights(mode, Weights::load(path)?)
                .with_context(|| format!("--weights '{}'", path.display()))?,
            None => ClassSelection::new(mode),
        };
        Ok(if self.stop_on_misprediction { selection.stopping() } else { selection })
    }
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
    /// What chooses the class of instructions.
    pub(crate) selection: ClassSelection,
    /// Why the CPU was chosen, if it was not asked for.
    pub(crate) fallback: Option<String>,
}

impl EngineArgs {
    /// Opens what is asked for.
    pub(crate) fn choose(&self) -> Result<Chosen> {
        let selection = self.class_selection.selection()?;
        let engine = match (selection.mode(), self.engine) {
            (SelectionMode::Table, engine) => engine,
            (mode, Name::Reference) => {
                bail!("--class-selection {mode} asks for a GPU, and the engine is the CPU; add --engine gpu")
            }
            (_, Name::Auto | Name::Gpu) => Name::Gpu,
        };
        let chosen = self.adapter.choose(engine)?;
        let gpu = chosen.gpu.map(|gpu| gpu.with_class_selection(selection.clone()));
        Ok(Chosen { gpu, selection, ..chosen })
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
        Ok(Chosen { gpu, selection: ClassSelection::TABLE, fallback: choice.reason })
    }
}

impl Chosen {
    /// The device, if it is not the CPU.
    pub(crate) fn device(&self) -> Option<String> {
        self.adapter().map(ToString::to_string)
    }

    /// The adapter of the device, if it is not the CPU.
    pub(crate) fn adapter(&self) -> Option<&AdapterInfo> {
        self.gpu.as_ref().map(|gpu| gpu.device().info())
    }

    /// The engine's name in reports.
    pub(crate) const fn name(&self) -> &'static str {
        if self.gpu.is_some() { "gpu" } else { "reference" }
    }

    /// Says on standard error what lanes run on; nothing if the CPU was asked for.
    pub(crate) fn announce(&self) {
        match (self.device(), &self.fallback) {
            (Some(device), _) => note(format_args!("running on {device}")),
            (None, Some(reason)) => note(reason),
            (None, None) => {}
        }
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
