//! The lanes of a machine, divided among several executors.

use std::mem;
use std::ops::{ControlFlow, Range};

use kvrm_arm64::{Access, Cpu, Stop};

use super::division::{Selection, divide, gather, index_of};
use super::engines::Engines;
use super::parts::{Part, at_once};
use super::reports;
use super::running::{Observe, observed};
use crate::audit::Violation;
use crate::call_table::ProcessState;
use crate::error::Error;
use crate::executor::{Executor, LaneAccess, LaneStart, Plan, Progress, RunStats};
use crate::frame_moves::FrameMoves;
use crate::hooks::Hooks;
use crate::hot_code::TranslationReport;
use crate::page_map::{Mapping, PageMap};
use crate::picture::View;
use crate::register::Register;
use crate::report::Decisions;

/// The largest number of violations that an audit returns.
const VIOLATIONS_MAX: usize = 1000;

/// The inner result of a call for several lanes: the first lane that has failed, and its stop.
type Checked = Result<(), (usize, Stop)>;

/// Executors that share the lanes of a machine. Each has consecutive lanes.
pub(super) struct SplitExecutor {
    /// The engines, which make the executors of forks. A fork may have more lanes than this, and so more parts.
    engines: Engines,
    /// The parts, in the order of their lanes. There is at least one.
    parts: Vec<Part>,
    device_name: Option<String>,
}

impl SplitExecutor {
    /// Makes the lanes of a plan.
    pub(super) fn new(engines: Engines, plan: &Plan<'_>) -> Result<Self, Error> {
        let parts = engines.parts(plan)?;
        let device_name = reports::device_names(parts.iter().filter_map(|part| part.executor.device_name()));
        Ok(Self { engines, parts, device_name })
    }

    /// Returns the executor that has a lane, and the number of the lane there.
    fn part_of(&mut self, lane: usize) -> (&mut dyn Executor, usize) {
        let index = index_of(&self.parts, lane);
        let part = &mut self.parts[index];
        (&mut *part.executor, lane - part.first)
    }

    /// Makes a call that changes nothing in all parts at once. Returns the results in the order of the parts.
    fn query<T: Send>(
        &mut self,
        call: impl Fn(&mut dyn Executor) -> Result<T, Error> + Sync,
    ) -> Result<Vec<T>, Error> {
        at_once(&mut self.parts, |part| call(&mut *part.executor)).into_iter().collect()
    }

    /// Makes a call that changes all parts at once.
    fn change(&mut self, call: impl Fn(&mut dyn Executor) -> Result<(), Error> + Sync) -> Result<(), Error> {
        let parts = &mut self.parts;
        at_once(parts, |part| twice(|| call(&mut *part.executor))).into_iter().collect()
    }

    /// Makes a call that changes some lanes, in all parts that have such lanes at once.
    fn change_lanes(
        &mut self,
        lanes: &[usize],
        call: impl Fn(&mut dyn Executor, &Selection) -> Result<(), Error> + Sync,
    ) -> Result<(), Error> {
        let selected = divide(&mut self.parts, lanes.iter().copied());
        at_once(selected, |(part, selection)| twice(|| call(&mut *part.executor, &selection)))
            .into_iter()
            .collect()
    }

    /// Reads rows of `bytes` bytes of some lanes, in all parts that have such lanes at once.
    fn read_rows(
        &mut self,
        lanes: &[usize],
        bytes: usize,
        out: &mut Vec<u8>,
        read: impl Fn(&mut dyn Executor, &[usize], &mut Vec<u8>) -> Result<Checked, Error> + Sync,
    ) -> Result<Checked, Error> {
        let mut selected = divide(&mut self.parts, lanes.iter().copied());
        if let [(part, selection)] = &mut selected[..] {
            let first = part.first;
            let read = read(&mut *part.executor, &selection.lanes, out)?;
            return Ok(read.map_err(|(lane, stop)| (first + lane, stop)));
        }
        let rows = at_once(selected, |(part, selection)| {
            let mut rows = Vec::new();
            let read = read(&mut *part.executor, &selection.lanes, &mut rows)?;
            Ok((failure_in(part.first, &selection, read), (selection, rows)))
        });
        let (failures, rows): (Vec<_>, Vec<_>) =
            rows.into_iter().collect::<Result<Vec<_>, Error>>()?.into_iter().unzip();
        let checked = first_failure(failures);
        if checked.is_ok() {
            gather(&rows, bytes, out);
        }
        Ok(checked)
    }

