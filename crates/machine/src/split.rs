//! The engine that divides the lanes of a machine among several engines, such as the GPUs of a host.

mod division;
mod engines;
mod executor;
mod parts;
mod reports;
mod running;

use std::num::NonZeroU32;

use self::engines::Engines;
use self::executor::SplitExecutor;
pub use self::reports::device_names;
pub(crate) use self::running::{Observe, observed};
use crate::error::Error;
use crate::executor::{Executor, Factory, Plan};

/// An engine that divides the lanes of a machine among several engines, which run their parts at the same time.
///
/// Each engine gets consecutive lanes, in proportion to its weight. With equal weights and 10 lanes, the first of three
/// engines runs lanes 0 to 3, the second one 4 to 6, and the last one 7 to 9. An engine whose share is less than a lane may
/// get none.
///
/// Results are those of one engine. So are reports, with these exceptions: the number of dispatches is that of all engines
/// together, and the translation of hot code is that of the first engine that has not chosen a way yet, or of the first
/// engine, with the steps of all. In class selection, each engine counts the words that it has lowered. An engine that
/// names a lane in an error message counts from its own first lane.
///
/// If an engine fails in a run, for example because its GPU is lost, the others end the run soon, and the error is returned
/// then. As with one engine, the lanes keep the steps that they have completed, and another run continues them. Other calls
/// that change lanes of several engines are made once more for an engine that fails, so that they are not half done.
///
/// ```
/// use std::num::NonZeroU32;
///
/// use kvrm_machine::{Machine, Program, ReferenceEngine, SplitEngine};
///
/// // Sixteen lanes, of which the second engine runs three times as many as the first one.
/// let engine = SplitEngine::new(ReferenceEngine, NonZeroU32::MIN)
///     .and(ReferenceEngine, NonZeroU32::MIN.saturating_add(2));
/// assert_eq!(engine.lanes(16), [0..4, 4..16]);
///
/// let program = Program::from_code(0x1000, &[0x8b00_0000, 0xd440_0000])?; // add x0, x0, x0; hlt #0
/// let prepared = Machine::builder(program).lanes(16).prepare(|lane| lane.set_x(0, lane.number() as u64));
/// let mut machine = prepared.engine(engine).build()?;
/// assert_eq!(machine.run(100)?.stops["halt"], 16);
/// assert_eq!(machine.cpu(7)?.x(0), 14);
/// # Ok::<(), kvrm_machine::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct SplitEngine {
    engines: Engines,
}

impl SplitEngine {
    /// Creates an engine that runs all lanes on `engine`, until [`SplitEngine::and`] adds others.
    #[must_use]
    pub fn new(engine: impl Factory + Send + Sync + 'static, weight: NonZeroU32) -> Self {
        Self { engines: Engines::new(engine, weight) }
    }

    /// Adds an engine. Its share of the lanes is `weight` divided by the sum of all weights.
    #[must_use]
    pub fn and(self, engine: impl Factory + Send + Sync + 'static, weight: NonZeroU32) -> Self {
        Self { engines: self.engines.and(engine, weight) }
    }

    /// Returns the lanes that each engine runs in a machine of `lanes` lanes.
    #[must_use]
    pub fn lanes(&self, lanes: usize) -> Vec<std::ops::Range<usize>> {
        self.engines.shares(lanes)
    }
}

impl Factory for SplitEngine {
    fn executor(&self, plan: &Plan<'_>) -> Result<Box<dyn Executor>, Error> {
        Ok(Box::new(SplitExecutor::new(self.engines.clone(), plan)?))
    }

    fn images_max(&self) -> usize {
        self.engines.images_max()
    }
}
