//! The engine that translates code for the host.

use kvrm_machine::{Error, Executor, Factory, Plan};

use crate::lane::executor;
use crate::shared::{Settings, Shared};

/// The engine that runs lanes as machine code of the host.
///
/// ```
/// use kvrm_jit::JitEngine;
/// use kvrm_machine::{Machine, Program};
///
/// let program = Program::from_code(0x1000, &[0x9100_0400, 0xd440_0000])?; // add x0, x0, #1; hlt #0
/// let mut machine = Machine::builder(program).lanes(8).engine(JitEngine::default()).build()?;
/// assert_eq!(machine.run(100)?.steps, 8, "a step for each lane");
/// # Ok::<(), kvrm_machine::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct JitEngine {
    settings: Settings,
}

impl Default for JitEngine {
    fn default() -> Self {
        Self {
            settings: Settings {
                // The compiler takes about as long for a region as the interpreter for so many passes through it.
                threshold: 1000,
                waits: false,
                size: 128,
                slots: 1 << 14,
                bytes_max: 64 << 20,
            },
        }
    }
}

impl JitEngine {
    /// Returns an engine that translates every instruction when a lane reaches it, in regions of at most `size`
    /// instructions, so that tests cover the translation.
    #[doc(hidden)]
    #[must_use]
    pub const fn eager(size: usize) -> Self {
        Self { settings: Settings { threshold: 1, waits: true, size, slots: 64, bytes_max: 64 << 20 } }
    }
}

impl Factory for JitEngine {
    fn executor(&self, plan: &Plan<'_>) -> Result<Box<dyn Executor>, Error> {
        executor(Shared::open(self.settings), plan)
    }
}
