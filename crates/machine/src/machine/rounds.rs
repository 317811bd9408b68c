//! The rounds of a run: the executor runs the lanes until all have stopped, then their calls are served.

mod hooks;
mod linux;
mod semihosting;

use std::borrow::Cow;
use std::iter::Sum;
use std::mem;
use std::ops::ControlFlow;

use kvrm_arm64::{Cpu, Stop};

use super::lane_state::{CollectedOutput, LaneState, serves_in_parallel};
use super::{Console, TraceReader};
use crate::console::Stream;
use crate::error::Error;
use crate::executor::{Executor, Progress};
use crate::hooks::Hooks;
use crate::linux::{SYSTEM_CALL, UnservedCalls, raises_signal};
use crate::register::Register;
use crate::semihosting::{Host, SEMIHOSTING};
use crate::split::{Observe, observed};

/// Lanes that one executor runs, with all that serves them.
pub(super) struct Rounds<'a> {
    pub(super) executor: &'a mut dyn Executor,
    pub(super) lanes: &'a mut [LaneState],
    pub(super) is_linux: bool,
    pub(super) host: &'a Host,
    pub(super) hooks: &'a Hooks,
    pub(super) output: Output<'a>,
}

/// The destination of console output.
pub(super) struct Output<'a> {
    /// The console of the caller. Without one, lanes collect their output.
    pub(super) console: Option<&'a mut Console>,
    /// The reader of the traces of system calls.
    pub(super) trace: Option<&'a mut TraceReader>,
    /// The largest number of bytes that a lane collects of a stream.
    pub(super) max: usize,
}

impl Output<'_> {
    /// Passes on lines of the trace of a lane.
    fn trace(&mut self, lane: usize, text: &str) {
        if let Some(trace) = &mut self.trace
            && !text.is_empty()
        {
            trace(lane, text);
        }
    }

    /// Returns whether the caller can see the order in which calls are served.
    const fn shows_order(&self) -> bool {
        self.console.is_some() || self.trace.is_some()
    }

    /// Shows or collects output of a lane.
    fn write(&mut self, lane: usize, collected: &mut CollectedOutput, stream: Stream, bytes: &[u8]) {
        match &mut self.console {
            Some(console) => console(lane, stream, bytes),
            None => collected.collect(stream, bytes, self.max),
        }
    }
}

/// The counts of a run.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) steps: u64,
    pub(super) services: u64,
    pub(super) dispatches: u64,
    pub(super) unserved: UnservedCalls,
}

impl Sum for Counts {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |mut sum, Self { steps, services, dispatches, unserved }| {
            sum.steps += steps;
            sum.services += services;
            sum.dispatches += dispatches;
            sum.unserved.append(unserved);
            sum
        })
    }
}

