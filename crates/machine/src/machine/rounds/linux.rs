//! The service of system calls and signals of Linux programs.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use kvrm_arm64::Stop;
use rayon::prelude::*;

use super::super::lane_state::LaneState;
use super::{Rounds, call_again};
use crate::error::Error;
use crate::executor::LaneAccess;
use crate::linux::{self, Effects, SYSTEM_CALL, UnservedCalls, raises_signal};
use crate::pick::pick;
use crate::register::Register;

/// The stop of a lane that makes a system call.
const LINUX_CALL: Stop = Stop::Syscall { imm: SYSTEM_CALL };

/// The largest number of lanes that are served together. With fewer, the host would wait for the device more often; more
/// would take much memory of the host.
const TOGETHER_MAX: usize = 1 << 16;
/// The approximate number of bytes that these lanes may write to the console.
const SHOWN_BYTES_MAX: u64 = 64 << 20;

/// A lane that waits for a service, and its stop.
type Waiting = (usize, Stop);

impl Rounds<'_> {
    /// Serves system calls, which have retired, and signals that lanes handle.
    ///
    /// Lanes share nothing that they can change, so several are served at the same time if the executor can do that. Their
    /// output is shown in the order of their numbers.
    pub(super) fn serve_linux(
        &mut self,
        lanes: &[usize],
        ends: &[u64],
        unserved: &mut UnservedCalls,
    ) -> Result<u64, Error> {
        let stops = self.executor.stops()?;
        let mut calls: Vec<Waiting> = Vec::new();
        for &lane in lanes {
            let is_turn = |stop| stop == Stop::Budget && self.lanes[lane].turn_end < ends[lane];
            if let Some(stop) = stops[lane]
                && (stop == LINUX_CALL || is_turn(stop) || self.handles_signal_of(lane, stop))
            {
                calls.push((lane, stop));
            }
        }
        self.trace_stops(lanes, &stops)?;
        if calls.is_empty() {
            return Ok(0);
        }
        let registers = [Register::X(8), Register::X(0), Register::X(1), Register::X(2)];
        let [number, x0, x1, x2] = registers.map(|register| self.registers(register));
        let (number, x0, x1, x2) = (number?, x0?, x1?, x2?);
        if self.hooks.has_call() {
            calls = self.filtered(calls, &number)?;
        }
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
            let made = together.iter().filter(|(_, stop)| *stop == LINUX_CALL);
            let named = made.filter_map(|&(lane, _)| {
                let (number, x) = arguments(lane);
                linux::memory_to_read(number, x).map(|(address, bytes)| (lane, address, bytes))
            });
            let mut ranges: Vec<_> = named.collect();
            let served = together.par_iter().map(|(lane, _)| *lane);
            ranges.extend(self.bytes_in_windows(&with_pipe_windows(self.lanes, served))?);
            self.executor.prefetch(&ranges)?;
            self.serve_together(together, unserved)?;
            left = rest;
        }
        Ok(calls.iter().filter(|(_, stop)| *stop != Stop::Budget).count() as u64)
    }

    /// Returns the ranges of the pipe windows of lanes that their services will read.
    fn bytes_in_windows(&mut self, lanes: &[usize]) -> Result<Vec<(usize, u64, usize)>, Error> {
        let mut ranges = Vec::new();
        for &lane in lanes {
            let Some(kernel) = &self.lanes[lane].kernel else { continue };
            let bytes = kernel.bytes_in_windows(&self.executor.process_state(lane)?);
            ranges.extend(bytes.into_iter().map(|(address, bytes)| (lane, address, bytes)));
        }
        Ok(ranges)
    }

    /// Gives the kernels of lanes the bytes of their pipes, before the state of these lanes leaves the machine.
    pub(in super::super) fn end_pipe_windows(&mut self, lanes: Range<usize>) -> Result<(), Error> {
        let lanes = with_pipe_windows(self.lanes, lanes.into_par_iter());
        if lanes.is_empty() {
            return Ok(());
        }
        let ranges = self.bytes_in_windows(&lanes)?;
        self.executor.prefetch(&ranges)?;
        let states = pick(self.lanes, &lanes).into_iter();
        let states: Vec<_> = states.map(|state| Mutex::new((state, Ok(())))).collect();
        self.executor.serve_parallel(&lanes, &|index, lane| {
            // No other thread locks this mutex.
            let mut guard = states[index].lock().unwrap_or_else(PoisonError::into_inner);
            let (state, result) = &mut *guard;
            if let Some(kernel) = &mut state.kernel {
                *result = Arc::make_mut(kernel).end_pipe_windows(lane);
            }
        })?;
        states.into_iter().try_for_each(|state| state.into_inner().unwrap_or_else(PoisonError::into_inner).1)
    }

    /// Traces the stops of lanes that are signals which no process handles.
    fn trace_stops(&mut self, lanes: &[usize], stops: &[Option<Stop>]) -> Result<(), Error> {
        if self.output.trace.is_none() {
            return Ok(());
        }
        for &lane in lanes {
            let stop =
                stops[lane].filter(|stop| raises_signal(*stop) && !self.handles_signal_of(lane, *stop));
            let Some(stop) = stop else { continue };
            let pc = self.executor.cpu(lane)?.pc;
            if let Some(kernel) = &mut self.lanes[lane].kernel {
                let text = Arc::make_mut(kernel).trace_of_stop(stop, pc);
                self.output.trace(lane, &text);
            }
        }
        Ok(())
    }

    /// Stops the lanes whose calls a filter stops, before these calls. Returns the others. `number` has the number of the call of
    /// each lane.
    fn filtered(&mut self, calls: Vec<Waiting>, number: &[u64]) -> Result<Vec<Waiting>, Error> {
        let mut left = Vec::with_capacity(calls.len());
        for (lane, stop) in calls {
            let filter = if stop == LINUX_CALL { self.stop_before_call(lane, number[lane]) } else { None };
            if filter.is_some() {
                let cpu = self.executor.cpu(lane)?;
                self.executor.set_cpu(lane, &call_again(cpu))?;
                self.executor.set_stop(lane, filter)?;
            } else {
                left.push((lane, stop));
            }
        }
        Ok(left)
    }

    /// Serves calls together, and shows their output in the order of the lanes.
    fn serve_together(&mut self, calls: &[Waiting], unserved: &mut UnservedCalls) -> Result<(), Error> {
        let numbers: Vec<usize> = calls.iter().map(|(lane, _)| *lane).collect();
        let states = pick(self.lanes, &numbers).into_iter();
        let served: Vec<_> = states.map(|state| Mutex::new((state, Ok(Effects::default())))).collect();
        let mut result = self.executor.serve_parallel(&numbers, &|index, lane| {
            // No other thread locks this mutex.
            let mut served = served[index].lock().unwrap_or_else(PoisonError::into_inner);
            served.1 = serve_lane(served.0, lane, calls[index].1);
        });
        // All services that were done have their effects, even if others have failed.
        for (lane, served) in numbers.into_iter().zip(served) {
            let (state, effects) = served.into_inner().unwrap_or_else(PoisonError::into_inner);
            match effects {
                Ok(Effects { console: written, unserved: calls, trace }) => {
                    for (stream, bytes) in written {
                        self.output.write(lane, &mut state.output, stream, &bytes);
                    }
                    self.output.trace(lane, &trace);
                    calls.into_iter().for_each(|call| unserved.count(call));
                }
                Err(error) => result = result.and(Err(error)),
            }
        }
        result
    }
}

