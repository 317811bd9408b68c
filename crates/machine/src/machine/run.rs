//! Runs: in each round the executor runs the lanes until all have stopped, and the machine serves their calls.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use kvrm_arm64::{Access, Cpu, Stop};

use super::Machine;
use super::lane_state::LaneState;
use crate::console::Stream;
use crate::error::Error;
use crate::executor::{LaneAccess, Progress};
use crate::linux::{self, SYSTEM_CALL, UnservedCalls};
use crate::loops::Loops;
use crate::pick::pick;
use crate::register::Register;
use crate::report::Report;
use crate::semihosting::{Guest, Outcome, SEMIHOSTING, memory_to_read};

/// The stop of a lane of a Linux program that makes a system call.
const LINUX_CALL: Stop = Stop::Syscall { imm: SYSTEM_CALL };

/// The largest number of lanes that are served together. With fewer, the host would wait for the device more often; more
/// would take much memory of the host.
const TOGETHER_MAX: usize = 1 << 16;
/// The approximate number of bytes that these lanes may write to the console.
const SHOWN_BYTES_MAX: u64 = 64 << 20;

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

/// A lane that waits for a service, and its stop.
type Waiting = (usize, Stop);

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
        // There may be many rounds in which few lanes still run, so a round looks only at these.
        let mut running = self.unfinished()?;
        // Fetch the output that a failed run has left on the device. If all lanes have stopped, nothing below would.
        let (mut services, mut dispatches) = (self.drain()?, 0);
        let mut has_served = false;
        // The steps of lanes that have stopped, and of all lanes at the end of the last round.
        let (mut finished, mut steps) = (0, 0);
        let mut goes_on = ControlFlow::Continue(());
        dispatches += self.pass_hooks(&running, ends)?;
        while !running.is_empty() && goes_on.is_continue() {
            let observe = &mut |now: Progress| {
                goes_on = observer(Progress { steps: steps + now.steps, ..now });
                // End the round, so that output is shown while lanes run.
                if now.has_output { ControlFlow::Break(()) } else { goes_on }
            };
            dispatches += self.executor.run(ends, observe)?.dispatches;
            // This output was written before the calls that wait.
            services += self.drain()?;
            let served = self.serve_all(&running)?;
            has_served |= served > 0;
            services += served;
            let before = std::mem::take(&mut running);
            steps = 0;
            let (stops, retired) = (self.executor.stops()?, self.registers(Register::Steps)?);
            for lane in before {
                let retired = retired[lane] - started[lane];
                if stops[lane].is_none() {
                    running.push(lane);
                    steps += retired;
                } else {
                    finished += retired;
                }
            }
            steps += finished;
            if !running.is_empty() && goes_on.is_continue() {
                goes_on = observer(Progress { steps, running: running.len(), has_output: false });
            }
        }
        let mut unserved = UnservedCalls::default();
        // A look at each process takes time, and many runs of environments serve no call.
        if has_served {
            let processes = self.lanes.iter_mut().filter_map(|lane| lane.process.as_mut());
            for process in processes.filter(|process| process.has_unserved()) {
                unserved.append(Arc::make_mut(process).take_unserved());
            }
        }
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
            wall: begin.elapsed(),
        })
    }

    /// Clears the stops of lanes that have only used up a budget or their frames, and of lanes that a failed run has left
    /// waiting for a service, which make their calls again. Returns the lanes that can run.
    fn unfinished(&mut self) -> Result<Vec<usize>, Error> {
        let (mut lanes, mut stopped) = (Vec::new(), Vec::new());
        for (lane, stop) in (0..).zip(self.executor.stops()?) {
            match stop {
                None => {}
                Some(Stop::Syscall { imm: SYSTEM_CALL }) if self.lanes[lane].process.is_some() => {
                    let cpu = self.executor.cpu(lane)?;
                    self.executor.set_cpu(lane, &call_again(cpu))?;
                    stopped.push(lane);
                }
                // A failed run has left the signal, which is raised again.
                Some(stop) if self.handles_signal_of(lane, stop) => stopped.push(lane),
                Some(Stop::Halt { imm: SEMIHOSTING }) if self.lanes[lane].process.is_some() => continue,
                Some(Stop::Budget | Stop::OutOfFrames | Stop::Halt { imm: SEMIHOSTING }) => {
                    stopped.push(lane);
                }
                Some(_) => continue,
            }
            lanes.push(lane);
        }
        self.executor.set_stops(&stopped, None)?;
        Ok(lanes)
    }

    /// Whether a stop is a signal that the lane handles.
    fn handles_signal_of(&self, lane: usize, stop: Stop) -> bool {
        self.lanes[lane].process.as_ref().is_some_and(|process| process.handles_signal_of(stop))
    }

    /// Fetches the console output of calls that the executor has served, and returns the number of these calls.
    pub(super) fn drain(&mut self) -> Result<u64, Error> {
        let Self { executor, console, lanes, output_max, .. } = self;
        executor.drain_console(&mut |lane, bytes| match console {
            Some(console) => console(lane, Stream::Output, bytes),
            None => lanes[lane].output.collect(Stream::Output, bytes, *output_max),
        })
    }

    /// Serves the calls for which `lanes` have stopped, as if in the order of their numbers. Returns the number of calls.
    fn serve_all(&mut self, lanes: &[usize]) -> Result<u64, Error> {
        if self.program.linux.is_some() {
            return self.serve_linux(lanes);
        }
        let stops = self.executor.stops()?;
        let mut calls = Vec::new();
        for &lane in lanes {
            if stops[lane] == Some(Stop::Halt { imm: SEMIHOSTING }) {
                let cpu = self.executor.cpu(lane)?;
                if let Some(stop) = self.stop_before_call(lane, cpu.x(0)) {
                    self.executor.set_stop(lane, Some(stop))?;
                } else {
                    calls.push((lane, cpu));
                }
            }
        }
        if calls.is_empty() {
            return Ok(0);
        }
        self.prefetch(&calls)?;
        let count = calls.len() as u64;
        for (lane, cpu) in calls {
            self.serve(lane, cpu)?;
        }
        Ok(count)
    }

    /// Prefetches the memory that calls will read: their parameter blocks, and then the data that these point to.
    fn prefetch(&mut self, calls: &[(usize, Cpu)]) -> Result<(), Error> {
        let blocks: Vec<_> = calls.iter().flat_map(|(lane, cpu)| memory_to_read(*lane, cpu, None)).collect();
        self.executor.prefetch(&blocks)?;
        let mut named = Vec::new();
        for (lane, cpu) in calls {
            for (_, address, bytes) in memory_to_read(*lane, cpu, None) {
                let mut block = vec![0; bytes];
                // If the block cannot be read, the guest gets the error when it is served.
                if self.executor.read_memory(*lane, address, &mut block, Some(Access::Read))?.is_ok() {
                    let field = |bytes: &[u8]| {
                        bytes.iter().rev().fold(0, |field, &byte| field << 8 | u64::from(byte))
                    };
                    let fields: Vec<u64> = block.chunks_exact(8).map(field).collect();
                    named.extend(memory_to_read(*lane, cpu, Some(&fields)));
                }
            }
        }
        self.executor.prefetch(&named)
    }

    /// Serves system calls, which have retired, and signals that lanes handle.
    ///
    /// Lanes share nothing that they can change, so several are served at the same time if the executor can do that. Their
    /// output is shown in the order of their numbers.
    fn serve_linux(&mut self, lanes: &[usize]) -> Result<u64, Error> {
        let stops = self.executor.stops()?;
        let mut calls: Vec<Waiting> = Vec::new();
        for &lane in lanes {
            if let Some(stop) = stops[lane]
                && (stop == LINUX_CALL || self.handles_signal_of(lane, stop))
            {
                calls.push((lane, stop));
            }
        }
        if calls.is_empty() {
            return Ok(0);
        }
        let registers = [Register::X(8), Register::X(0), Register::X(1), Register::X(2)];
        let [number, x0, x1, x2] = registers.map(|register| self.registers(register));
        let (number, x0, x1, x2) = (number?, x0?, x1?, x2?);
        let mut unfiltered = Vec::with_capacity(calls.len());
        for (lane, stop) in calls {
            let filter = if stop == LINUX_CALL { self.stop_before_call(lane, number[lane]) } else { None };
            if filter.is_some() {
                let cpu = self.executor.cpu(lane)?;
                self.executor.set_cpu(lane, &call_again(cpu))?;
                self.executor.set_stop(lane, filter)?;
            } else {
                unfiltered.push((lane, stop));
            }
        }
        let calls = unfiltered;
        let arguments = |lane: usize| (number[lane], [x0[lane], x1[lane], x2[lane]]);
        let mut left = &calls[..];
        while !left.is_empty() {
            // The output of lanes that are served together is held until all of them are done.
            let mut shown = 0;
            let count = left.iter().take(TOGETHER_MAX).position(|&(lane, _)| {
                let (number, x) = arguments(lane);
                shown += linux::shown_bytes(number, x);
                shown > SHOWN_BYTES_MAX
            });
            let (together, rest) = left.split_at(count.unwrap_or(TOGETHER_MAX.min(left.len())).max(1));
            let named = together.iter().filter_map(|&(lane, _)| {
                let (number, x) = arguments(lane);
                linux::memory_to_read(number, x).map(|(address, bytes)| (lane, address, bytes))
            });
            self.executor.prefetch(&named.collect::<Vec<_>>())?;
            self.serve_together(together)?;
            left = rest;
        }
        Ok(calls.len() as u64)
    }

    /// Serves calls together.
    fn serve_together(&mut self, calls: &[Waiting]) -> Result<(), Error> {
        let numbers: Vec<usize> = calls.iter().map(|(lane, _)| *lane).collect();
        let states = pick(&mut self.lanes, &numbers);
        let served: Vec<_> =
            states.into_iter().map(|state| Mutex::new((state, Ok(linux::ConsoleOutput::new())))).collect();
        let result = self.executor.serve_parallel(&numbers, &|index, lane| {
            // No other thread locks this mutex.
            let mut served = served[index].lock().unwrap_or_else(PoisonError::into_inner);
            served.1 = serve_lane(served.0, lane, calls[index].1);
        });
        let served: Vec<_> = served
            .into_iter()
            .map(|served| served.into_inner().unwrap_or_else(PoisonError::into_inner).1)
            .collect();
        // Show the output of all services that were done, even if others have failed.
        let mut failure = result;
        for (lane, written) in numbers.into_iter().zip(served) {
            match written {
                Ok(written) => {
                    written.iter().for_each(|(stream, bytes)| self.show(lane, *stream, bytes));
                }
                Err(error) => failure = failure.and(Err(error)),
            }
        }
        failure
    }

    /// Shows or collects output of a lane.
    fn show(&mut self, lane: usize, stream: Stream, bytes: &[u8]) {
        match &mut self.console {
            Some(console) => console(lane, stream, bytes),
            None => self.lanes[lane].output.collect(stream, bytes, self.output_max),
        }
    }

    /// Serves the semihosting call for which `lane` has stopped. The call counts as a step.
    fn serve(&mut self, lane: usize, mut cpu: Cpu) -> Result<(), Error> {
        let LaneState { services, output, console: told, .. } = &mut self.lanes[lane];
        let (console, output_max) = (&mut self.console, self.output_max);
        let mut write = |stream, bytes: &[u8]| match console {
            Some(console) => console(lane, stream, bytes),
            None => output.collect(stream, bytes, output_max),
        };
        let mut guest = Guest { executor: &mut *self.executor, lane };
        let outcome = services.serve(&self.host, &mut guest, &cpu, &mut write)?;
        // Calls open and close handles.
        let handles = services.console();
        if told.is_some_and(|told| told != handles) {
            self.executor.set_console(lane, handles)?;
            *told = Some(handles);
        }
        let stop = match outcome {
            Outcome::Stop(stop) => return self.executor.set_stop(lane, Some(stop)),
            Outcome::Return(value) => {
                cpu.set_x(0, value);
                None
            }
            Outcome::Exit(code) => Some(Stop::Exit { code }),
        };
        cpu.pc = cpu.pc.wrapping_add(4);
        cpu.steps += 1;
        // As an exception would, the service has lost the exclusive reservation.
        cpu.monitor = None;
        self.executor.set_cpu(lane, &cpu)?;
        self.executor.set_stop(lane, stop)
    }
}