impl Rounds<'_> {
    /// Runs lanes that have retired `started` steps until they have retired `ends`, or until the observer ends the run.
    ///
    /// Executors that share the lanes go through their rounds independently, unless the caller could see in which order calls are
    /// served.
    pub(super) fn run(
        &mut self,
        started: &[u64],
        ends: &[u64],
        observe: Observe<'_>,
    ) -> Result<Counts, Error> {
        let are_independent = serves_in_parallel(self.lanes.len(), self.host, self.output.shows_order());
        if !are_independent || self.executor.parts().is_empty() {
            return self.run_together(started, ends, observe).map(|(_, counts)| counts);
        }
        let mut first = 0;
        let parts = self.parts().into_iter().map(|part| {
            let lanes = first..first + part.lanes.len();
            first = lanes.end;
            (part.lanes.len(), (part, &started[lanes.clone()], &ends[lanes]))
        });
        let run = |(mut part, started, ends): (Rounds<'_>, &[u64], &[u64]), observe: Observe<'_>| {
            part.run_together(started, ends, observe)
        };
        let (_, counts) = observed(parts.collect(), run, observe)?;
        Ok(counts.into_iter().sum())
    }

    /// Returns the rounds of each of the executors that share the lanes, if there are several.
    fn parts(&mut self) -> Vec<Rounds<'_>> {
        let Self { executor, lanes, is_linux, host, hooks, output } = self;
        let mut rest = &mut lanes[..];
        let parts = executor.parts().into_iter().map(|executor| {
            let (lanes, later) = mem::take(&mut rest).split_at_mut(executor.lanes());
            rest = later;
            let output = Output { console: None, trace: None, max: output.max };
            Rounds { executor, lanes, is_linux: *is_linux, host, hooks, output }
        });
        parts.collect()
    }

    /// Runs lanes as [`Self::run`] does, all in the same rounds. Returns the progress at the end, too.
    fn run_together(
        &mut self,
        started: &[u64],
        ends: &[u64],
        observer: Observe<'_>,
    ) -> Result<(Progress, Counts), Error> {
        let mut counts = Counts::default();
        // There may be many rounds in which few lanes still run, so a round looks only at these.
        let mut running = self.unfinished()?;
        // Fetch the output that a failed run has left on the device. If all lanes have stopped, nothing below would.
        counts.services += self.drain()?;
        // The steps of lanes that have stopped, and of all lanes at the end of the last round.
        let (mut finished, mut steps) = (0, 0);
        let mut goes_on = ControlFlow::Continue(());
        counts.dispatches += self.pass_hooks(&running, ends)?;
        while !running.is_empty() && goes_on.is_continue() {
            let observe = &mut |now: Progress| {
                goes_on = observer(Progress { steps: steps + now.steps, has_output: false, ..now });
                // End the round, so that output is shown while lanes run.
                if now.has_output { ControlFlow::Break(()) } else { goes_on }
            };
            let limits = self.limits(ends);
            counts.dispatches += self.executor.run(&limits, observe)?.dispatches;
            // This output was written before the calls that wait.
            counts.services += self.drain()?;
            counts.services += self.serve(&running, ends, &mut counts.unserved)?;
            let before = mem::take(&mut running);
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
        counts.steps = steps;
        Ok((Progress { steps, running: running.len(), has_output: false }, counts))
    }

    /// Returns the numbers of steps at which lanes have to stop: at the ends of the run, and of the turns of threads.
    fn limits<'e>(&self, ends: &'e [u64]) -> Cow<'e, [u64]> {
        if self.lanes.iter().all(|lane| lane.turn_end == u64::MAX) {
            return Cow::Borrowed(ends);
        }
        Cow::Owned(ends.iter().zip(&*self.lanes).map(|(end, lane)| lane.turn_end.min(*end)).collect())
    }

    /// Clears the stops of lanes that have only used up a budget or their frames, and of lanes that a failed run has left
    /// waiting for a service, which make their calls again. Returns the lanes that can run.
    fn unfinished(&mut self) -> Result<Vec<usize>, Error> {
        let (mut lanes, mut stopped) = (Vec::new(), Vec::new());
        for (lane, stop) in (0..).zip(self.executor.stops()?) {
            match stop {
                None => {}
                Some(Stop::Syscall { imm: SYSTEM_CALL }) if self.lanes[lane].kernel.is_some() => {
                    let cpu = self.executor.cpu(lane)?;
                    self.executor.set_cpu(lane, &call_again(cpu))?;
                    stopped.push(lane);
                }
                // A failed run has left the signal, which is raised again.
                Some(stop) if self.handles_signal_of(lane, stop) => stopped.push(lane),
                Some(Stop::Halt { imm: SEMIHOSTING }) if self.lanes[lane].kernel.is_some() => continue,
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
        // A look at each kernel takes time, and most stops raise no signal.
        raises_signal(stop)
            && self.lanes[lane].kernel.as_ref().is_some_and(|kernel| kernel.handles_signal_of(stop))
    }

    /// Fetches the console output of calls that the executor has served, and returns the number of these calls.
    pub(super) fn drain(&mut self) -> Result<u64, Error> {
        let Self { executor, output, lanes, .. } = self;
        executor.drain_console(&mut |lane, bytes| {
            output.write(lane, &mut lanes[lane].output, Stream::Output, bytes);
        })
    }

    /// Returns the value of a register in each lane.
    fn registers(&mut self, register: Register) -> Result<Vec<u64>, Error> {
        let mut values = Vec::new();
        self.executor.registers(register, &mut values)?;
        Ok(values)
    }

    /// Serves the calls for which `lanes` have stopped, as if in the order of their numbers, and the turns of threads that end
    /// before `ends`. Returns the number of calls.
    fn serve(&mut self, lanes: &[usize], ends: &[u64], unserved: &mut UnservedCalls) -> Result<u64, Error> {
        if self.is_linux { self.serve_linux(lanes, ends, unserved) } else { self.serve_semihosting(lanes) }
    }
}

/// Returns the registers before a system call that has retired, so that the lane makes it again.
fn call_again(mut cpu: Cpu) -> Cpu {
    cpu.pc = cpu.pc.wrapping_sub(4);
    cpu.steps -= 1;
    cpu
}
