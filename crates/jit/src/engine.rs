//! The engine that translates code for the host.

use std::sync::Arc;

use kvrm_machine::{Error, Executor, Factory, Plan, Reference};

use crate::compiler::Compiler;
use crate::lane::TranslatedLane;
use crate::shared::{Settings, Shared};

/// The engine that runs lanes as machine code of the host.
#[derive(Clone, Copy, Debug)]
pub struct JitEngine {
    settings: Settings,
}

impl Default for JitEngine {
    fn default() -> Self {
        Self {
            settings: Settings {
                threshold: 50,
                waits: false,
                size: 256,
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
        let shared = Compiler::new().ok().map(|compiler| Arc::new(Shared::new(self.settings, compiler)));
        Ok(Box::new(Reference::with_runners(plan, || TranslatedLane::new(shared.clone()))?))
    }
}
