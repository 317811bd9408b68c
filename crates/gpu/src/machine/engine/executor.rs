//! The implementation of [`Executor`] for the GPU.

use std::any::Any;
use std::ops::{ControlFlow, Range};

use kvrm_arm64::{Access, Cpu, Stop};
use kvrm_machine::{
    Decisions, Executor, FrameMoves, Hooks, LaneAccess, LaneStart, Mapping, PageMap, Plan, ProcessState,
    Progress, Register, RunStats, TranslationReport, View, Violation, compute_views, for_each_picked,
};
use kvrm_shaders::layout::{
    COLUMN_BASE, COLUMN_HEAD, COLUMN_HEAP_END, COLUMN_ROOT, COLUMN_STEPS, COLUMN_STOP, COLUMN_STOP_ADDRESS,
    COLUMN_TAIL, COLUMN_V, ENTRY_OWNED,
};
use rayon::prelude::*;

use super::lanes::{GpuExecutor, Snapshot};
use super::registers::{self, ALL_COLUMNS, CPU_COLUMNS, REGISTER_COLUMNS, Words};
use super::stops;
use super::words::{PAGE, halves, word};
use crate::device::buffer::Buffer;
use crate::device::error::Error;
use crate::machine::columns::BETWEEN_RUNS;
use crate::machine::store::places::Places;

/// The registers that identify a system call, and the memory it is likely to read.
const REGISTERS_OF_CALLS: [u32; 4] = [0, 1, 2, 8];

impl GpuExecutor {
    /// Returns the words of a lane's registers and of its process state.
    pub(crate) fn words(&mut self, lane: usize) -> Result<Words, Error> {
        let columns = &mut self.store.columns;
        columns.fetch(0..REGISTER_COLUMNS as u32)?;
        let mut words = [0; REGISTER_COLUMNS];
        (0..).zip(&mut words).for_each(|(column, word)| *word = columns.cached(column)[lane]);
        Ok(words)
    }

    /// Replaces the words whose bits are set in `changed`.
    pub(crate) fn set_words(&mut self, lane: usize, changed: u64, words: &Words) -> Result<(), Error> {
        let columns = &mut self.store.columns;
        columns.fetch(registers::columns(changed))?;
        for column in registers::columns(changed) {
            columns.set(column, lane, words[column as usize])?;
        }
        if let Some(end) = self.heap_ends.get_mut(lane).filter(|_| changed >> COLUMN_HEAP_END & 1 == 1) {
            *end = words[COLUMN_HEAP_END as usize];
        }
        Ok(())
    }

    /// Returns V0 to V31 of a lane.
    pub(crate) fn vectors(&mut self, lane: usize) -> Result<[u128; 32], Error> {
        let mut vectors = [0; 32];
        if self.has_simd {
            let columns = &mut self.store.columns;
            columns.fetch(COLUMN_V..COLUMN_V + 64)?;
            for (column, v) in (COLUMN_V..).step_by(2).zip(&mut vectors) {
                let half = |column| u128::from(columns.cached(column)[lane]);
                *v = half(column) | half(column + 1) << 64;
            }
        }
        Ok(vectors)
    }

    /// Replaces V0 to V31 of a lane.
    pub(crate) fn set_vectors(&mut self, lane: usize, vectors: &[u128; 32]) -> Result<(), Error> {
        self.has_simd |= *vectors != [0; 32];
        if self.has_simd {
            let columns = &mut self.store.columns;
            columns.fetch(COLUMN_V..COLUMN_V + 64)?;
            for (column, v) in (COLUMN_V..).step_by(2).zip(vectors) {
                columns.set(column, lane, *v as u64)?;
                columns.set(column + 1, lane, (*v >> 64) as u64)?;
            }
        }
        Ok(())
    }

    fn register(&mut self, register: Register) -> Result<Vec<u64>, Error> {
        let Some((column, part)) = registers::column(register) else {
            return Ok(vec![0; self.store.lanes]);
        };
        let words = self.store.columns.get(column)?;
        Ok(words.iter().map(|word| part.of(*word)).collect())
    }

