//! Runs of all lanes, and their reports.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use kvrm_arm64::Stop;

use super::Machine;
use super::rounds::{Counts, Output, Rounds};
use crate::error::Error;
use crate::executor::Progress;
use crate::loops::Loops;
use crate::register::Register;
use crate::report::Report;

/// The progress of a run, for [`Machine::run_with`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunProgress {
    /// The steps that all lanes together have retired in this run.
    pub steps: u64,
    /// The number of lanes.
    pub lanes: u64,
    /// The number of lanes that have not stopped.
    pub running: u64,
    /// The time since the run began.
    pub elapsed: Duration,
}

impl RunProgress {
    /// The number of lanes that have stopped.
    #[must_use]
    pub const fn stopped(&self) -> u64 {
        self.lanes - self.running
    }
}

impl Machine {
    /// Runs all lanes, each for at most `budget` more steps, and serves their calls.
    ///
    /// Lanes that stopped for [`Stop::Budget`] or [`Stop::OutOfFrames`] go on; other stops are final unless
    /// [`Machine::resume`] clears them. That holds for stops at [`Hooks`](crate::Hooks), too.
    ///
    /// # Errors
    /// If the engine fails.
    pub fn run(&mut self, budget: u64) -> Result<Report, Error> {
        self.run_with(budget, |_| ControlFlow::Continue(()))
    }

    /// Runs as [`Machine::run`] does, and calls `observe` with the progress several times a second at most.
    ///
    /// If it returns [`ControlFlow::Break`], the lanes that still run stop with [`Stop::Budget`]; another run continues them.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    ///
    /// use kvrm_machine::{Machine, Program};
    ///
    /// let program = Program::from_code(0x1000, &[0x1400_0000])?; // b .
    /// let mut machine = Machine::builder(program).lanes(4).build()?;
    /// // With a progress bar of the crate `indicatif`: bar.set_length(progress.lanes), bar.set_position(progress.stopped()).
    /// let report = machine.run_with(u64::MAX, |progress| {
    ///     if progress.steps > 1_000_000 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    /// })?;
    /// assert_eq!(report.stops["budget"], 4);
    /// # Ok::<(), kvrm_machine::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the engine fails.
    pub fn run_with(
        &mut self,
        budget: u64,
        observe: impl FnMut(&RunProgress) -> ControlFlow<()>,
    ) -> Result<Report, Error> {
        let started = self.registers(Register::Steps)?;
        let ends: Vec<u64> = started.iter().map(|steps| steps.saturating_add(budget)).collect();
        let report = self.run_observed(&started, &ends, observe)?;
        self.end_budget(report)
    }

    /// Stops the lanes that still run after the observer has ended a run.
    fn end_budget(&mut self, mut report: Report) -> Result<Report, Error> {
        let stops = self.executor.stops()?;
        let running: Vec<usize> = (0..stops.len()).filter(|lane| stops[*lane].is_none()).collect();
        if !running.is_empty() {
            self.executor.set_stops(&running, Some(Stop::Budget))?;
            *report.stops.entry(Stop::Budget.name()).or_default() += running.len();
        }
        Ok(report)
    }

    /// Runs as [`Machine::run_with`] does, each lane until it has retired as many steps in all as `limits` says.
    ///
    /// So a lane ends its budget at the same step, however many runs it takes. If `observe` ends the run, the lanes that still
    /// run have no stop: to set and clear those of many lanes takes time.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    ///
    /// use kvrm_machine::{Machine, Program, Register};
    ///
    /// let program = Program::from_code(0x1000, &[0x1400_0000])?; // b .
    /// let mut machine = Machine::builder(program).lanes(3).build()?;
    /// machine.run_to(&[5, 0, 7], |_| ControlFlow::Continue(()))?;
    /// assert_eq!(machine.registers(Register::Steps)?, [5, 0, 7]);
    /// # Ok::<(), kvrm_machine::Error>(())
    /// ```
    ///
    /// # Errors
    /// - [`Error::Limits`]: there is not a limit for each lane.
    /// - The engine fails.
    pub fn run_to(
        &mut self,
        limits: &[u64],
        observe: impl FnMut(&RunProgress) -> ControlFlow<()>,
    ) -> Result<Report, Error> {
        if limits.len() != self.lanes.len() {
            return Err(Error::Limits { limits: limits.len(), lanes: self.lanes.len() });
        }
        let started = self.registers(Register::Steps)?;
        self.run_observed(&started, limits, observe)
    }

    /// Runs lanes that have retired `started` steps until they have retired `ends`.
    fn run_observed(
        &mut self,
        started: &[u64],
        ends: &[u64],
        mut observe: impl FnMut(&RunProgress) -> ControlFlow<()>,
    ) -> Result<Report, Error> {
        let begin = Instant::now();
        let lanes = self.lanes.len() as u64;
        let observer = &mut |Progress { steps, running, .. }| {
            observe(&RunProgress { steps, lanes, running: running as u64, elapsed: begin.elapsed() })
        };
        let Counts { steps, services, dispatches, unserved } = self.rounds().run(started, ends, observer)?;
        let mut stops = BTreeMap::new();
        for same in self.stops()?.chunk_by(|a, b| a == b) {
            if let Some(stop) = same[0] {
                *stops.entry(stop.name()).or_default() += same.len();
            }
        }
        Ok(Report {
            engine: self.executor.name().into(),
            device: self.executor.device_name().map(str::to_owned),
            lanes: self.lanes.len(),
            steps,
            stops,
            services,
            unknown_calls: unserved.unknown,
            refused_calls: unserved.refused,
            dispatches,
            decisions: self.executor.take_decisions()?,
            translation: self.executor.translation()?,
            loops: self.loops.as_ref().map(Loops::report),
            frames: self.executor.frames_used()?,
            frame_moves: self.executor.take_frame_moves()?,
            warnings: self.executor.take_warnings()?,
            wall: begin.elapsed(),
        })
    }

    /// Returns the rounds of all lanes.
    pub(super) fn rounds(&mut self) -> Rounds<'_> {
        let Self { program, executor, lanes, host, hooks, console, trace, output_max, .. } = self;
        let output = Output { console: console.as_mut(), trace: trace.as_mut(), max: *output_max };
        Rounds { executor: &mut **executor, lanes, is_linux: program.linux.is_some(), host, hooks, output }
    }
}
