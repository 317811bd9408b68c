//! The journal: a compact record of the host's changes of lanes, and its replay.

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use kvrm_arm64::{Access, Cpu, Stop};
use kvrm_machine::{Executor, Hooks, LaneStart, Mapping, PIPE_ADDRESS, ProcessState, Register};
use rayon::prelude::*;

use crate::device::error::Error;
use crate::machine::engine::GpuExecutor;
use crate::machine::engine::checkpoint::Checkpoint;
use crate::machine::engine::lane_views::LaneChanges;
use crate::machine::engine::lanes::RunProgress;
use crate::machine::engine::pending::{Change, Pending};
use crate::machine::engine::registers::{
    ALL_COLUMNS, CPU_COLUMNS, REGISTER_COLUMNS, Words, columns, differences, set_cpu, set_process_state,
};

/// The bit of changed columns that says that SIMD registers have changed, too. The next word has a bit for each of
/// these.
const SIMD: u64 = 1 << 63;

/// The number of lanes whose services one thread records.
const LANES_OF_PART: usize = 512;

/// The changes that lead to the current state of the lanes, from a checkpoint or from new lanes.
#[derive(Debug, Default)]
pub(super) struct Journal {
    /// The checkpoint from which the entries lead on. `None` stands for new lanes.
    base: Option<Checkpoint>,
    entries: Vec<Entry>,
    /// The new values of registers of all entries, in order.
    words: Vec<u64>,
    /// The written bytes of all entries, in order.
    bytes: Vec<u8>,
    /// The size in bytes of the memory that entries own or share outside of the vectors above.
    boxed_bytes: usize,
    /// The length of the journal when the snapshot was taken, if there is one.
    snapshot: Option<JournalLength>,
    /// The number of entries when the state became one that the journal cannot reproduce.
    uncertain_from: Option<usize>,
    /// The limits of the last run. In most cases the next run has the same, and shares them.
    limits: Arc<[u64]>,
    /// The last limit of frames that was set. A reset does not undo it.
    frames_max: Option<usize>,
    /// The hooks that were set last. A reset does not undo them, and a checkpoint does not contain them.
    hooks: Option<Arc<Hooks>>,
}

/// A length of the journal, to which it can be truncated.
#[derive(Clone, Copy, Debug, Default)]
struct JournalLength {
    entries: usize,
    words: usize,
    bytes: usize,
    boxed_bytes: usize,
}

/// A change of the state of lanes.
#[derive(Debug)]
enum Entry {
    /// A new state of all lanes.
    StartAll(Box<LaneStart>),
    /// New values of registers or process state. Bit n stands for column n.
    Registers {
        lane: usize,
        changed: u64,
    },
    /// The new stop of consecutive lanes.
    Stop {
        first: usize,
        end: usize,
        stop: Option<Stop>,
    },
    /// The new stop of some lanes.
    Stops {
        lanes: Box<[u32]>,
        stop: Option<Stop>,
    },
    /// A write of `bytes` bytes in each of some lanes.
    Rows {
        lanes: Box<[u32]>,
        address: u64,
        bytes: usize,
    },
    /// A write of `bytes` bytes.
    Write {
        lane: usize,
        address: u64,
        bytes: usize,
        access: Option<Access>,
    },
    /// The memory became that of the image.
    Clear {
        lane: usize,
    },
    /// A change of mapping: pages were mapped, protected or unmapped.
    Map {
        lane: usize,
        pages: Range<u64>,
        mapping: Mapping,
    },
    /// The console handles that consecutive lanes may write to without the host.
    Console {
        first: usize,
        end: usize,
        handles: u32,
    },
    /// The host fetched the console output of all lanes.
    Drain,
    Snapshot,
    /// A reset of some lanes, or of all for `None`.
    Reset(Option<Box<[u32]>>),
    FramesMax(usize),
    /// New hooks.
    Hooks(Arc<Hooks>),
    Run(Box<RecordedRun>),
}

/// A recorded run.
#[derive(Debug)]
struct RecordedRun {
    /// The limit of steps of each lane, or one limit for all lanes.
    limits: Arc<[u64]>,
    end: RunEnd,
    /// The number of steps that all lanes together have retired. If the device was lost, the largest number that one
    /// lane can have retired.
    steps: u64,
}

/// The end of a recorded run.
#[derive(Debug)]
pub(super) enum RunEnd {
    /// All lanes have stopped.
    Complete,
    /// The observer ended the run. These lanes had not stopped and had retired these numbers of steps.
    Interrupted(Vec<(usize, u64)>),
    /// The device was lost.
    Lost,
}

