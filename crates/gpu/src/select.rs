//! Which engine runs a machine: a GPU, the CPU reference, or the better of what there is.

use std::env;
use std::sync::OnceLock;

use kvrm_machine::{Executor, Factory, Plan, ReferenceEngine};

use crate::device::adapter::{self, ADAPTER_VARIABLE, AdapterInfo};
use crate::device::error::Error;
use crate::device::{Device, registry};
use crate::machine::bounds::Bounds;
use crate::machine::class_selection::ClassSelection;
use crate::machine::engine::GpuExecutor;
use crate::machine::recovery::Recovering;

/// What to run lanes on.
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
    /// A GPU if there is one that can run lanes, else the reference; [`Engine::choose`] says which, and why.
    Auto,
    /// The GPU that [`adapter::choose`] chooses, or a failure if there is none.
    Gpu,
    /// The CPU reference: the default, here and of [`Machine::builder`](kvrm_machine::Machine::builder).
    #[default]
    Reference,
}

/// What [`Engine::choose`] chose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// [`Engine::Gpu`] or [`Engine::Reference`].
    pub engine: Engine,
    /// Why it is not the GPU, in one line, if that was for [`Engine::Auto`] to say.
    pub reason: Option<String>,
}

impl Engine {
    /// Decides what [`Engine::Auto`] is on this host; the others are what they are.
    ///
    /// A GPU is taken if it is a real one with 64-bit integers and can be opened. Shaders run on the CPU only if
    /// the variable [`ADAPTER_VARIABLE`] asks for an adapter that does that: the reference is faster. The
    /// decision is made once in a process.
    #[must_use]
    pub fn choose(self) -> Choice {
        static AUTO: OnceLock<Choice> = OnceLock::new();
        match self {
            Self::Auto => AUTO.get_or_init(|| choice(find())).clone(),
            engine => Choice { engine, reason: None },
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
            // If it cannot be opened, the executor says why.
            Self::Gpu => GpuEngine::open(None).map_or(usize::MAX, |engine| engine.images_max()),
            _ => ReferenceEngine.images_max(),
        }
    }
}

/// Runs lanes on a device that is open.
#[derive(Clone, Debug)]
pub struct GpuEngine {
    device: Device,
    selection: ClassSelection,
}

impl GpuEngine {
    /// Runs lanes on `device`.
    #[must_use]
    pub const fn new(device: Device) -> Self {
        Self { device, selection: ClassSelection::TABLE }
    }

    /// The same with classes of instructions chosen otherwise than by the table.
    #[must_use]
    pub fn with_class_selection(self, selection: ClassSelection) -> Self {
        Self { selection, ..self }
    }

    /// Opens the adapter that [`adapter::choose`] chooses for `wanted`. As that takes a while, a device stays
    /// open for the next one that wants the same, unless it is lost.
    ///
    /// # Errors
    ///
    /// There is none that fits, or it cannot be opened.
    pub fn open(wanted: Option<&str>) -> Result<Self, Error> {
        registry::open(wanted).map(Self::new)
    }

    /// The device.
    #[must_use]
    pub const fn device(&self) -> &Device {
        &self.device
    }
}

impl Factory for GpuEngine {
    fn executor(&self, plan: &Plan<'_>) -> Result<Box<dyn Executor>, kvrm_machine::Error> {
        Ok(Box::new(Recovering::new(&self.device, plan, &self.selection, Bounds::NONE)?))
    }

    fn images_max(&self) -> usize {
        GpuExecutor::images_max(&self.device)
    }
}

/// Opens the GPU that is to be taken, or says why there is none.
fn find() -> Result<(), String> {
    let variable = env::var(ADAPTER_VARIABLE).ok().filter(|name| !name.trim().is_empty());
    let adapters = adapter::adapters();
    let chosen = adapter::choose(&adapters, None).map(|adapter| &adapter.info);
    usable(chosen, adapters.iter().map(|adapter| &adapter.info), variable.is_some())?;
    GpuEngine::open(None).map(drop).map_err(|error| error.to_string())
}

