//! The options of all commands that run lanes: the engine, its adapter and its class selection.

mod learning;

use std::borrow::Cow;
use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use clap::ValueEnum;
use clap::builder::PossibleValue;
use kvrm::gpu::{AdapterInfo, Device};
use kvrm::models::Weights;
use kvrm::prefetch::{Degree, Policy};
use kvrm::{
    ClassSelection, Engine, Error, Executor, Factory, GpuEngine, GpuSelection, GpusEngine, HostFile,
    Learning, LoopMode, Loops, MemoryLimits, NetworkAdvisor, Plan, Prefetch, SelectionMode, Translation,
};
use kvrm_records::{Adapter, Value};

use self::learning::{Asked, LearnArgs};
use crate::number;
use crate::output::note;
use crate::record;

/// The value of `--engine`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Name {
    /// A GPU if there is one, else the CPU. A line on standard error names it.
    Auto,
    /// A GPU. It is an error if there is none.
    Gpu,
    /// All GPUs that can run lanes, as with --gpus all. It is an error if there is none.
    Gpus,
    /// The CPU: code that runs often is translated for it.
    Jit,
    /// The CPU: the reference implementation, which interprets everything.
    Reference,
}

/// The options for choosing an engine.
#[derive(clap::Args)]
pub(crate) struct EngineArgs {
    /// The engine that runs the lanes. All engines give the same results.
    #[arg(long, value_name = "ENGINE", default_value = "auto")]
    engine: Name,
    #[command(flatten)]
    gpus: GpuArgs,
    #[command(flatten)]
    class_selection: ClassSelectionArgs,
    /// When hot code is translated to shaders on a GPU. Results are the same in all cases. --stats shows what was tried
    /// and chosen.
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    translate: TranslateArg,
    /// The memory that the machine may take of each GPU, in bytes. If the lanes need more, pages that they have not used for the
    /// longest time move to the host, and come back when they are needed. Results are the same. --stats shows how many moved.
    #[arg(long, value_name = "SIZE", value_parser = number::bytes)]
    device_memory: Option<u64>,
    /// The memory of the host for pages that have moved there, in bytes for each GPU. The default is half of the memory that is
    /// available, but at most 32 times --device-memory.
    #[arg(long, value_name = "SIZE", value_parser = number::bytes, requires = "device_memory")]
    host_memory: Option<u64>,
    /// A file for pages that find no room in --host-memory, one for each GPU. A file that exists is not changed: FILE.1, FILE.2 and so on
    /// are tried. The file is gone when the machine is.
    #[arg(long, value_name = "FILE", requires = "device_memory")]
    host_file: Option<PathBuf>,
    /// The largest size of --host-file, in bytes. The default is 32 times --device-memory.
    #[arg(long, value_name = "SIZE", value_parser = number::bytes, requires = "host_file")]
    host_file_size: Option<u64>,
    #[command(flatten)]
    prefetch: PrefetchArgs,
    /// Whether many iterations of a loop are executed at once where that is proved to be right. Results are the same in all
    /// modes. --stats shows how many steps were executed this way.
    #[arg(long, value_name = "MODE", default_value = "off")]
    loops: LoopsArg,
    /// The seed of the weights of `--loops random`.
    #[arg(long, value_name = "SEED", default_value = "1")]
    loops_seed: u64,
    /// Weights of `--loops networks`: a .safetensors file of a loop detector, a pattern recogniser or an iteration predictor. It may be
    /// given once for each of them. The default is the ones that come with KVRM.
    #[arg(long, value_name = "FILE")]
    loops_weights: Vec<PathBuf>,
    #[command(flatten)]
    learn: LearnArgs,
}

