//! The choice of the engine that runs a machine: a GPU, the JIT or the CPU reference.

use kvrm_jit::JitEngine;
use kvrm_machine::{Executor, Factory, Plan, ReferenceEngine};

use crate::auto::{self, NoGpu};
use crate::device::gpu_selection::GpuSelection;
use crate::gpu::GpuEngine;
use crate::gpus::GpusEngine;

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
#[non_exhaustive]
pub enum Engine {
    /// A GPU if the host has one that can run lanes, else the JIT. [`Engine::choose`] returns which, and why.
    Auto,
    /// The GPU that [`adapter::choose`](crate::adapter::choose) chooses. Without one, machines cannot be built.
    Gpu,
    /// All GPUs of the host that can run lanes, which divide the lanes among them: the [`GpusEngine`] of
    /// [`GpuSelection::All`]. Without one, machines cannot be built.
    Gpus,
    /// The CPU, with code that runs often translated for it. On hosts that the compiler does not support, this is the
    /// reference.
    Jit,
    /// The CPU reference: the default, here and of [`Machine::builder`](kvrm_machine::Machine::builder).
    #[default]
    Reference,
}

/// The result of [`Engine::choose`].
///
/// ```
/// use kvrm_gpu::Engine;
///
/// let choice = Engine::Reference.choose();
/// assert_eq!((choice.engine, choice.reason), (Engine::Reference, None));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EngineChoice {
    /// Any engine but [`Engine::Auto`].
    pub engine: Engine,
    /// The reason why [`Engine::Auto`] takes the CPU, in one line. `None` if it takes a GPU, and for other
    /// engines.
    pub reason: Option<String>,
}

impl Engine {
    /// Resolves [`Engine::Auto`] to a GPU or the JIT on this host. Returns other engines unchanged.
    ///
    /// A GPU is taken if it is not software, has 64-bit integers in shaders, and can be opened. Software that runs
    /// shaders on the CPU is taken only if the variable [`ADAPTER_VARIABLE`](crate::adapter::ADAPTER_VARIABLE) names it,
    /// because the JIT is faster. The decision is made once in a process.
    #[must_use]
    pub fn choose(self) -> EngineChoice {
        match self {
            Self::Auto => engine_choice(auto::gpu()),
            engine => EngineChoice { engine, reason: None },
        }
    }
}

impl Factory for Engine {
    fn executor(&self, plan: &Plan<'_>) -> Result<Box<dyn Executor>, kvrm_machine::Error> {
        match self.choose().engine {
            Self::Gpu => GpuEngine::open(None)?.executor(plan),
            Self::Gpus => GpusEngine::open(&GpuSelection::All)?.executor(plan),
            Self::Jit => JitEngine::default().executor(plan),
            _ => ReferenceEngine.executor(plan),
        }
    }

    fn images_max(&self) -> usize {
        match self.choose().engine {
            // If the GPU cannot be opened, `executor` returns the reason.
            Self::Gpu => GpuEngine::open(None).map_or(usize::MAX, |engine| engine.images_max()),
            Self::Gpus => {
                GpusEngine::open(&GpuSelection::All).map_or(usize::MAX, |engine| engine.images_max())
            }
            _ => ReferenceEngine.images_max(),
        }
    }
}

fn engine_choice(gpu: Result<(), NoGpu>) -> EngineChoice {
    match gpu {
        Ok(()) => EngineChoice { engine: Engine::Gpu, reason: None },
        Err(why) => {
            let reason = Some(format!("no GPU: {why}; running on the CPU"));
            EngineChoice { engine: Engine::Jit, reason }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::error::Error;

    #[test]
    fn automatic_choices_say_why_they_take_the_cpu() {
        assert_eq!(
            engine_choice(Ok(())),
            EngineChoice { engine: Engine::Gpu, reason: None },
            "a GPU needs no reason"
        );
        let EngineChoice { engine, reason } =
            engine_choice(Err(NoGpu::Software { name: "llvmpipe".to_owned() }));
        let expected = "no GPU: llvmpipe is software; running on the CPU";
        assert_eq!((engine, reason.as_deref()), (Engine::Jit, Some(expected)), "in one line");
    }

    #[test]
    fn explicit_engines_are_not_replaced() {
        for engine in [Engine::Gpu, Engine::Gpus, Engine::Jit, Engine::Reference] {
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
