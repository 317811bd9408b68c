//! Loops of a lane whose iterations are executed at once, where `kvrm-loops` has proved what they do.

mod commit;
mod search;

use kvrm_arm64::{Cpu, Stop};

use crate::address_space::AddressSpace;
use crate::error::Error;
use crate::executor::{Executor, Factory, Plan};
use crate::reference::{Interpreter, Reference, Runner};
use commit::execute;
use search::KnownLoops;

/// The least number of steps between two attempts.
const SLICE_MIN: u64 = 1 << 14;
/// Twice as many steps pass after each attempt that failed, up to this multiple of the least number.
const BACKOFF_MAX: u64 = 16;

/// The runner of the reference, which executes iterations of loops at once where that is proved to give the same results.
///
/// Where a lane is after some steps is likely to be in a loop, so this is where loops are looked for.
#[derive(Debug)]
pub struct LoopRunner {
    known: KnownLoops,
    /// The least number of steps between two attempts.
    slice_min: u64,
    /// The number of steps before the next one.
    slice: u64,
    credited: u64,
}

impl Default for LoopRunner {
    fn default() -> Self {
        Self::with_slices(SLICE_MIN)
    }
}

impl LoopRunner {
    /// Returns a runner that looks for loops after so many steps.
    #[must_use]
    pub fn with_slices(steps: u64) -> Self {
        Self { known: KnownLoops::default(), slice_min: steps, slice: steps, credited: 0 }
    }

    /// Returns the number of steps that were executed at once.
    #[must_use]
    pub const fn credited_steps(&self) -> u64 {
        self.credited
    }

    /// Executes iterations at once, at most `budget` steps, if the lane is in a loop for which that is possible. Returns whether
    /// it was. It may step the lane to the beginning of an iteration, and returns the stop if that stops the lane.
    fn attempt(&mut self, cpu: &mut Cpu, memory: &mut AddressSpace, end: u64) -> Result<bool, Stop> {
        // An access at a hook has to stop the lane.
        if memory.has_hooks() {
            return Ok(false);
        }
        let Some(found) = self.known.find(cpu.pc, memory) else { return Ok(false) };
        let (head, length) = (found.body().head, found.body().ops.len() as u64);
        for _ in 0..length {
            if cpu.pc == head || cpu.steps == end {
                break;
            }
            Interpreter::step(cpu, memory)?;
        }
        // The last iteration is stepped.
        let most = (end - cpu.steps) / length;
        if cpu.pc != head || most < 2 {
            return Ok(false);
        }
        let iterations = execute(found, cpu, memory, most - 1);
        self.credited += iterations * length;
        Ok(iterations > 0)
    }
}

impl Runner for LoopRunner {
    const ENGINE: &str = "reference";

    fn run(&mut self, cpu: &mut Cpu, memory: &mut AddressSpace, budget: u64) -> Stop {
        let end = cpu.steps.saturating_add(budget);
        while cpu.steps < end {
            match Interpreter.run(cpu, memory, self.slice.min(end - cpu.steps)) {
                Stop::Budget => {}
                stop => return stop,
            }
            if cpu.steps < end {
                match self.attempt(cpu, memory, end) {
                    Ok(true) => self.slice = self.slice_min,
                    Ok(false) => self.slice = (2 * self.slice).min(BACKOFF_MAX * self.slice_min),
                    Err(stop) => return stop,
                }
            }
        }
        Stop::Budget
    }

    fn executor_for(&self, plan: &Plan<'_>) -> Result<Box<dyn Executor>, Error> {
        LoopEngine.executor(plan)
    }
}

/// The reference with [`LoopRunner`]s, as an engine.
///
/// ```
/// use kvrm_machine::{LoopEngine, Machine, Program};
///
/// // A countdown of x0: subs x0, x0, #1; b.ne to it; hlt #0
/// let program = Program::from_code(0x1000, &[0xd2c0_0200, 0xf100_0400, 0x54ff_ffe1, 0xd440_0000])?; // from 2^36
/// let mut machine = Machine::builder(program).engine(LoopEngine).build()?;
/// assert_eq!(machine.run(u64::MAX)?.steps, 1 + (2 << 36));
/// # Ok::<(), kvrm_machine::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct LoopEngine;

impl Factory for LoopEngine {
    fn executor(&self, plan: &Plan<'_>) -> Result<Box<dyn Executor>, Error> {
        Ok(Box::new(Reference::with_runners(plan, LoopRunner::default)?))
    }
}
