//! The choice of the engine that runs a machine: a GPU or the CPU reference.

use std::env;
use std::sync::OnceLock;

use kvrm_machine::{Executor, Factory, Plan, ReferenceEngine};

use crate::device::adapter::{self, ADAPTER_VARIABLE, AdapterInfo};
use crate::device::error::Error;
use crate::device::{Device, registry};
use crate::machine::bounds::Bounds;
use crate::machine::class_selection::ClassSelection;
use crate::machine::engine::GpuExecutor;
use crate::machine::recovery::RecoveringExecutor;

/// The engine that runs the lanes of a machine.
///
/// ```no_run
/// use kvrm_gpu::Engine;
/// use kvrm_machine::{Machine, Program};
///
/// let program = Program::open("guests/bin/sha256.elf")?;
/// let mut machine = Machine::builder(program).lanes(1000).engine(Engine::Auto).build()?;
/// # Ok::<(), kvrm_machine::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Engine {
    /// A GPU if the host has one that can run lanes, else the reference. [`Engine::choose`] returns which, and why.
    Auto,
    /// The GPU that [`adapter::choose`] chooses. Without one, machines cannot be built.
    Gpu,
    /// The CPU reference: the default, here and of [`Machine::builder`](kvrm_machine::Machine::builder).
    #[default]
    Reference,
}

/// The result of [`Engine::choose`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineChoice {
    /// [`Engine::Gpu`] or [`Engine::Reference`].
    pub engine: Engine,
    /// The reason why [`Engine::Auto`] takes the reference, in one line. `None` if it takes a GPU, and for other
    /// engines.
    pub reason: Option<String>,
}

impl Engine {
    /// Resolves [`Engine::Auto`] to a GPU or the reference on this host. Returns other engines unchanged.
    ///
    /// A GPU is taken if it is not software, has 64-bit integers in shaders, and can be opened. Software that runs
    /// shaders on the CPU is taken only if the variable [`ADAPTER_VARIABLE`] names it, because the reference is faster.
    /// The decision is made once in a process.
    #[must_use]
    pub fn choose(self) -> EngineChoice {
        static AUTO: OnceLock<EngineChoice> = OnceLock::new();
        match self {
            Self::Auto => AUTO.get_or_init(|| engine_choice(open_gpu())).clone(),
            engine => EngineChoice { engine, reason: None },
        }
    }
}

impl Factory for Engine {
    fn executor(&self, plan: &Plan<'_>) -> Result<Box<dyn Executor>, kvrm_machine::Error> {
        match self.choose().engine {
            Self::Gpu => GpuEngine::open(None)?.executor(plan),
            _ => ReferenceEngine.executor(plan),
        }
    }

    fn images_max(&self) -> usize {
        match self.choose().engine {
            // If the GPU cannot be opened, `executor` returns the reason.
            Self::Gpu => GpuEngine::open(None).map_or(usize::MAX, |engine| engine.images_max()),
            _ => ReferenceEngine.images_max(),
        }
    }
}

/// An engine that runs lanes on an open device.
///
/// ```no_run
/// use kvrm_gpu::GpuEngine;
/// use kvrm_machine::{Machine, Program};
///
/// let engine = GpuEngine::open(Some("NVIDIA"))?;
/// println!("{}", engine.device().info());
/// let program = Program::open("guests/bin/sha256.elf")?;
/// let mut machine = Machine::builder(program).lanes(1000).engine(engine).build()?;
/// # Ok::<(), kvrm_machine::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct GpuEngine {
    device: Device,
    selection: ClassSelection,
}

impl GpuEngine {
    /// Creates an engine on `device` that finds classes in the table.
    #[must_use]
    pub const fn new(device: Device) -> Self {
        Self { device, selection: ClassSelection::TABLE }
    }

    /// Sets how lanes find the classes of instructions.
    #[must_use]
    pub fn with_class_selection(self, selection: ClassSelection) -> Self {
        Self { selection, ..self }
    }

    /// Opens the adapter that [`adapter::choose`] chooses for `wanted`, a part of its name.
    ///
    /// Opening takes a while, so the device stays open for the next caller with the same `wanted`, unless it is lost.
    ///
    /// # Errors
    ///
    /// No adapter fits, or the adapter cannot be opened.
    pub fn open(wanted: Option<&str>) -> Result<Self, Error> {
        registry::open(wanted).map(Self::new)
    }

    /// Returns the device that lanes run on.
    #[must_use]
    pub const fn device(&self) -> &Device {
        &self.device
    }
}

impl Factory for GpuEngine {
    fn executor(&self, plan: &Plan<'_>) -> Result<Box<dyn Executor>, kvrm_machine::Error> {
        Ok(Box::new(RecoveringExecutor::new(&self.device, plan, &self.selection, Bounds::NONE)?))
    }

    fn images_max(&self) -> usize {
        GpuExecutor::images_max(&self.device)
    }
}