/// Whether lanes should run on the adapter that was chosen of those there are.
fn usable<'a>(
    chosen: Result<&AdapterInfo, Error>,
    mut there: impl Iterator<Item = &'a AdapterInfo>,
    was_named: bool,
) -> Result<(), String> {
    match chosen {
        Err(Error::NoAdapter) => {
            Err("no Vulkan, Metal or DX12 driver is installed (`kvrm doctor` says more)".to_owned())
        }
        Err(error) => Err(error.to_string()),
        Ok(info) if info.is_software() && !was_named => Err(match there.find(|info| !info.is_software()) {
            Some(real) => format!("{} has no 64-bit integers in shaders", real.name),
            None => format!("{} is software", info.name),
        }),
        Ok(_) => Ok(()),
    }
}

fn choice(found: Result<(), String>) -> Choice {
    match found {
        Ok(()) => Choice { engine: Engine::Gpu, reason: None },
        Err(why) => {
            let why = why.split_whitespace().collect::<Vec<_>>().join(" ");
            let reason = Some(format!("no GPU: {why}; running on the CPU reference"));
            Choice { engine: Engine::Reference, reason }
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
            assert_eq!(usable(Ok(&gpu), [&gpu].into_iter(), false), Ok(()), "{kind}");
        }
        assert_eq!(choice(Ok(())), Choice { engine: Engine::Gpu, reason: None }, "without a reason");
    }

    #[test]
    fn software_is_taken_only_if_it_was_named() {
        let software = AdapterInfo::example("llvmpipe", Kind::Software, true);
        let there = || [&software].into_iter();
        assert_eq!(usable(Ok(&software), there(), false), Err("llvmpipe is software".to_owned()), "unasked");
        assert_eq!(usable(Ok(&software), there(), true), Ok(()), "asked for");
    }

    #[test]
    fn a_gpu_that_cannot_run_lanes_is_the_reason() {
        let (software, old) = (
            AdapterInfo::example("llvmpipe", Kind::Software, true),
            AdapterInfo::example("Old GPU", Kind::Discrete, false),
        );
        let why = usable(Ok(&software), [&old, &software].into_iter(), false).expect_err("it cannot");
        assert_eq!(why, "Old GPU has no 64-bit integers in shaders", "rather than what is taken instead");
        let error = Error::NoInt64 { adapter: old.to_string() };
        let why = usable(Err(error), [&old].into_iter(), false).expect_err("it cannot");
        assert!(why.contains("Old GPU") && why.contains("64-bit integers"), "{why}");
    }

    #[test]
    fn the_reason_is_one_line() {
        let reasons = [
            usable(Err(Error::NoAdapter), [].into_iter(), false),
            Err("it cannot be opened:\n  because\n".to_owned()),
        ];
        for found in reasons {
            let Choice { engine, reason } = choice(found);
            let reason = reason.expect("there is one");
            assert_eq!((engine, reason.lines().count()), (Engine::Reference, 1), "{reason}");
            assert!(
                reason.starts_with("no GPU: ") && reason.ends_with("; running on the CPU reference"),
                "{reason}"
            );
        }
    }

    #[test]
    fn what_is_asked_for_is_not_chosen_otherwise() {
        for engine in [Engine::Gpu, Engine::Reference] {
            assert_eq!(engine.choose(), Choice { engine, reason: None }, "{engine:?}");
        }
        assert_ne!(Engine::Auto.choose().engine, Engine::Auto, "one of the two");
    }

    #[test]
    fn failures_of_a_device_are_failures_of_the_engine() {
        let error = kvrm_machine::Error::from(Error::TooManyLanes { lanes: 9, max: 8 });
        assert!(matches!(error, kvrm_machine::Error::Engine(_)), "{error}");
        let cause = std::error::Error::source(&error).expect("it has one").to_string();
        assert!(cause.contains("room for 8"), "{cause}");
    }
}