/// The options for pages that come back to a GPU.
#[derive(clap::Args)]
struct PrefetchArgs {
    /// Which pages come back to the GPU before a lane needs them: none, next, stride, best-offset, markov or oracle, a network. The
    /// default is stride. Results are the same. --stats shows how many came, and how many of them were used.
    #[arg(long, value_name = "POLICY", requires = "device_memory")]
    prefetch: Option<Policy>,
    /// The largest number of pages that --prefetch brings for each access of which it hears, at most 16. The default is 4.
    #[arg(long, value_name = "PAGES", requires = "device_memory")]
    prefetch_degree: Option<Degree>,
    /// The weights of --prefetch oracle: a .safetensors file of a memory oracle. The default is the one that comes with KVRM.
    #[arg(long, value_name = "FILE", requires = "prefetch")]
    prefetch_weights: Option<PathBuf>,
}

impl PrefetchArgs {
    /// Returns what these options prefetch.
    fn prefetch(&self) -> Result<Prefetch> {
        let degree = self.prefetch_degree.unwrap_or_default();
        let policy = self.prefetch.unwrap_or_default();
        let Some(path) = &self.prefetch_weights else { return Ok(Prefetch::new(policy, degree)?) };
        let option = || format!("--prefetch-weights '{}'", path.display());
        if policy != Policy::Oracle {
            bail!("{}: --prefetch {policy} has no weights; use --prefetch oracle", option());
        }
        let weights = Weights::load(path).with_context(option)?;
        Prefetch::with_weights(&weights, degree).with_context(option)
    }
}

/// The value of `--loops`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LoopsArg {
    /// Never.
    Off,
    /// For each hot loop that the checker can prove.
    Checker,
    /// For each hot loop that neural networks propose to the checker, if it can prove it. The networks are evaluated in the
    /// background, on a GPU if that is the engine.
    Networks,
    /// Like networks, but with random weights, to show that no result depends on the weights.
    Random,
    /// Like networks, but for the loops that the networks do not propose, to show the same.
    Adversarial,
}

impl LoopsArg {
    const fn mode(self, seed: u64) -> LoopMode {
        match self {
            Self::Off => LoopMode::Off,
            Self::Checker => LoopMode::Checker,
            Self::Networks => LoopMode::Networks,
            Self::Random => LoopMode::Random { seed },
            Self::Adversarial => LoopMode::Adversarial,
        }
    }
}

/// The value of `--translate`.
#[derive(Clone, Copy)]
struct TranslateArg(Translation);

impl ValueEnum for TranslateArg {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self(Translation::Off), Self(Translation::Auto), Self(Translation::Always)]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.name()).help(match self.0 {
            Translation::Off => "never",
            Translation::Auto => "in the background, and where it is measured to be faster",
            Translation::Always => "as soon as it is known which code is hot; lanes wait for the compiler",
        }))
    }
}

/// The options for class selection: how the engine finds the class of an instruction.
#[derive(clap::Args)]
pub(crate) struct ClassSelectionArgs {
    /// When a network chooses the class of an instruction. The default is `table`: never. Results are the same in all
    /// modes. Modes with a network need a GPU, and --stats and --json show the decisions of the network.
    #[arg(long, alias = "dispatch", value_name = "MODE")]
    class_selection: Option<ModeArg>,
    /// The weights of the network: a .safetensors file of a dispatch or small-dispatch network. The default is the
    /// dispatch network that comes with KVRM.
    #[arg(long, value_name = "FILE", requires = "class_selection")]
    weights: Option<PathBuf>,
    /// Stop a lane if the network chooses a class that has no such instruction. By default the class of the table is
    /// used instead.
    #[arg(long, requires = "class_selection")]
    stop_on_misprediction: bool,
}

/// The value of `--class-selection`.
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
            SelectionMode::Table => "never: a table gives the class",
            SelectionMode::MemoDomain => "once for all words, when the machine is built",
            SelectionMode::MemoWord => "whenever a word of code is lowered to a micro-op",
            SelectionMode::Network => "in each step",
            SelectionMode::Hybrid => "in each step, to compare it with the table, which decides",
        }))
    }
}