    /// Sets a register of some lanes to the values. Returns its column and the new words of these lanes, for the
    /// journal; `None` if the register is always zero.
    pub(crate) fn set_register(
        &mut self,
        register: Register,
        lanes: &[usize],
        values: &[u64],
    ) -> Result<Option<(u32, Vec<u64>)>, Error> {
        let Some((column, part)) = registers::column(register) else { return Ok(None) };
        let words = self.store.columns.get_mut(column)?;
        let set = |(&lane, &value): (&usize, &u64)| {
            words[lane] = part.replaced(words[lane], register.bits_of(value));
            words[lane]
        };
        Ok(Some((column, lanes.iter().zip(values).map(set).collect())))
    }

    /// Puts all lanes into the same state, without fetching any column but one.
    pub(crate) fn start_all(&mut self, start: &LaneStart) -> Result<(), Error> {
        let LaneStart { cpu, process_state, stop, console } = start;
        self.set_console_handles_of_all(*console)?;
        let mut words = [0; REGISTER_COLUMNS];
        registers::set_cpu(&mut words, cpu);
        registers::set_process_state(&mut words, process_state);
        let columns = &mut self.store.columns;
        (0..).zip(words).for_each(|(column, word)| columns.fill(column, word));
        let (code, address) = stops::encode(*stop);
        columns.fill(COLUMN_STOP, code);
        columns.fill(COLUMN_STOP_ADDRESS, address);
        self.has_simd |= cpu.v != [0; 32];
        if self.has_simd {
            for (column, v) in (COLUMN_V..).step_by(2).zip(cpu.v) {
                columns.fill(column, v as u64);
                columns.fill(column + 1, (v >> 64) as u64);
            }
        }
        self.heap_ends.fill(process_state.heap_end);
        Ok(())
    }

    /// Returns the columns that the host reads after a run.
    pub(super) fn columns_after_run(&self) -> impl Iterator<Item = u32> + use<> {
        let of_calls = if self.has_served { &REGISTERS_OF_CALLS[..] } else { &[] };
        of_calls.iter().copied().chain(BETWEEN_RUNS)
    }

    /// Updates the page maps of lanes that have moved the end of their heap on the device.
    pub(super) fn note_heaps(&mut self) -> Result<(), Error> {
        if self.heap_ends.is_empty() {
            return Ok(());
        }
        self.store.columns.fetch([COLUMN_HEAP_END])?;
        let now = self.store.columns.cached(COLUMN_HEAP_END);
        let lanes = self.maps.par_iter_mut().zip(&mut self.heap_ends).zip(now);
        lanes.filter(|((_, end), now)| *end != *now).for_each(|((map, end), now)| {
            // The device never shrinks a heap by pages, so there is nothing to unmap.
            map.map(&(end.div_ceil(PAGE)..now.div_ceil(PAGE)), Mapping::Heap);
            *end = *now;
        });
        Ok(())
    }

    fn take_snapshot(&mut self) -> Result<(), Error> {
        self.flush_memory()?;
        // From now on each lane shares its whole tree with the snapshot.
        for root in self.store.columns.get_mut(COLUMN_ROOT)? {
            *root &= !u64::from(ENTRY_OWNED);
        }
        // The same holds for the pipe windows of Linux programs.
        if !self.heap_ends.is_empty() {
            for base in self.store.columns.get_mut(COLUMN_BASE)? {
                *base &= !(u64::from(ENTRY_OWNED) << 32);
            }
        }
        if let Some(snapshot) = &mut self.snapshot {
            self.store.columns.copy(&snapshot.state)?;
            snapshot.maps.clone_from(&self.maps);
            snapshot.heap_ends.clone_from(&self.heap_ends);
        } else {
            let state = Buffer::zeroed(&self.store.device, "snapshot", self.store.columns.buffer.bytes())?;
            self.store.columns.copy(&state)?;
            let (maps, heap_ends) = (self.maps.clone(), self.heap_ends.clone());
            self.snapshot = Some(Snapshot { state, maps, heap_ends });
        }
        Ok(())
    }

