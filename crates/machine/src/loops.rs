//! Loops of lanes whose iterations are executed at once, where `kvrm-loops` has proved what they do.

mod advice;
mod commit;
mod known;
mod proved;
mod reason;
mod report;
mod runner;
mod search;

use std::borrow::Cow;
use std::sync::Arc;

use kvrm_arm64::{Cpu, Features};
use kvrm_loops::Obstacle;

pub use self::advice::{LoopAdvice, LoopAdvisor, LoopCandidate, LoopOpinion};
use self::known::{KnownLoop, KnownLoops};
pub use self::report::{HotLoop, LoopReport};
pub use self::runner::LoopRunner;
use self::search::Place;

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

    /// Returns the innermost loop around an address, whose words `words_at` reads: so many from an address on, or fewer. Returns
    /// `None` if there is none, or no room to remember it.
    #[doc(hidden)]
    pub fn around(
        &self,
        pc: u64,
        features: Features,
        words_at: impl FnMut(u64, usize) -> Vec<u32>,
    ) -> Option<LoopHandle> {
        let known = self.known.find(Place::around(pc, features, words_at)?)?;
        Some(LoopHandle { known, loops: self.clone() })
    }

    /// Returns the loops in which lanes were found, those with the most steps first.
    #[must_use]
    pub fn hot(&self) -> Vec<HotLoop> {
        self.known.hot()
    }
}

/// A loop that an engine of another crate has found.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct LoopHandle {
    known: Arc<KnownLoop>,
    loops: Loops,
}

impl LoopHandle {
    /// Returns the address of the first instruction.
    #[must_use]
    pub fn head(&self) -> u64 {
        self.known.place().head
    }

    /// Returns the words from there to the branch back.
    #[must_use]
    pub fn words(&self) -> &[u32] {
        &self.known.place().words
    }

    /// Notes that lanes were found in the loop, so many, after so many steps of all of them.
    pub fn visit(&self, lanes: u64, steps: u64) {
        self.known.visit(lanes, steps);
    }

    /// Returns whether it is proved that iterations can be executed at once. `cpu` is a lane in the loop.
    #[must_use]
    pub fn is_proved(&self, cpu: &Cpu, features: Features) -> bool {
        self.loops.known.proved(&self.known, cpu, features).is_some()
    }

    /// Notes that iterations with so many steps were executed at once, or that none was.
    pub fn note(&self, result: Result<u64, Option<Obstacle>>) {
        self.known.note(result);
    }
}