impl ClassSelectionArgs {
    /// Returns the class selection of these options.
    fn selection(&self) -> Result<ClassSelection> {
        let Some(ModeArg(mode)) = self.class_selection else { return Ok(ClassSelection::TABLE) };
        if self.stop_on_misprediction && matches!(mode, SelectionMode::Table | SelectionMode::Hybrid) {
            bail!(
                "--stop-on-misprediction: with --class-selection {mode} the table decides, so no lane could stop; choose \
                 network, memo-word or memo-domain"
            );
        }
        if mode == SelectionMode::Table && self.weights.is_some() {
            bail!(
                "--weights: --class-selection table asks no network; choose another mode or leave --weights out"
            );
        }
        let selection = match &self.weights {
            Some(path) => {
                let option = || format!("--weights '{}'", path.display());
                let weights = Weights::load(path).with_context(option)?;
                ClassSelection::with_weights(mode, weights).with_context(option)?
            }
            None => ClassSelection::new(mode),
        };
        Ok(if self.stop_on_misprediction { selection.stop_on_misprediction() } else { selection })
    }
}

/// The option for choosing a GPU.
#[derive(clap::Args)]
pub(crate) struct AdapterArgs {
    /// The GPU to use, as `kvrm doctor` lists them: a part of its name, in upper or lower case, its backend and a part of
    /// its name, such as vulkan:nvidia, or its index. The default is the value of the environment variable
    /// `KVRM_ADAPTER`, or the best GPU of the host.
    #[arg(long, value_name = "NAME")]
    pub(crate) adapter: Option<String>,
}

/// The options for choosing one GPU or several.
#[derive(clap::Args)]
pub(crate) struct GpuArgs {
    #[command(flatten)]
    adapter: AdapterArgs,
    /// The GPUs that divide the lanes among them: `all` that can run lanes, the best `N`, or a list of indices or names with
    /// commas, as `kvrm doctor` lists them, such as 0,2. Equal GPUs get as many lanes each; the speed of different ones is
    /// measured first.
    #[arg(long, value_name = "all|N|LIST", conflicts_with = "adapter")]
    gpus: Option<GpuSelection>,
}

/// An opened engine, which is ready to run lanes.
#[derive(Clone)]
pub(crate) struct OpenEngine {
    /// The GPUs, if lanes run on any.
    gpus: Option<GpusEngine>,
    /// The engine without a GPU.
    cpu: Engine,
    /// The class selection.
    pub(crate) selection: ClassSelection,
    /// When hot code is translated on a GPU.
    pub(crate) translation: Translation,
    /// The acceleration of loops, if there is any.
    pub(crate) loops: Option<Loops>,
    /// What networks learn, if they do.
    pub(crate) learning: Option<Learning>,
    /// The reason that the CPU was chosen, if the user did not ask for it.
    pub(crate) fallback: Option<String>,
}

