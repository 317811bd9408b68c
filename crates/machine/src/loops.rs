//! Loops of lanes whose iterations are executed at once, where `kvrm-loops` has proved what they do.

mod advice;
mod commit;
mod known;
mod report;
mod runner;
mod search;

use std::borrow::Cow;
use std::sync::Arc;

pub use self::advice::{LoopAdvice, LoopAdvisor, LoopCandidate, LoopOpinion};
use self::known::KnownLoops;
pub use self::report::{HotLoop, LoopReport};
pub use self::runner::LoopRunner;

/// The acceleration of loops: many iterations are executed at once where a checker has proved what they do. Results are the
/// same as without it.
///
/// It is also what has been found out about the loops of the machines that use it. Clones share that.
///
/// ```
/// use kvrm_machine::{Loops, Machine, Program};
///
/// // A countdown of x0: subs x0, x0, #1; b.ne to it; hlt #0
/// let program = Program::from_code(0x1000, &[0xd2c0_0200, 0xf100_0400, 0x54ff_ffe1, 0xd440_0000])?; // from 2^36
/// let mut machine = Machine::builder(program).loops(Loops::checker()).build()?;
/// let report = machine.run(u64::MAX)?;
/// assert_eq!(report.steps, 1 + (2 << 36));
/// assert!(report.loops.is_some_and(|loops| loops.credited_steps > 2 << 35));
/// # Ok::<(), kvrm_machine::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Loops {
    known: Arc<KnownLoops>,
}

impl Loops {
    /// Returns the acceleration of all loops for which the checker has a proof.
    #[must_use]
    pub fn checker() -> Self {
        Self { known: Arc::new(KnownLoops::new("checker".into(), None)) }
    }

    /// Returns the acceleration of loops that an advisor proposes to the checker. `mode` is its name in reports.
    #[must_use]
    pub fn advised(mode: impl Into<Cow<'static, str>>, advisor: impl LoopAdvisor + 'static) -> Self {
        Self { known: Arc::new(KnownLoops::new(mode.into(), Some(Box::new(advisor)))) }
    }

    /// Returns the counts since this value was made.
    #[must_use]
    pub fn report(&self) -> LoopReport {
        self.known.report()
    }

    /// Returns the loops in which lanes were found, those with the most steps first.
    #[must_use]
    pub fn hot(&self) -> Vec<HotLoop> {
        self.known.hot()
    }
}