/// Serves one lane of a Linux program, and returns its console output.
fn serve_lane(
    state: &mut LaneState,
    lane: &mut dyn LaneAccess,
    stop: Stop,
) -> Result<linux::ConsoleOutput, Error> {
    let mut written = Vec::new();
    let Some(process) = &mut state.process else { return Ok(written) };
    let before = lane.general()?;
    let mut cpu = before.clone();
    let process = Arc::make_mut(process);
    let next = process.serve(lane, stop, &mut cpu, &mut written)?;
    if matches!(next, None | Some(Stop::Exit { .. })) {
        // As an exception would, the service has lost the exclusive reservation.
        cpu.monitor = None;
        lane.set_general(&cpu)?;
    } else if stop == LINUX_CALL {
        lane.set_general(&call_again(before))?;
    }
    lane.set_stop(next)?;
    // Calls open and close descriptors.
    let console = process.console();
    if state.console.is_some_and(|told| told != console) {
        lane.set_console(console)?;
        state.console = Some(console);
    }
    Ok(written)
}

/// Returns the registers before a system call that has retired, so that the lane makes it again.
fn call_again(mut cpu: Cpu) -> Cpu {
    cpu.pc = cpu.pc.wrapping_sub(4);
    cpu.steps -= 1;
    cpu
}