/// Returns the SIMD registers that differ: bit n stands for Vn.
fn differing(before: &[u128; 32], now: &[u128; 32]) -> u64 {
    before
        .iter()
        .zip(now)
        .enumerate()
        .fold(0, |bits, (n, (before, now))| bits | u64::from(before != now) << n)
}

impl Journal {
    fn length(&self) -> JournalLength {
        JournalLength {
            entries: self.entries.len(),
            words: self.words.len(),
            bytes: self.bytes.len(),
            boxed_bytes: self.boxed_bytes,
        }
    }

    /// Returns the size of the journal in bytes, without the checkpoint.
    pub(super) fn size(&self) -> u64 {
        let JournalLength { entries, words, bytes, boxed_bytes } = self.length();
        (entries * size_of::<Entry>() + words * 8 + bytes + boxed_bytes) as u64
    }

    /// Returns whether a replay restores the state of the lanes.
    pub(super) const fn is_certain(&self) -> bool {
        self.uncertain_from.is_none()
    }

    /// Returns an error if a replay does not restore the state of the lanes.
    pub(super) fn check_certain(&self) -> Result<(), kvrm_machine::Error> {
        if self.is_certain() {
            return Ok(());
        }
        Err(state_lost("before the loss, the memory of the GPU was full, or a call failed half done"))
    }

    /// Marks the state as one that the journal cannot reproduce.
    pub(super) fn mark_uncertain(&mut self) {
        self.uncertain_from.get_or_insert(self.entries.len());
    }

    /// Begins a new journal from a checkpoint. `has_snapshot` says whether the checkpoint contains a snapshot.
    pub(super) fn restart(&mut self, base: Checkpoint, has_snapshot: bool) {
        let (limits, frames_max, hooks) = (Arc::clone(&self.limits), self.frames_max, self.hooks.take());
        let snapshot = has_snapshot.then(JournalLength::default);
        *self = Self { base: Some(base), snapshot, limits, frames_max, hooks, ..Self::default() };
        self.push_hooks();
    }

    /// Records the registers of a lane. `before` are its previous registers, if they are known.
    pub(super) fn registers(&mut self, lane: usize, before: Option<&Cpu>, cpu: &Cpu) {
        let simd = before.map_or(u64::from(u32::MAX), |before| differing(&before.v, &cpu.v));
        let words = |cpu| {
            let mut words = [0; REGISTER_COLUMNS];
            set_cpu(&mut words, cpu);
            words
        };
        let now = words(cpu);
        let changed = before.map_or(CPU_COLUMNS, |before| differences(&words(before), &now));
        self.push_registers(lane, changed, &now, (simd, &cpu.v));
    }

    /// Records a new state of all lanes.
    pub(super) fn start_all(&mut self, start: &LaneStart) {
        self.boxed_bytes += size_of_val(start);
        self.entries.push(Entry::StartAll(Box::new(start.clone())));
    }

    /// Records the new words of lanes in a column.
    pub(super) fn column(&mut self, column: u32, lanes: &[usize], words: &[u64]) {
        self.words.extend(words);
        let entry = |&lane| Entry::Registers { lane, changed: 1 << column };
        self.entries.extend(lanes.iter().map(entry));
    }

    /// Records the process state of a lane.
    pub(super) fn process_state(&mut self, lane: usize, state: &ProcessState) {
        let mut words = [0; REGISTER_COLUMNS];
        set_process_state(&mut words, state);
        self.push_registers(lane, ALL_COLUMNS & !CPU_COLUMNS, &words, (0, &[0; 32]));
    }

    /// Records the words whose bits are set in `changed`, and the SIMD registers whose bits are set in `simd`.
    fn push_registers(
        &mut self,
        lane: usize,
        mut changed: u64,
        words: &Words,
        (simd, vectors): (u64, &[u128; 32]),
    ) {
        self.words.extend(columns(changed).map(|column| words[column as usize]));
        if simd != 0 {
            changed |= SIMD;
            self.words.push(simd);
            let of_simd = vectors.iter().enumerate().filter(|(n, _)| simd >> n & 1 == 1);
            self.words.extend(of_simd.flat_map(|(_, v)| [*v as u64, (*v >> 64) as u64]));
        }
        if changed != 0 {
            self.entries.push(Entry::Registers { lane, changed });
        }
    }