    fn reset_lanes(&mut self, lanes: &[usize]) -> Result<(), Error> {
        if lanes.is_empty() {
            return Ok(());
        }
        // The reset undoes pending changes of these lanes anyway, and there might be no room for them.
        let waiting = self.take_waiting(lanes);
        let reset = self.reset_flushed_lanes(lanes);
        if reset.is_err() {
            // The lanes are not reset, so their changes are still pending.
            self.put_back_waiting(waiting);
        }
        reset
    }

    /// Resets lanes that have no pending changes.
    fn reset_flushed_lanes(&mut self, lanes: &[usize]) -> Result<(), Error> {
        self.flush_memory()?;
        self.store.columns.flush()?;
        let Some(snapshot) = &self.snapshot else { return Ok(()) };
        let jobs: Vec<u32> = lanes.iter().map(|&lane| lane as u32).collect();
        self.has_unused = true;
        if let Some(prefetching) = &mut self.prefetching {
            prefetching.forget(lanes);
        }
        self.store.reset(&jobs, &snapshot.state)?;
        for_each_picked(&mut self.maps, lanes, |place, map| map.assign(&snapshot.maps[lanes[place]]));
        for lane in lanes {
            if let Some(end) = self.heap_ends.get_mut(*lane) {
                *end = snapshot.heap_ends[*lane];
            }
        }
        self.store.columns.invalidate();
        self.cache.forget();
        Ok(())
    }
}

impl From<Error> for kvrm_machine::Error {
    fn from(error: Error) -> Self {
        Self::Engine(Box::new(error))
    }
}

