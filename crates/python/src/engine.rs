//! The engine that runs lanes, and the GPUs of the host.

use std::path::PathBuf;

use kvrm::gpu::{Device, adapter};
use kvrm::prefetch::{Degree, Policy};
use kvrm::{
    ClassSelection, Executor, Factory, GpuEngine, GpuSelection, GpusEngine, HostFile, LoopMode, Loops,
    MemoryLimits, NetworkAdvisor, Plan, Prefetch, SelectionMode, Translation,
};
use pyo3::prelude::*;

use crate::error::{OrRaise as _, refused};
use crate::named::named;
use crate::weights::WeightsOrPath;

/// An engine and its options.
#[pyclass(frozen, module = "kvrm._native")]
#[derive(Clone, Debug)]
pub(crate) struct Engine {
    gpus: Option<GpusEngine>,
    cpu: kvrm::Engine,
    fallback: Option<String>,
    pub(crate) loops: Option<Loops>,
}

/// The options of an engine.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Options {
    name: String,
    adapter: Option<String>,
    gpus: Option<String>,
    class_selection: String,
    weights: Option<WeightsOrPath>,
    stop_on_misprediction: bool,
    translate: String,
    loops: String,
    loops_seed: u64,
    loop_weights: Vec<WeightsOrPath>,
    device_memory: Option<u64>,
    host_memory: Option<u64>,
    host_file: Option<PathBuf>,
    host_file_size: Option<u64>,
    prefetch: Option<String>,
    prefetch_degree: Option<usize>,
    prefetch_weights: Option<WeightsOrPath>,
}

#[pymethods]
impl Engine {
    /// Opens an engine. The options are those of `kvrm.Engine`.
    #[new]
    #[pyo3(signature = (options: "dict[str, object]"))]
    fn new(py: Python<'_>, options: Options) -> PyResult<Self> {
        py.detach(|| Self::open(&options))
    }

    /// The name of the engine: `gpu`, `jit` or `reference`.
    #[getter]
    const fn name(&self) -> &'static str {
        match (&self.gpus, self.cpu) {
            (Some(_), _) => "gpu",
            (None, kvrm::Engine::Jit) => "jit",
            (None, _) => "reference",
        }
    }

    /// The description of the GPUs; `None` on the CPU.
    #[getter]
    fn device(&self) -> Option<String> {
        self.gpus.as_ref().map(GpusEngine::description)
    }

    /// The reason why the CPU was chosen, if nobody asked for it.
    #[getter]
    fn fallback(&self) -> Option<&str> {
        self.fallback.as_deref()
    }
}

impl Engine {
    fn open(options: &Options) -> PyResult<Self> {
        const MODES: [SelectionMode; 5] = [
            SelectionMode::Table,
            SelectionMode::MemoDomain,
            SelectionMode::MemoWord,
            SelectionMode::Network,
            SelectionMode::Hybrid,
        ];
        const TRANSLATIONS: [Translation; 3] = [Translation::Off, Translation::Auto, Translation::Always];
        const ENGINES: [(&str, kvrm::Engine); 5] = [
            ("auto", kvrm::Engine::Auto),
            ("gpu", kvrm::Engine::Gpu),
            ("gpus", kvrm::Engine::Gpus),
            ("jit", kvrm::Engine::Jit),
            ("reference", kvrm::Engine::Reference),
        ];
        let (_, engine) = named("engine", &options.name, &ENGINES, |(name, _)| name)?;
        let mode = named("class_selection", &options.class_selection, &MODES, SelectionMode::name)?;
        let translation = named("translate", &options.translate, &TRANSLATIONS, Translation::name)?;
        let loops = [
            LoopMode::Off,
            LoopMode::Checker,
            LoopMode::Networks,
            LoopMode::Random { seed: options.loops_seed },
            LoopMode::Adversarial,
        ];
        let loops = named("loops", &options.loops, &loops, LoopMode::name)?;
        if options.weights.is_some() && mode == SelectionMode::Table {
            return Err(refused("weights are for a class_selection other than \"table\"".to_owned()));
        }
        let moving = moving_frames(options)?;
        let needing = [
            ("adapter", options.adapter.is_some()),
            ("gpus", options.gpus.is_some()),
            ("class_selection", mode != SelectionMode::Table),
            ("device_memory", options.device_memory.is_some()),
        ];
        let needing = needing.into_iter().find(|(_, needs_gpu)| *needs_gpu);
        let choice = match (engine, needing) {
            (kvrm::Engine::Auto, Some(_)) => kvrm::Engine::Gpu.choose(),
            (kvrm::Engine::Jit | kvrm::Engine::Reference, Some((option, _))) => {
                let text = format!("{option} needs a GPU, but engine {:?} is the CPU", options.name);
                return Err(refused(text));
            }
            (engine, _) => engine.choose(),
        };
        let gpus = match choice.engine {
            kvrm::Engine::Gpu | kvrm::Engine::Gpus => {
                let selection = selection(mode, options)?;
                let gpus = open_gpus(choice.engine, options.adapter.as_deref(), options.gpus.as_deref())?;
                let gpus = gpus.with_class_selection(&selection).with_translation(translation);
                Some(match moving {
                    Some((limits, file, prefetch)) => {
                        let gpus = gpus.with_memory(limits).with_prefetch(&prefetch);
                        file.iter().fold(gpus, GpusEngine::with_host_file)
                    }
                    None => gpus,
                })
            }
            _ => None,
        };
        let device = gpus.as_ref().and_then(|gpus| gpus.devices().next());
        let loops = acceleration(loops, &options.loop_weights, device)?;
        Ok(Self { gpus, cpu: choice.engine, fallback: choice.reason, loops })
    }
}