/// Opens the GPU that [`Engine::Auto`] takes, or returns the reason why it takes none.
fn open_gpu() -> Result<(), String> {
    let variable = env::var(ADAPTER_VARIABLE).ok().filter(|name| !name.trim().is_empty());
    let adapters = adapter::adapters();
    let chosen = adapter::choose(&adapters, None).map(|adapter| &adapter.info);
    check_adapter(chosen, adapters.iter().map(|adapter| &adapter.info), variable.is_some())?;
    GpuEngine::open(None).map(drop).map_err(|error| error.to_string())
}

/// Checks that [`Engine::Auto`] may run lanes on the `chosen` one of the `available` adapters. Software may run them
/// only if it `was_named`. Returns the reason if not.
fn check_adapter<'a>(
    chosen: Result<&AdapterInfo, Error>,
    mut available: impl Iterator<Item = &'a AdapterInfo>,
    was_named: bool,
) -> Result<(), String> {
    match chosen {
        Err(Error::NoAdapter) => {
            Err("no Vulkan, Metal or DX12 driver is installed (`kvrm doctor` says more)".to_owned())
        }
        Err(error) => Err(error.to_string()),
        Ok(info) if info.is_software() && !was_named => {
            Err(match available.find(|info| !info.is_software()) {
                Some(real) => format!("{} has no 64-bit integers in shaders", real.name),
                None => format!("{} is software", info.name),
            })
        }
        Ok(_) => Ok(()),
    }
}

fn engine_choice(found: Result<(), String>) -> EngineChoice {
    match found {
        Ok(()) => EngineChoice { engine: Engine::Gpu, reason: None },
        Err(why) => {
            let why = why.split_whitespace().collect::<Vec<_>>().join(" ");
            let reason = Some(format!("no GPU: {why}; running on the CPU reference"));
            EngineChoice { engine: Engine::Reference, reason }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::adapter::Kind;

    #[test]
    fn a_real_gpu_is_taken() {
        for kind in [Kind::Discrete, Kind::Integrated, Kind::Virtual, Kind::Unknown] {
            let gpu = AdapterInfo::example("GPU", kind, true);
            assert_eq!(check_adapter(Ok(&gpu), [&gpu].into_iter(), false), Ok(()), "{kind}");
        }
        assert_eq!(
            engine_choice(Ok(())),
            EngineChoice { engine: Engine::Gpu, reason: None },
            "without a reason"
        );
    }

    #[test]
    fn software_is_taken_only_if_it_is_named() {
        let software = AdapterInfo::example("llvmpipe", Kind::Software, true);
        let available = || [&software].into_iter();
        assert_eq!(
            check_adapter(Ok(&software), available(), false),
            Err("llvmpipe is software".to_owned()),
            "unasked"
        );
        assert_eq!(check_adapter(Ok(&software), available(), true), Ok(()), "asked for");
    }

    #[test]
    fn a_gpu_that_cannot_run_lanes_is_the_reason() {
        let (software, old) = (
            AdapterInfo::example("llvmpipe", Kind::Software, true),
            AdapterInfo::example("Old GPU", Kind::Discrete, false),
        );
        let why = check_adapter(Ok(&software), [&old, &software].into_iter(), false)
            .expect_err("it cannot run lanes");
        assert_eq!(
            why, "Old GPU has no 64-bit integers in shaders",
            "the reason is the GPU, not the software"
        );
        let error = Error::NoInt64 { adapter: old.to_string() };
        let why = check_adapter(Err(error), [&old].into_iter(), false).expect_err("it cannot run lanes");
        assert!(why.contains("Old GPU") && why.contains("64-bit integers"), "{why}");
    }

    #[test]
    fn the_reason_is_one_line() {
        let reasons = [
            check_adapter(Err(Error::NoAdapter), [].into_iter(), false),
            Err("it cannot be opened:\n  because\n".to_owned()),
        ];
        for found in reasons {
            let EngineChoice { engine, reason } = engine_choice(found);
            let reason = reason.expect("the reference has a reason");
            assert_eq!((engine, reason.lines().count()), (Engine::Reference, 1), "{reason}");
            assert!(
                reason.starts_with("no GPU: ") && reason.ends_with("; running on the CPU reference"),
                "{reason}"
            );
        }
    }

    #[test]
    fn explicit_engines_are_not_replaced() {
        for engine in [Engine::Gpu, Engine::Reference] {
            assert_eq!(engine.choose(), EngineChoice { engine, reason: None }, "{engine:?}");
        }
        assert_ne!(Engine::Auto.choose().engine, Engine::Auto, "Auto is resolved");
    }

    #[test]
    fn failures_of_a_device_are_failures_of_the_engine() {
        let error = kvrm_machine::Error::from(Error::TooManyLanes { lanes: 9, max: 8 });
        assert!(matches!(error, kvrm_machine::Error::Engine(_)), "{error}");
        let cause = std::error::Error::source(&error).expect("the error has a source").to_string();
        assert!(cause.contains("room for 8"), "{cause}");
    }
}