    /// Records the changes of lanes by services. `memory` returns the pending changes of a lane's memory, and the index of the
    /// first change by its service.
    pub(super) fn services<'a>(
        &mut self,
        all: &[LaneChanges],
        memory: impl Fn(&LaneChanges) -> (&'a Pending, usize) + Sync,
    ) {
        let parts: Vec<Self> = all
            .par_chunks(LANES_OF_PART)
            .map(|lanes| {
                let mut part = Self::default();
                for changes in lanes {
                    let (pending, first) = memory(changes);
                    part.service(changes, pending.from(first));
                }
                part
            })
            .collect();
        for Self { entries, words, bytes, .. } in parts {
            self.entries.extend(entries);
            self.words.extend(words);
            self.bytes.extend(bytes);
        }
    }

    /// Records the changes of a lane by a service.
    fn service<'a>(&mut self, changes: &LaneChanges, memory: impl Iterator<Item = Change<'a>>) {
        for change in memory {
            match change {
                // The permission was checked when the service wrote.
                Change::Write { address, bytes } => self.write(changes.lane, address, bytes, None),
                Change::Map { pages, mapping } => self.map(changes.lane, pages.clone(), mapping),
                Change::Clear => self.clear_memory(changes.lane),
            }
        }
        let [before, now] = changes.vectors.as_deref().unwrap_or(&[[0; 32]; 2]);
        self.push_registers(changes.lane, changes.changed, &changes.words, (differing(before, now), now));
        if let Some(stop) = changes.stop {
            self.stop(changes.lane, stop);
        }
        if let Some(handles) = changes.console {
            self.console(changes.lane, handles);
        }
    }

    pub(super) fn stop(&mut self, lane: usize, stop: Option<Stop>) {
        // In most cases all lanes get the same stop, one after the other.
        match self.entries.last_mut() {
            Some(Entry::Stop { end, stop: last, .. }) if *end == lane && *last == stop => *end += 1,
            _ => self.entries.push(Entry::Stop { first: lane, end: lane + 1, stop }),
        }
    }

    /// Records the new stop of some lanes, in one entry.
    pub(super) fn stops(&mut self, lanes: &[usize], stop: Option<Stop>) {
        if lanes.is_sorted_by(|a, b| a + 1 == *b) {
            lanes.iter().for_each(|lane| self.stop(*lane, stop));
        } else {
            let lanes = self.numbers(lanes.iter().copied());
            self.entries.push(Entry::Stops { lanes, stop });
        }
    }

    /// Returns the numbers of lanes in the form that entries have, and counts their bytes.
    fn numbers(&mut self, lanes: impl Iterator<Item = usize>) -> Box<[u32]> {
        let numbers: Box<[u32]> = lanes.map(|lane| lane as u32).collect();
        self.boxed_bytes += size_of_val(&numbers[..]);
        numbers
    }

    pub(super) fn console(&mut self, lane: usize, handles: u32) {
        match self.entries.last_mut() {
            Some(Entry::Console { end, handles: last, .. }) if *end == lane && *last == handles => *end += 1,
            _ => self.entries.push(Entry::Console { first: lane, end: lane + 1, handles }),
        }
    }

    pub(super) fn drain(&mut self) {
        self.entries.push(Entry::Drain);
    }

    pub(super) fn write(&mut self, lane: usize, address: u64, bytes: &[u8], access: Option<Access>) {
        self.bytes.extend(bytes);
        self.entries.push(Entry::Write { lane, address, bytes: bytes.len(), access });
    }

    /// Records writes of rows at the same address, in one entry if the rows have the same size.
    pub(super) fn write_rows(&mut self, address: u64, rows: &[(usize, &[u8])]) {
        let Some((_, first)) = rows.first() else { return };
        let bytes = first.len();
        if rows.iter().all(|(_, row)| row.len() == bytes) {
            rows.iter().for_each(|(_, row)| self.bytes.extend(*row));
            let lanes = self.numbers(rows.iter().map(|(lane, _)| *lane));
            self.entries.push(Entry::Rows { lanes, address, bytes });
        } else {
            rows.iter().for_each(|(lane, row)| self.write(*lane, address, row, None));
        }
    }

    pub(super) fn map(&mut self, lane: usize, pages: Range<u64>, mapping: Mapping) {
        self.entries.push(Entry::Map { lane, pages, mapping });
    }

    pub(super) fn clear_memory(&mut self, lane: usize) {
        self.entries.push(Entry::Clear { lane });
    }

    pub(super) fn frames_max(&mut self, frames_max: usize) {
        self.frames_max = Some(frames_max);
        self.entries.push(Entry::FramesMax(frames_max));
    }

    pub(super) fn hooks(&mut self, hooks: &Hooks) {
        self.hooks = Some(Arc::new(hooks.clone()));
        self.push_hooks();
    }

    /// Appends the hooks that were set last, if any were set.
    fn push_hooks(&mut self) {
        if let Some(hooks) = &self.hooks {
            self.boxed_bytes += hooks.keys().count() * size_of::<Range<u64>>();
            self.entries.push(Entry::Hooks(Arc::clone(hooks)));
        }
    }

    pub(super) fn snapshot(&mut self) {
        self.entries.push(Entry::Snapshot);
        self.snapshot = Some(self.length());
    }

    pub(super) fn reset(&mut self, lanes: &[usize], all: usize) {
        let mut named = vec![false; all];
        lanes.iter().for_each(|&lane| named[lane] = true);
        match self.snapshot {
            Some(there) if named.iter().all(|named| *named) => self.truncate_to(there),
            _ => {
                let lanes = self.numbers(lanes.iter().copied());
                self.entries.push(Entry::Reset(Some(lanes)));
            }
        }
    }

    /// Removes the entries since the snapshot, because all lanes are back at it.
    fn truncate_to(&mut self, there: JournalLength) {
        self.entries.truncate(there.entries);
        self.words.truncate(there.words);
        self.bytes.truncate(there.bytes);
        self.boxed_bytes = there.boxed_bytes;
        self.uncertain_from = self.uncertain_from.filter(|uncertain_from| *uncertain_from < there.entries);
        if let Some(frames_max) = self.frames_max {
            self.frames_max(frames_max);
        }
        self.push_hooks();
        // The state of a checkpoint may be later than the snapshot in it, so the replay has to reset the lanes.
        self.entries.push(Entry::Reset(None));
    }

    pub(super) fn run(&mut self, limits: &[u64], end: RunEnd, progress: RunProgress) {
        if progress.is_full {
            self.mark_uncertain();
        }
        if matches!(end, RunEnd::Lost) && progress.steps_max == 0 {
            return;
        }
        let limits = match limits {
            [first, others @ ..] if others.iter().all(|other| other == first) => &limits[..1],
            _ => limits,
        };
        if *self.limits != *limits {
            self.limits = limits.into();
            self.boxed_bytes += size_of_val(limits);
        }
        let mut steps = progress.steps;
        match &end {
            RunEnd::Interrupted(lanes) => self.boxed_bytes += size_of_val(&lanes[..]),
            RunEnd::Lost => steps = progress.steps_max,
            RunEnd::Complete => {}
        }
        self.boxed_bytes += size_of::<RecordedRun>();
        let limits = Arc::clone(&self.limits);
        self.entries.push(Entry::Run(Box::new(RecordedRun { limits, end, steps })));
    }

    /// Replays the journal on new lanes.
    pub(super) fn replay(&self, executor: &mut GpuExecutor) -> Result<(), kvrm_machine::Error> {
        self.check_certain()?;
        if let Some(base) = &self.base
            && !executor.restore(base)?
        {
            return Err(state_lost("the GPU has less free memory than before the loss"));
        }
        let (mut words, mut bytes) = (&self.words[..], &self.bytes[..]);
        for entry in &self.entries {
            match entry {
                Entry::StartAll(start) => executor.set_all(start)?,
                Entry::Registers { lane, changed } => {
                    replay_registers(executor, *lane, *changed, &mut words)?;
                }
                Entry::Stop { first, end, stop } => {
                    executor.set_stops(&(*first..*end).collect::<Vec<_>>(), *stop)?;
                }
                Entry::Stops { lanes, stop } => executor.set_stops(&indices(lanes), *stop)?,
                Entry::Rows { lanes, address, bytes: count } => {
                    let (all, rest) = bytes.split_at(lanes.len() * count);
                    bytes = rest;
                    let row = |index: usize| &all[index * count..][..*count];
                    let rows = indices(lanes).into_iter().enumerate();
                    let rows: Vec<_> = rows.map(|(index, lane)| (lane, row(index))).collect();
                    if executor.write_memory_of_each(*address, &rows)?.is_err() {
                        return Err(failed_write());
                    }
                }
                Entry::Write { lane, address, bytes: count, access } => {
                    let (piece, rest) = bytes.split_at(*count);
                    bytes = rest;
                    if *address >= PIPE_ADDRESS {
                        executor.write_window(*lane, *address, piece);
                    } else if executor.write_memory(*lane, *address, piece, *access)?.is_err() {
                        return Err(failed_write());
                    }
                }
                Entry::Clear { lane } => executor.clear_memory(*lane)?,
                Entry::Map { lane, pages, mapping } => {
                    if !executor.map(*lane, pages.clone(), *mapping)? {
                        return Err(state_lost(
                            "pages that were mapped before the loss cannot be mapped in the replay",
                        ));
                    }
                }
                Entry::Console { first, end, handles } => {
                    (*first..*end).try_for_each(|lane| executor.set_console(lane, *handles))?;
                }
                Entry::Drain => {
                    executor.drain_console(&mut |_, _| ())?;
                }
                Entry::Snapshot => executor.snapshot()?,
                Entry::Reset(Some(lanes)) => executor.reset(&indices(lanes))?,
                Entry::Reset(None) => executor.reset(&(0..executor.lanes()).collect::<Vec<_>>())?,
                Entry::FramesMax(frames_max) => executor.set_frames_max(*frames_max)?,
                Entry::Hooks(hooks) => executor.set_hooks(hooks)?,
                Entry::Run(run) => run.replay(executor)?,
            }
        }
        Ok(())
    }
}