impl Executor for GpuExecutor {
    fn name(&self) -> &'static str {
        "gpu"
    }

    fn device_name(&self) -> Option<&str> {
        Some(&self.description)
    }

    fn as_any(&mut self) -> Option<&mut dyn Any> {
        Some(self)
    }

    fn lanes(&self) -> usize {
        self.store.lanes
    }

    fn executor_for(&self, plan: &Plan<'_>) -> Result<Box<dyn Executor>, kvrm_machine::Error> {
        Ok(Box::new(Self::with_bounds(self.device(), plan, &self.selection, self.bounds.clone())?))
    }

    fn set_all(&mut self, start: &LaneStart) -> Result<(), kvrm_machine::Error> {
        Ok(self.start_all(start)?)
    }

    fn run(
        &mut self,
        limits: &[u64],
        observe: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<RunStats, kvrm_machine::Error> {
        Ok(self.run_lanes(limits, observe)?)
    }

    fn stop(&mut self, lane: usize) -> Result<Option<Stop>, kvrm_machine::Error> {
        Ok(self.read_stop(lane)?)
    }

    fn stops(&mut self) -> Result<Vec<Option<Stop>>, kvrm_machine::Error> {
        Ok(self.read_stops()?)
    }

    fn set_stop(&mut self, lane: usize, stop: Option<Stop>) -> Result<(), kvrm_machine::Error> {
        self.set_stops(&[lane], stop)
    }

    fn set_stops(&mut self, lanes: &[usize], stop: Option<Stop>) -> Result<(), kvrm_machine::Error> {
        let (code, address) = stops::encode(stop);
        let columns = &mut self.store.columns;
        columns.fetch([COLUMN_STOP, COLUMN_STOP_ADDRESS])?;
        for (column, word) in [(COLUMN_STOP, code), (COLUMN_STOP_ADDRESS, address)] {
            if lanes.iter().all(|lane| columns.cached(column)[*lane] == word) {
                continue;
            }
            let words = columns.get_mut(column)?;
            lanes.iter().for_each(|lane| words[*lane] = word);
        }
        Ok(())
    }

    fn steps(&mut self, lane: usize) -> Result<u64, kvrm_machine::Error> {
        Ok(self.store.columns.word(COLUMN_STEPS, lane)?)
    }

    fn cpu(&mut self, lane: usize) -> Result<Cpu, kvrm_machine::Error> {
        let mut cpu = registers::cpu(&self.words(lane)?);
        cpu.v = self.vectors(lane)?;
        Ok(cpu)
    }

    fn set_cpu(&mut self, lane: usize, cpu: &Cpu) -> Result<(), kvrm_machine::Error> {
        let mut words = [0; REGISTER_COLUMNS];
        registers::set_cpu(&mut words, cpu);
        // All columns are fetched first. A fetch may fail, and a call that fails must change nothing.
        self.has_simd |= cpu.v != [0; 32];
        let simd = if self.has_simd { COLUMN_V..COLUMN_V + 64 } else { 0..0 };
        self.store.columns.fetch((0..REGISTER_COLUMNS as u32).chain(simd))?;
        self.set_words(lane, CPU_COLUMNS, &words)?;
        Ok(self.set_vectors(lane, &cpu.v)?)
    }

    fn serve_parallel(
        &mut self,
        lanes: &[usize],
        serve: &(dyn Fn(usize, &mut dyn LaneAccess) + Sync),
    ) -> Result<(), kvrm_machine::Error> {
        let mut changes = Vec::new();
        self.serve_lane_views(lanes, serve, &mut changes)?;
        Ok(self.apply_lane_changes(&changes)?)
    }

    fn process_state(&mut self, lane: usize) -> Result<ProcessState, kvrm_machine::Error> {
        Ok(registers::process_state(&self.words(lane)?))
    }

    fn set_process_state(&mut self, lane: usize, state: &ProcessState) -> Result<(), kvrm_machine::Error> {
        let mut words = [0; REGISTER_COLUMNS];
        registers::set_process_state(&mut words, state);
        Ok(self.set_words(lane, ALL_COLUMNS & !CPU_COLUMNS, &words)?)
    }

    fn registers(&mut self, register: Register, out: &mut Vec<u64>) -> Result<(), kvrm_machine::Error> {
        *out = self.register(register)?;
        Ok(())
    }

    fn set_registers(
        &mut self,
        register: Register,
        lanes: &[usize],
        values: &[u64],
    ) -> Result<(), kvrm_machine::Error> {
        self.set_register(register, lanes, values)?;
        Ok(())
    }

    fn read_memory(
        &mut self,
        lane: usize,
        address: u64,
        out: &mut [u8],
        access: Option<Access>,
    ) -> Result<Result<(), Stop>, kvrm_machine::Error> {
        Ok(self.read_bytes(lane, address, out, access)?)
    }

    fn write_memory(
        &mut self,
        lane: usize,
        address: u64,
        bytes: &[u8],
        access: Option<Access>,
    ) -> Result<Result<(), Stop>, kvrm_machine::Error> {
        let written = self.write_rows(address, &[(lane, bytes)], access)?;
        Ok(written.map_err(|(_, stop)| stop))
    }

    fn check_memory_of_each(
        &mut self,
        address: u64,
        rows: &[(usize, &[u8])],
    ) -> Result<Result<(), (usize, Stop)>, kvrm_machine::Error> {
        Ok(self.check_rows(address, rows, None)?)
    }

    fn write_memory_of_each(
        &mut self,
        address: u64,
        rows: &[(usize, &[u8])],
    ) -> Result<Result<(), (usize, Stop)>, kvrm_machine::Error> {
        Ok(self.write_rows(address, rows, None)?)
    }

    fn page_map(&mut self, lane: usize) -> Result<PageMap, kvrm_machine::Error> {
        Ok(self.maps[lane].clone())
    }

    fn map(&mut self, lane: usize, pages: Range<u64>, mapping: Mapping) -> Result<bool, kvrm_machine::Error> {
        Ok(self.map_pages(lane, pages, mapping))
    }

    fn prefetch(&mut self, ranges: &[(usize, u64, usize)]) -> Result<(), kvrm_machine::Error> {
        Ok(self.fetch_ranges(ranges)?)
    }

    fn read_memory_of_each(
        &mut self,
        address: u64,
        bytes: usize,
        lanes: &[usize],
        out: &mut Vec<u8>,
    ) -> Result<Result<(), (usize, Stop)>, kvrm_machine::Error> {
        Ok(self.read_rows(address, bytes, lanes, out)?)
    }

    fn read_views(
        &mut self,
        view: &View,
        lanes: &[usize],
        out: &mut [u8],
    ) -> Result<Result<(), (usize, Stop)>, kvrm_machine::Error> {
        match self.shape_of_view(view) {
            Some(shape) => Ok(self.views(&shape, view, lanes, out)?),
            None => compute_views(self, view, lanes, out),
        }
    }

    fn clear_memory(&mut self, lane: usize) -> Result<(), kvrm_machine::Error> {
        self.maps[lane].clone_from(self.images[if self.images.len() == 1 { 0 } else { lane }].map());
        self.cache.lanes[lane].clear();
        self.cache.track(lane);
        Ok(())
    }

    fn private_pages(&mut self, lane: usize) -> Result<Vec<u64>, kvrm_machine::Error> {
        Ok(self.pages_of(lane)?)
    }

    fn snapshot(&mut self) -> Result<(), kvrm_machine::Error> {
        Ok(self.take_snapshot()?)
    }

    fn reset(&mut self, lanes: &[usize]) -> Result<(), kvrm_machine::Error> {
        if self.snapshot.is_none() {
            return Err(kvrm_machine::Error::NoSnapshot);
        }
        Ok(self.reset_lanes(lanes)?)
    }

    fn set_console(&mut self, lane: usize, handles: u32) -> Result<(), kvrm_machine::Error> {
        Ok(self.set_console_handles(lane, handles)?)
    }

    fn drain_console(&mut self, out: &mut dyn FnMut(usize, &[u8])) -> Result<u64, kvrm_machine::Error> {
        Ok(self.drain(out)?)
    }

    fn take_decisions(&mut self) -> Result<Option<Decisions>, kvrm_machine::Error> {
        Ok(self.store.take_decisions()?)
    }

    fn translation(&mut self) -> Result<Option<TranslationReport>, kvrm_machine::Error> {
        Ok(self.translation_report())
    }

    fn take_frame_moves(&mut self) -> Result<Option<FrameMoves>, kvrm_machine::Error> {
        Ok(self.store.places.as_mut().map(Places::take_moves))
    }

    fn take_warnings(&mut self) -> Result<Vec<String>, kvrm_machine::Error> {
        let failure = self.store.places.as_mut().and_then(|places| places.host.take_failure());
        Ok(failure.iter().map(ToString::to_string).collect())
    }

    fn set_hooks(&mut self, hooks: &Hooks) -> Result<(), kvrm_machine::Error> {
        Ok(self.store.set_hooks(hooks)?)
    }

    fn frames_used(&mut self) -> Result<usize, kvrm_machine::Error> {
        self.flush_memory()?;
        let tails = self.store.columns.get(COLUMN_TAIL)?;
        Ok(tails.iter().map(|tail| halves(*tail).1 as usize).sum())
    }

    fn audit(&mut self) -> Result<Vec<Violation>, kvrm_machine::Error> {
        Ok(self.violations()?)
    }

    fn set_frames_max(&mut self, frames_max: usize) -> Result<(), kvrm_machine::Error> {
        let frames_max = u32::try_from(frames_max).unwrap_or(u32::MAX);
        self.flush_memory()?;
        for head in self.store.columns.get_mut(COLUMN_HEAD)? {
            *head = word(frames_max, halves(*head).1);
        }
        self.frames_max = frames_max;
        Ok(())
    }
}