/// Returns those of some lanes that have pipe windows. The kernels of lanes are far apart in memory, so several threads look at them.
fn with_pipe_windows(states: &[LaneState], lanes: impl ParallelIterator<Item = usize>) -> Vec<usize> {
    let has_windows =
        |lane: &usize| states[*lane].kernel.as_ref().is_some_and(|kernel| kernel.has_pipe_windows());
    lanes.filter(has_windows).collect()
}

/// Serves one lane of a Linux program.
fn serve_lane(state: &mut LaneState, lane: &mut dyn LaneAccess, stop: Stop) -> Result<Effects, Error> {
    let mut effects = Effects::default();
    let Some(kernel) = &mut state.kernel else { return Ok(effects) };
    let mut cpu = lane.general()?;
    // If the engine fails while threads change places, the lane keeps the thread that it has.
    let before = (!kernel.is_single()).then(|| Arc::clone(kernel));
    let own = Arc::make_mut(kernel);
    let next = match own.serve(lane, stop, &mut cpu, &mut effects) {
        Ok(next) => next,
        Err(error) => {
            before.into_iter().for_each(|before| *kernel = before);
            return Err(error);
        }
    };
    // As an exception would, the service has lost the exclusive reservation.
    cpu.monitor = None;
    lane.set_general(&cpu)?;
    lane.set_stop(next)?;
    state.turn_end = own.turn_end(cpu.steps);
    // Calls open and close descriptors.
    let console = own.console();
    if state.console.is_some_and(|told| told != console) {
        lane.set_console(console)?;
        state.console = Some(console);
    }
    Ok(effects)
}