/// Replays a change of registers. Takes their values from the front of `words`.
fn replay_registers(
    executor: &mut GpuExecutor,
    lane: usize,
    changed: u64,
    words: &mut &[u64],
) -> Result<(), Error> {
    let mut next = || {
        let (first, rest) = words.split_first().unwrap_or((&0, &[]));
        *words = rest;
        *first
    };
    let mut now = [0; REGISTER_COLUMNS];
    columns(changed).for_each(|column| now[column as usize] = next());
    executor.set_words(lane, changed & ALL_COLUMNS, &now)?;
    if changed & SIMD != 0 {
        let simd = next();
        let mut vectors = executor.vectors(lane)?;
        for (_, v) in vectors.iter_mut().enumerate().filter(|(n, _)| simd >> n & 1 == 1) {
            *v = u128::from(next()) | u128::from(next()) << 64;
        }
        executor.set_vectors(lane, &vectors)?;
    }
    Ok(())
}

impl RecordedRun {
    fn replay(&self, executor: &mut GpuExecutor) -> Result<(), kvrm_machine::Error> {
        let lanes = executor.lanes();
        let mut limits =
            if self.limits.len() == 1 { vec![self.limits[0]; lanes] } else { self.limits.to_vec() };
        // The lanes that must stop before their limits, and the number of steps at which they must stop.
        let mut short = Vec::new();
        match &self.end {
            RunEnd::Complete => {}
            RunEnd::Interrupted(unfinished) => short.clone_from(unfinished),
            RunEnd::Lost => {
                let mut steps = Vec::new();
                executor.registers(Register::Steps, &mut steps)?;
                for lane in 0..lanes {
                    let most = steps[lane].saturating_add(self.steps);
                    if most < limits[lane] && executor.stop(lane)?.is_none() {
                        short.push((lane, most));
                    }
                }
            }
        }
        short.iter().for_each(|(lane, steps)| limits[*lane] = *steps);
        executor.run(&limits, &mut |_| ControlFlow::Continue(()))?;
        // For a run that lost its device, the number of steps of all lanes is not known.
        let RunProgress { steps, is_full, .. } = executor.last_run;
        if is_full {
            return Err(state_lost("the GPU has less free memory than before the loss"));
        }
        if !matches!(self.end, RunEnd::Lost) && steps != self.steps {
            return Err(state_lost(&format!(
                "a run of {} steps takes {steps} steps in the replay",
                self.steps
            )));
        }
        for (lane, _) in short {
            if executor.stop(lane)? == Some(Stop::Budget) {
                executor.set_stop(lane, None)?;
            }
        }
        Ok(())
    }
}

/// Returns the lanes with these numbers, as the executor takes them.
fn indices(numbers: &[u32]) -> Vec<usize> {
    numbers.iter().map(|lane| *lane as usize).collect()
}

fn failed_write() -> kvrm_machine::Error {
    state_lost("a write that succeeded before the loss fails in the replay")
}

fn state_lost(reason: &str) -> kvrm_machine::Error {
    Error::StateLost { reason: reason.to_owned() }.into()
}