impl EngineArgs {
    /// Opens the engine of these options.
    pub(crate) fn open(&self) -> Result<OpenEngine> {
        let selection = self.class_selection.selection()?;
        let engine = match (selection.mode(), self.engine) {
            (SelectionMode::Table, engine) => engine,
            (mode, name @ (Name::Jit | Name::Reference)) => {
                let name = if name == Name::Jit { "jit" } else { "reference" };
                bail!(
                    "--class-selection {mode} needs a GPU, but --engine {name} is the CPU; use --engine gpu"
                )
            }
            (_, Name::Auto | Name::Gpu) => Name::Gpu,
            (_, Name::Gpus) => Name::Gpus,
        };
        let opened = self.gpus.open(engine)?;
        let TranslateArg(translation) = self.translate;
        if translation == Translation::Always && matches!(self.engine, Name::Jit | Name::Reference) {
            bail!("--translate always is for GPUs, but the engine is the CPU; use --engine gpu");
        }
        let with = |gpus: GpusEngine| gpus.with_class_selection(&selection).with_translation(translation);
        let mut gpus = opened.gpus.map(with);
        let loops = self.loops.mode(self.loops_seed);
        let prefetch = self.prefetch.prefetch()?;
        let policy = self.device_memory.map_or(Policy::None, |_| prefetch.policy());
        let asked = Asked { selection: selection.mode(), prefetch: policy, loops };
        let learning = self.learn.learning(asked)?;
        if let Some(device) = self.device_memory {
            let Some(there) = gpus else {
                bail!(
                    "--device-memory {device}: the engine is the CPU, which has no memory of a device; use --engine gpu"
                );
            };
            let limits = match self.host_memory {
                Some(host) => MemoryLimits::new(device, host),
                None => MemoryLimits::with_device(device),
            };
            let prefetch = match &learning {
                Some(learning) => prefetch.with_learning(learning),
                None => prefetch,
            };
            let there = there.with_memory(limits).with_prefetch(&prefetch);
            gpus = Some(self.host_file().iter().fold(there, GpusEngine::with_host_file));
        }
        let engine = OpenEngine { gpus, selection, translation, learning, ..opened };
        let loops = self.open_loops(loops, &engine)?;
        Ok(OpenEngine { loops, ..engine })
    }

    /// Returns the acceleration of loops in a mode, with the weights of these options.
    fn open_loops(&self, mode: LoopMode, engine: &OpenEngine) -> Result<Option<Loops>> {
        if mode != LoopMode::Networks {
            if let Some(path) = self.loops_weights.first() {
                let name = path.display();
                bail!("--loops-weights '{name}': --loops {mode} does not use them; use --loops networks");
            }
            return engine.loops_in(mode);
        }
        let mut advisor = NetworkAdvisor::builtin()?;
        for path in &self.loops_weights {
            let option = || format!("--loops-weights '{}'", path.display());
            advisor =
                advisor.with_weights(&Weights::load(path).with_context(option)?).with_context(option)?;
        }
        if let Some(learning) = &engine.learning {
            advisor = advisor.with_learning(learning);
        }
        Ok(Some(mode.advised_by(advisor, engine.first_device())))
    }

    /// Returns the file for frames, if there is one.
    fn host_file(&self) -> Option<HostFile> {
        let file = HostFile::new(self.host_file.as_ref()?);
        Some(match self.host_file_size {
            Some(bytes) => file.with_bytes(bytes),
            None => file,
        })
    }
}

impl GpuArgs {
    /// Opens an engine: GPUs if any are named.
    pub(crate) fn open(&self, name: Name) -> Result<OpenEngine> {
        let adapter = self.adapter.adapter.as_deref();
        let (gpus, choice) = match (name, adapter, &self.gpus) {
            (Name::Jit | Name::Reference, Some(wanted), _) => {
                bail!("--adapter '{wanted}' names a GPU, but the engine is the CPU; use --engine gpu")
            }
            (Name::Jit | Name::Reference, _, Some(wanted)) => {
                bail!("--gpus '{wanted}' selects GPUs, but the engine is the CPU; use --engine gpus")
            }
            (Name::Gpus, Some(wanted), _) => {
                bail!(
                    "--adapter '{wanted}' names one GPU, but --engine gpus is all of them; use --engine gpu"
                )
            }
            (Name::Auto | Name::Gpu | Name::Gpus, _, Some(selection)) => {
                (Some(GpusEngine::open(selection)?), Engine::Gpus.choose())
            }
            (Name::Gpus, ..) => (Some(GpusEngine::open(&GpuSelection::All)?), Engine::Gpus.choose()),
            (Name::Gpu, ..) | (Name::Auto, Some(_), _) => (Some(one_gpu(adapter)?), Engine::Gpu.choose()),
            (Name::Auto, ..) => {
                let choice = Engine::Auto.choose();
                let gpu = (choice.engine == Engine::Gpu).then(|| one_gpu(None)).transpose()?;
                (gpu, choice)
            }
            (Name::Jit, ..) => (None, Engine::Jit.choose()),
            (Name::Reference, ..) => (None, Engine::Reference.choose()),
        };
        let cpu = if choice.engine == Engine::Jit { Engine::Jit } else { Engine::Reference };
        Ok(OpenEngine {
            gpus,
            cpu,
            selection: ClassSelection::TABLE,
            translation: Translation::Auto,
            loops: None,
            learning: None,
            fallback: choice.reason,
        })
    }
}