    /// Makes a call with rows of bytes for some lanes, in all parts that have such lanes at once.
    fn with_rows(
        &mut self,
        rows: &[(usize, &[u8])],
        call: impl Fn(&mut dyn Executor, &[(usize, &[u8])]) -> Result<Checked, Error> + Sync,
    ) -> Result<Checked, Error> {
        let selected = divide(&mut self.parts, rows.iter().map(|(lane, _)| *lane));
        let failures = at_once(selected, |(part, selection)| {
            let own: Vec<_> = selection
                .lanes
                .iter()
                .zip(&selection.places)
                .map(|(lane, place)| (*lane, rows[*place].1))
                .collect();
            let checked = twice(|| call(&mut *part.executor, &own))?;
            Ok(failure_in(part.first, &selection, checked))
        });
        Ok(first_failure(failures.into_iter().collect::<Result<Vec<_>, Error>>()?))
    }
}

/// Makes a call, and once more if the engine has failed. An engine that has lost its device recovers in the second call, so the
/// change is not left out in one of several parts.
fn twice<T>(mut call: impl FnMut() -> Result<T, Error>) -> Result<T, Error> {
    match call() {
        Err(Error::Engine(_)) => call(),
        result => result,
    }
}

/// A failure in a part: the place of the lane in the list of the call, the lane in the machine, and its stop.
type Failure = (usize, usize, Stop);

/// Returns the failure of a part whose first lane is `first`, if there is one.
fn failure_in(first: usize, selection: &Selection, checked: Checked) -> Option<Failure> {
    let (lane, stop) = checked.err()?;
    Some((selection.place_of(lane), first + lane, stop))
}

/// Returns the failure that is first in the list of the call.
fn first_failure(failures: Vec<Option<Failure>>) -> Checked {
    let first = failures.into_iter().flatten().min_by_key(|(place, ..)| *place);
    first.map_or(Ok(()), |(_, lane, stop)| Err((lane, stop)))
}

