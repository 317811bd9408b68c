//! Runners, which take the steps of a lane on a CPU.

use std::fmt;

use kvrm_arm64::{Cpu, Stop};

use crate::address_space::AddressSpace;

/// How a lane takes its steps. Each lane has a runner of its own.
///
/// Whatever it does, it gives the results of [`kvrm_arm64::run`].
pub trait Runner: fmt::Debug + Send + Sync + Sized + 'static {
    /// The name of engines with these runners, in reports.
    const ENGINE: &str;
    /// The largest number of steps between two looks at the loop that a lane is in: so many that a look, and the interruption of
    /// [`Runner::run`] for it, take little time.
    const LOOK_STEPS: u64 = 1 << 16;
    /// The approximate number of steps that all lanes together take between two calls of an observer. Each lane takes its share of
    /// them in one turn. Few long turns are faster than many short ones: at the beginning of a turn, the memory of the lane is no
    /// longer in the caches of the host.
    const OBSERVED_STEPS: u64 = 100_000_000;
    /// Whether a step may take less time than one of iterations that are executed at once, so that both are measured.
    const IS_MEASURED: bool = false;

    /// Runs a lane until it stops or has retired `budget` steps. Returns the reason: [`Stop::Budget`] in the latter case.
    fn run(&mut self, cpu: &mut Cpu, memory: &mut AddressSpace, budget: u64) -> Stop;

    /// Creates a runner for another lane of the same machine.
    #[must_use]
    fn another(&self) -> Self;

    /// Creates a runner for the lanes of another machine, which have other code.
    #[must_use]
    fn for_other_code(&self) -> Self;
}

/// The runner of the reference, which decodes instructions and calls their semantics.
#[derive(Clone, Copy, Debug, Default)]
pub struct Interpreter;

impl Interpreter {
    /// Runs a single step, as [`kvrm_arm64::step`] does. It is compiled once, and not in each crate that calls it.
    ///
    /// # Errors
    /// The stop, if the instruction stops the lane.
    pub fn step(cpu: &mut Cpu, memory: &mut AddressSpace) -> Result<(), Stop> {
        match Self.run(cpu, memory, 1) {
            Stop::Budget => Ok(()),
            stop => Err(stop),
        }
    }
}

impl Runner for Interpreter {
    const ENGINE: &str = "reference";

    fn run(&mut self, cpu: &mut Cpu, memory: &mut AddressSpace, budget: u64) -> Stop {
        kvrm_arm64::run(cpu, memory, budget)
    }

    fn another(&self) -> Self {
        Self
    }

    fn for_other_code(&self) -> Self {
        Self
    }
}