/// Returns the limits of memory, the file for frames and what is prefetched; `None` if frames do not move.
fn moving_frames(options: &Options) -> PyResult<Option<(MemoryLimits, Option<HostFile>, Prefetch)>> {
    let policy = match &options.prefetch {
        Some(name) => named("prefetch", name, &Policy::ALL, Policy::name)?,
        None => Policy::default(),
    };
    if let (Policy::None, Some(degree)) = (policy, options.prefetch_degree) {
        return Err(refused(format!("prefetch_degree {degree} is for a prefetch other than \"none\"")));
    }
    if options.prefetch_weights.is_some() && policy != Policy::Oracle {
        return Err(refused(format!("prefetch_weights are for prefetch \"oracle\", not \"{policy}\"")));
    }
    if options.host_file_size.is_some() && options.host_file.is_none() {
        return Err(refused("host_file_size needs host_file, which names the file".to_owned()));
    }
    let Some(device) = options.device_memory else {
        let needing = [
            ("host_memory", options.host_memory.is_some()),
            ("host_file", options.host_file.is_some()),
            ("prefetch", options.prefetch.is_some() && policy != Policy::None),
            ("prefetch_degree", options.prefetch_degree.is_some()),
        ];
        return match needing.into_iter().find(|(_, needs_limit)| *needs_limit) {
            Some((option, _)) => {
                let text = format!("{option} needs device_memory, without which no page moves to the host");
                Err(refused(text))
            }
            None => Ok(None),
        };
    };
    let limits = match options.host_memory {
        Some(host) => MemoryLimits::new(device, host),
        None => MemoryLimits::with_device(device),
    };
    let file = options.host_file.as_ref().map(|path| match options.host_file_size {
        Some(bytes) => HostFile::new(path).with_bytes(bytes),
        None => HostFile::new(path),
    });
    let degree = options.prefetch_degree.map_or(Ok(Degree::default()), Degree::new).or_raise()?;
    let prefetch = match &options.prefetch_weights {
        Some(weights) => Prefetch::with_weights(&*weights.load()?, degree).or_raise()?,
        None => Prefetch::new(policy, degree).or_raise()?,
    };
    Ok(Some((limits, file, prefetch)))
}

/// Opens the GPU with a name, or the GPUs of a selection. All GPUs are the default of their engine.
fn open_gpus(engine: kvrm::Engine, adapter: Option<&str>, gpus: Option<&str>) -> PyResult<GpusEngine> {
    let selection = match (adapter, gpus) {
        (Some(_), Some(_)) => {
            return Err(refused("adapter names one GPU, and gpus several: expected one of them".to_owned()));
        }
        (Some(_), None) if engine == kvrm::Engine::Gpus => {
            return Err(refused("adapter names one GPU, but engine \"gpus\" is all of them".to_owned()));
        }
        (_, None) if engine == kvrm::Engine::Gpu => {
            return GpuEngine::open(adapter).map(GpusEngine::of).or_raise();
        }
        (_, gpus) => gpus.map_or(Ok(GpuSelection::All), str::parse).or_raise()?,
    };
    GpusEngine::open(&selection).or_raise()
}

/// Returns the class selection of the options.
fn selection(mode: SelectionMode, options: &Options) -> PyResult<ClassSelection> {
    let selection = match &options.weights {
        Some(weights) => ClassSelection::with_weights(mode, weights.load()?.into_owned()).or_raise()?,
        None => ClassSelection::new(mode),
    };
    Ok(if options.stop_on_misprediction { selection.stop_on_misprediction() } else { selection })
}

/// Returns the acceleration of loops in a mode, with these weights in place of those that come with KVRM.
fn acceleration(
    mode: LoopMode,
    weights: &[WeightsOrPath],
    device: Option<&Device>,
) -> PyResult<Option<Loops>> {
    if weights.is_empty() {
        return mode.open(device).or_raise();
    }
    if mode != LoopMode::Networks {
        return Err(refused(format!("loop_weights need loops \"networks\", not \"{mode}\"")));
    }
    let mut advisor = NetworkAdvisor::builtin().or_raise()?;
    for weights in weights {
        advisor = advisor.with_weights(&*weights.load()?).or_raise()?;
    }
    Ok(Some(mode.advised_by(advisor, device)))
}

impl Factory for Engine {
    fn executor(&self, plan: &Plan<'_>) -> Result<Box<dyn Executor>, kvrm::Error> {
        match &self.gpus {
            Some(gpus) => gpus.executor(plan),
            None => self.cpu.executor(plan),
        }
    }

    fn images_max(&self) -> usize {
        self.gpus.as_ref().map_or_else(|| self.cpu.images_max(), Factory::images_max)
    }
}

/// Returns the indices of the GPUs of a selection: `all`, a number, or a list with commas.
#[pyfunction]
pub(crate) fn selected_gpus(py: Python<'_>, selection: &str) -> PyResult<Vec<usize>> {
    py.detach(|| selection.parse::<GpuSelection>().or_raise()?.indices().or_raise())
}

/// Returns a GPU of the host for each adapter: its name, backend, driver, kind, PCI address, and whether it can run lanes.
#[pyfunction]
pub(crate) fn adapters(py: Python<'_>) -> Vec<(String, String, String, String, String, bool)> {
    let adapters = py.detach(adapter::adapters);
    let adapters = adapters.into_iter().map(|adapter| adapter.info);
    adapters
        .map(|info| {
            let kind = info.kind.to_string();
            (info.name, info.backend.to_owned(), info.driver, kind, info.bus, info.has_int64)
        })
        .collect()
}
