//! Loops of lanes whose iterations are executed at once, where `kvrm-loops` has proved what they do.

mod advice;
mod advising;
mod claim;
mod commit;
mod entries;
mod habit;
mod known;
mod listener;
mod report;
mod runner;
mod search;

use std::borrow::Cow;
use std::sync::Arc;

use kvrm_arm64::{Cpu, Features};
use kvrm_loops::Obstacle;

pub use self::advice::{LoopAdvice, LoopAdvisor, LoopCandidate, LoopEntry, LoopOpinion};
use self::advising::{Advising, When};
pub use self::claim::{CounterClaim, LoopClaim};
use self::known::{KnownLoop, KnownLoops};
pub use self::listener::LoopListener;
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
    ///
    /// The advisor works in a thread of its own, and no lane waits for it: a loop is stepped until there is advice. The thread
    /// ends when the last clone of this value is dropped.
    #[must_use]
    pub fn advised(mode: impl Into<Cow<'static, str>>, advisor: impl LoopAdvisor + 'static) -> Self {
        Self::with_advisor(mode.into(), advisor, When::Later)
    }

    /// Like [`Self::advised`], but lanes wait for the advice. So with one lane, the same steps are executed at once in every run.
    #[must_use]
    pub fn advised_at_once(mode: impl Into<Cow<'static, str>>, advisor: impl LoopAdvisor + 'static) -> Self {
        Self::with_advisor(mode.into(), advisor, When::AtOnce)
    }

    fn with_advisor(mode: Cow<'static, str>, advisor: impl LoopAdvisor + 'static, when: When) -> Self {
        Self { known: Arc::new(KnownLoops::new(mode, Some(Advising::new(Box::new(advisor), when)))) }
    }

    /// Returns the counts since this value was made.
    #[must_use]
    pub fn report(&self) -> LoopReport {
        self.known.report()
    }

    /// Returns the innermost loop around an address. `read` reads bytes of code, and returns whether the lane may execute all of
    /// them. Returns `None` if there is no loop, or no room to remember it.
    #[doc(hidden)]
    pub fn around(
        &self,
        pc: u64,
        features: Features,
        read: impl FnMut(u64, &mut [u8]) -> bool,
    ) -> Option<LoopHandle> {
        let known = self.known.find(Place::around(pc, features, read)?)?;
        Some(LoopHandle { known, loops: self.clone() })
    }

    /// Asks for advice about all candidates together, with the registers of a lane in each.
    #[doc(hidden)]
    pub fn ask<'a>(&self, candidates: impl Iterator<Item = (&'a LoopHandle, &'a Cpu)>) {
        self.known.ask(candidates.map(|(handle, cpu)| (&*handle.known, general_registers(cpu))));
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

    /// Notes that so many lanes were found in the loop, after so many steps of all of them.
    pub fn visit(&self, lanes: u64, steps: u64) {
        self.known.visit(lanes, steps);
    }

    /// Returns whether lanes were found in the loop often enough to ask for advice about it, and nobody has asked yet.
    #[must_use]
    pub fn is_candidate(&self) -> bool {
        self.known.is_candidate()
    }

    /// Returns whether the checker has proved that iterations can be executed at once.
    #[must_use]
    pub fn is_proved(&self, features: Features) -> bool {
        self.loops.known.proved(&self.known, features).is_some()
    }

    /// Notes that iterations with so many steps were executed at once, or that none were.
    pub fn note(&self, result: Result<u64, Option<Obstacle>>) {
        self.known.note(result);
    }
}

/// Returns x0 to x30 and the stack pointer.
fn general_registers(cpu: &Cpu) -> [u64; 32] {
    std::array::from_fn(|register| if register == 31 { cpu.sp } else { cpu.x(register as u32) })
}