impl Executor for SplitExecutor {
    /// Returns the name of the engine, or `split` if they are different ones.
    fn name(&self) -> &'static str {
        let name = self.parts[0].executor.name();
        if self.parts.iter().all(|part| part.executor.name() == name) { name } else { "split" }
    }

    fn device_name(&self) -> Option<&str> {
        self.device_name.as_deref()
    }

    fn lanes(&self) -> usize {
        self.parts.last().map_or(0, |part| part.lanes().end)
    }

    fn executor_for(&self, plan: &Plan<'_>) -> Result<Box<dyn Executor>, Error> {
        Ok(Box::new(Self::new(self.engines.clone(), plan)?))
    }

    fn set_all(&mut self, start: &LaneStart) -> Result<(), Error> {
        self.change(|part| part.set_all(start))
    }

    fn run(
        &mut self,
        limits: &[u64],
        observe: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<RunStats, Error> {
        let jobs = self.parts.iter_mut().map(|part| (part.executor.lanes(), (&limits[part.lanes()], part)));
        let run = |(limits, part): (&[u64], &mut Part), observe: Observe<'_>| {
            part.executor.run(limits, observe).map(|stats| (stats.progress, stats.dispatches))
        };
        let (progress, dispatches) = observed(jobs.collect(), run, observe)?;
        Ok(RunStats { dispatches: dispatches.into_iter().sum(), progress })
    }

    fn stop(&mut self, lane: usize) -> Result<Option<Stop>, Error> {
        let (part, lane) = self.part_of(lane);
        part.stop(lane)
    }

    fn stops(&mut self) -> Result<Vec<Option<Stop>>, Error> {
        Ok(self.query(|part| part.stops())?.concat())
    }

    fn set_stop(&mut self, lane: usize, stop: Option<Stop>) -> Result<(), Error> {
        let (part, lane) = self.part_of(lane);
        part.set_stop(lane, stop)
    }

    fn set_stops(&mut self, lanes: &[usize], stop: Option<Stop>) -> Result<(), Error> {
        self.change_lanes(lanes, |part, selection| part.set_stops(&selection.lanes, stop))
    }

    fn steps(&mut self, lane: usize) -> Result<u64, Error> {
        let (part, lane) = self.part_of(lane);
        part.steps(lane)
    }

    fn cpu(&mut self, lane: usize) -> Result<Cpu, Error> {
        let (part, lane) = self.part_of(lane);
        part.cpu(lane)
    }

    fn set_cpu(&mut self, lane: usize, cpu: &Cpu) -> Result<(), Error> {
        let (part, lane) = self.part_of(lane);
        part.set_cpu(lane, cpu)
    }

    fn process_state(&mut self, lane: usize) -> Result<ProcessState, Error> {
        let (part, lane) = self.part_of(lane);
        part.process_state(lane)
    }

    fn set_process_state(&mut self, lane: usize, state: &ProcessState) -> Result<(), Error> {
        let (part, lane) = self.part_of(lane);
        part.set_process_state(lane, state)
    }

    fn registers(&mut self, register: Register, out: &mut Vec<u64>) -> Result<(), Error> {
        let values = self.query(|part| {
            let mut values = Vec::new();
            part.registers(register, &mut values).map(|()| values)
        })?;
        out.clear();
        values.iter().for_each(|values| out.extend_from_slice(values));
        Ok(())
    }

    fn set_registers(&mut self, register: Register, lanes: &[usize], values: &[u64]) -> Result<(), Error> {
        self.change_lanes(lanes, |part, selection| {
            let own: Vec<u64> = selection.places.iter().map(|place| values[*place]).collect();
            part.set_registers(register, &selection.lanes, &own)
        })
    }

    fn read_memory(
        &mut self,
        lane: usize,
        address: u64,
        out: &mut [u8],
        access: Option<Access>,
    ) -> Result<Result<(), Stop>, Error> {
        let (part, lane) = self.part_of(lane);
        part.read_memory(lane, address, out, access)
    }

    fn write_memory(
        &mut self,
        lane: usize,
        address: u64,
        bytes: &[u8],
        access: Option<Access>,
    ) -> Result<Result<(), Stop>, Error> {
        let (part, lane) = self.part_of(lane);
        part.write_memory(lane, address, bytes, access)
    }

    fn read_memory_of_each(
        &mut self,
        address: u64,
        bytes: usize,
        lanes: &[usize],
        out: &mut Vec<u8>,
    ) -> Result<Checked, Error> {
        self.read_rows(lanes, bytes, out, |part, lanes, out| {
            part.read_memory_of_each(address, bytes, lanes, out)
        })
    }

    fn check_memory_of_each(&mut self, address: u64, rows: &[(usize, &[u8])]) -> Result<Checked, Error> {
        self.with_rows(rows, |part, rows| part.check_memory_of_each(address, rows))
    }

    fn write_memory_of_each(&mut self, address: u64, rows: &[(usize, &[u8])]) -> Result<Checked, Error> {
        // A part does not know whether the rows of another part can be written.
        let has_one_part = rows.split_first().is_none_or(|((lane, _), others)| {
            let lanes = self.parts[index_of(&self.parts, *lane)].lanes();
            others.iter().all(|(lane, _)| lanes.contains(lane))
        });
        if !has_one_part && let Err(failure) = self.check_memory_of_each(address, rows)? {
            return Ok(Err(failure));
        }
        self.with_rows(rows, |part, rows| part.write_memory_of_each(address, rows))
    }

    fn read_views(&mut self, view: &View, lanes: &[usize], out: &mut [u8]) -> Result<Checked, Error> {
        let bytes = view.bytes();
        if !lanes.is_sorted() {
            let mut rows = Vec::new();
            let read = self.read_rows(lanes, bytes, &mut rows, |part, lanes, rows| {
                rows.resize(lanes.len() * bytes, 0);
                part.read_views(view, lanes, rows)
            })?;
            if read.is_ok() {
                out.copy_from_slice(&rows);
            }
            return Ok(read);
        }
        // The rows of a part are together.
        let mut rest = out;
        let selected = divide(&mut self.parts, lanes.iter().copied()).into_iter().map(|(part, selection)| {
            let (own, behind) = mem::take(&mut rest).split_at_mut(selection.lanes.len() * bytes);
            rest = behind;
            (part, selection, own)
        });
        let failures = at_once(selected, |(part, selection, own)| {
            let read = part.executor.read_views(view, &selection.lanes, own)?;
            Ok(failure_in(part.first, &selection, read))
        });
        Ok(first_failure(failures.into_iter().collect::<Result<Vec<_>, Error>>()?))
    }

    fn prefetch(&mut self, ranges: &[(usize, u64, usize)]) -> Result<(), Error> {
        let selected = divide(&mut self.parts, ranges.iter().map(|(lane, ..)| *lane));
        let fetched = at_once(selected, |(part, selection)| {
            let own = selection.lanes.iter().zip(&selection.places).map(|(lane, place)| {
                let (_, address, bytes) = ranges[*place];
                (*lane, address, bytes)
            });
            part.executor.prefetch(&own.collect::<Vec<_>>())
        });
        fetched.into_iter().collect()
    }

    fn page_map(&mut self, lane: usize) -> Result<PageMap, Error> {
        let (part, lane) = self.part_of(lane);
        part.page_map(lane)
    }

    fn map(&mut self, lane: usize, pages: Range<u64>, mapping: Mapping) -> Result<bool, Error> {
        let (part, lane) = self.part_of(lane);
        part.map(lane, pages, mapping)
    }

    fn clear_memory(&mut self, lane: usize) -> Result<(), Error> {
        let (part, lane) = self.part_of(lane);
        part.clear_memory(lane)
    }

    fn private_pages(&mut self, lane: usize) -> Result<Vec<u64>, Error> {
        let (part, lane) = self.part_of(lane);
        part.private_pages(lane)
    }

    fn snapshot(&mut self) -> Result<(), Error> {
        self.change(|part| part.snapshot())
    }

    fn reset(&mut self, lanes: &[usize]) -> Result<(), Error> {
        self.change_lanes(lanes, |part, selection| part.reset(&selection.lanes))
    }

    fn set_console(&mut self, lane: usize, handles: u32) -> Result<(), Error> {
        let (part, lane) = self.part_of(lane);
        part.set_console(lane, handles)
    }

    fn drain_console(&mut self, out: &mut dyn FnMut(usize, &[u8])) -> Result<u64, Error> {
        // The parts fetch their output at once, and it is passed on in the order of the lanes. If a part fails, the output of the
        // others is no longer on their devices, so it is passed on nevertheless.
        let drained = at_once(&mut self.parts, |part| {
            let (mut lengths, mut bytes) = (Vec::new(), Vec::new());
            let calls = part.executor.drain_console(&mut |lane, text| {
                lengths.push((lane, text.len()));
                bytes.extend_from_slice(text);
            });
            (part.first, calls, lengths, bytes)
        });
        let mut total = Ok(0);
        for (first, calls, lengths, bytes) in drained {
            let mut left = &bytes[..];
            for (lane, length) in lengths {
                let (text, rest) = left.split_at(length);
                out(first + lane, text);
                left = rest;
            }
            total = total.and_then(|total| calls.map(|calls| total + calls));
        }
        total
    }

    fn take_decisions(&mut self) -> Result<Option<Decisions>, Error> {
        self.query(|part| part.take_decisions()).map(reports::decisions)
    }

    fn translation(&mut self) -> Result<Option<TranslationReport>, Error> {
        self.query(|part| part.translation()).map(reports::translation)
    }

    fn take_frame_moves(&mut self) -> Result<Option<FrameMoves>, Error> {
        let parts = self.query(|part| part.take_frame_moves())?;
        Ok(parts.into_iter().flatten().reduce(FrameMoves::plus))
    }

    fn take_warnings(&mut self) -> Result<Vec<String>, Error> {
        let parts = self.query(|part| part.take_warnings())?;
        Ok(parts.into_iter().flatten().collect())
    }

    fn parts(&mut self) -> Vec<&mut dyn Executor> {
        if self.parts.len() == 1 {
            return Vec::new();
        }
        self.parts.iter_mut().map(|part| -> &mut dyn Executor { &mut *part.executor }).collect()
    }

    fn serve_parallel(
        &mut self,
        lanes: &[usize],
        serve: &(dyn Fn(usize, &mut dyn LaneAccess) + Sync),
    ) -> Result<(), Error> {
        // Services act on the host, so nothing is served twice, whatever fails.
        let served = at_once(divide(&mut self.parts, lanes.iter().copied()), |(part, selection)| {
            part.executor
                .serve_parallel(&selection.lanes, &|index, lane| serve(selection.places[index], lane))
        });
        served.into_iter().collect()
    }

    fn set_hooks(&mut self, hooks: &Hooks) -> Result<(), Error> {
        self.change(|part| part.set_hooks(hooks))
    }

    fn frames_used(&mut self) -> Result<usize, Error> {
        Ok(self.query(|part| part.frames_used())?.into_iter().sum())
    }

    fn audit(&mut self) -> Result<Vec<Violation>, Error> {
        let violations = self.query(|part| part.audit())?;
        let named = self.parts.iter().zip(violations).flat_map(|(part, violations)| {
            violations.into_iter().map(|violation| reports::violation(violation, part.first))
        });
        Ok(named.take(VIOLATIONS_MAX).collect())
    }

    fn set_frames_max(&mut self, frames_max: usize) -> Result<(), Error> {
        self.change(|part| part.set_frames_max(frames_max))
    }
}