/// Opens the GPU that an option names, or the best one.
fn one_gpu(wanted: Option<&str>) -> Result<GpusEngine> {
    Ok(GpusEngine::of(GpuEngine::open(wanted)?))
}

impl OpenEngine {
    /// Returns the description of the GPUs, or `None` for the CPU.
    pub(crate) fn device(&self) -> Option<String> {
        self.gpus.as_ref().map(GpusEngine::description)
    }

    /// Returns the GPUs in the form of records, or `None` for the CPU.
    pub(crate) fn recorded_adapter(&self) -> Option<Adapter> {
        let infos: Vec<&AdapterInfo> = self.gpus.as_ref()?.adapters().collect();
        Some(record::adapters(&infos))
    }

    /// Returns the number of GPUs as a parameter of records, if there are several.
    pub(crate) fn recorded_gpus(&self) -> Option<(&'static str, Value)> {
        let count = self.gpus.as_ref()?.adapters().count();
        (count > 1).then(|| ("gpus", (count as u64).into()))
    }

    /// Returns the acceleration of loops in a mode, with networks on the first GPU if there is one.
    pub(crate) fn loops_in(&self, mode: LoopMode) -> Result<Option<Loops>> {
        Ok(mode.open(self.first_device())?)
    }

    /// Returns the first GPU, if lanes run on any.
    fn first_device(&self) -> Option<&Device> {
        self.gpus.as_ref().and_then(|gpus| gpus.devices().next())
    }

    /// Returns the name of the mode in which loops are accelerated; `off` if they are not.
    pub(crate) fn loop_mode(&self) -> Cow<'static, str> {
        self.loops.as_ref().map_or(LoopMode::Off.name().into(), |loops| loops.report().mode)
    }

    /// Returns whether lanes run on GPUs.
    pub(crate) const fn is_gpu(&self) -> bool {
        self.gpus.is_some()
    }

    /// Returns the name of the engine in reports.
    pub(crate) const fn name(&self) -> &'static str {
        match (self.is_gpu(), self.cpu) {
            (true, _) => "gpu",
            (false, Engine::Jit) => "jit",
            (false, _) => "reference",
        }
    }

    /// Returns the engine with another choice of when hot code is translated.
    pub(crate) fn with_translation(self, translation: Translation) -> Self {
        let gpus = self.gpus.map(|gpus| gpus.with_translation(translation));
        Self { gpus, translation, ..self }
    }

    /// Returns an engine to compare this one with: the reference if this is the JIT, else the JIT.
    pub(crate) fn other(&self) -> Self {
        let cpu = if self.name() == "jit" { Engine::Reference } else { Engine::Jit };
        Self { gpus: None, cpu, fallback: None, ..self.clone() }
    }

    /// Prints the device that runs the lanes on standard error; nothing if the user asked for the CPU.
    pub(crate) fn announce(&self) {
        match (self.device(), &self.fallback) {
            (Some(device), _) => note(format_args!("running on {device}")),
            (None, Some(reason)) => note(reason),
            (None, None) => {}
        }
    }
}

impl Factory for OpenEngine {
    fn executor(&self, plan: &Plan<'_>) -> Result<Box<dyn Executor>, Error> {
        match &self.gpus {
            Some(gpus) => gpus.executor(plan),
            None => self.cpu.executor(plan),
        }
    }

    fn images_max(&self) -> usize {
        match &self.gpus {
            Some(gpus) => gpus.images_max(),
            None => self.cpu.images_max(),
        }
    }
}
