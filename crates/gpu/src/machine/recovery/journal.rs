//! What the host has done to lanes, as compact as it can be, and how it is done again.

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use kvrm_arm64::{Access, Cpu, Stop};
use kvrm_machine::{Executor, Mapping, ProcessState, Register};

use crate::device::error::Error;
use crate::machine::engine::GpuExecutor;
use crate::machine::engine::apart::Done;
use crate::machine::engine::cache::Change;
use crate::machine::engine::checkpoint::Checkpoint;
use crate::machine::engine::lanes::Ran;
use crate::machine::engine::registers::{
    ALL_COLUMNS, CPU_COLUMNS, REGISTER_COLUMNS, Words, columns, differences, set_cpu, set_process_state,
};

/// In the bits of changed registers: some SIMD registers; the next word has their bits.
const SIMD: u64 = 1 << 63;

/// How lanes came to be what they are: from a checkpoint, or from nothing, by the entries.
#[derive(Debug, Default)]
pub(super) struct Journal {
    base: Option<Checkpoint>,
    entries: Vec<Entry>,
    /// Registers that entries have changed, one entry's behind the other's.
    words: Vec<u64>,
    /// Bytes that entries have written, likewise.
    bytes: Vec<u8>,
    /// What entries hold elsewhere, in bytes.
    elsewhere: usize,
    /// What was there when the snapshot was taken, if there is one.
    snapshot: Option<Length>,
    /// How many entries there were when the lanes became something that they cannot tell.
    unsure: Option<usize>,
    /// The limits of the last run: mostly those of the next one, too.
    limits: Arc<[u64]>,
    /// What a reset does not take back.
    frames_max: Option<usize>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Length {
    entries: usize,
    words: usize,
    bytes: usize,
    elsewhere: usize,
}

/// A change of lanes.
#[derive(Debug)]
enum Entry {
    /// New values of registers; bit n is column n.
    Registers {
        lane: usize,
        changed: u64,
    },
    /// The stop of lanes one behind the other.
    Stop {
        first: usize,
        end: usize,
        stop: Option<Stop>,
    },
    /// So many bytes were written.
    Write {
        lane: usize,
        address: u64,
        bytes: usize,
        access: Option<Access>,
    },
    /// Pages were mapped, protected or unmapped.
    Map {
        lane: usize,
        pages: Range<u64>,
        mapping: Mapping,
    },
    /// Which console output lanes one behind the other need no host for.
    Console {
        first: usize,
        end: usize,
        handles: u32,
    },
    /// The host took what lanes had written.
    Drain,
    Snapshot,
    /// The lanes, or `None` for all.
    Reset(Option<Box<[usize]>>),
    FramesMax(usize),
    Run(Box<Run>),
}

/// A run.
#[derive(Debug)]
struct Run {
    /// One for each lane, or one for all.
    limits: Arc<[u64]>,
    end: End,
    /// Steps of all lanes.
    steps: u64,
}

/// How a run ended.
#[derive(Debug)]
pub(super) enum End {
    /// All lanes stopped.
    Complete,
    /// It was broken off where these lanes had retired so many steps; the others had stopped.
    BrokenOff(Vec<(usize, u64)>),
    /// The device was lost.
    Lost,
}

/// Which SIMD registers differ, a bit each.
fn differing(before: &[u128; 32], now: &[u128; 32]) -> u64 {
    before
        .iter()
        .zip(now)
        .enumerate()
        .fold(0, |bits, (n, (before, now))| bits | u64::from(before != now) << n)
}

impl Journal {
    fn length(&self) -> Length {
        Length {
            entries: self.entries.len(),
            words: self.words.len(),
            bytes: self.bytes.len(),
            elsewhere: self.elsewhere,
        }
    }

    /// How many bytes it takes, without those of the checkpoint.
    pub(super) fn size(&self) -> u64 {
        let Length { entries, words, bytes, elsewhere } = self.length();
        (entries * size_of::<Entry>() + words * 8 + bytes + elsewhere) as u64
    }

    /// Whether lanes can be made again from it.
    pub(super) const fn is_sure(&self) -> bool {
        self.unsure.is_none()
    }

    /// Fails if they cannot.
    pub(super) fn check_sure(&self) -> Result<(), kvrm_machine::Error> {
        if self.is_sure() {
            return Ok(());
        }
        Err(lost("before that, the memory of the GPU was full, or a call failed half done"))
    }

    /// The lanes are something now that cannot be told.
    pub(super) fn doubt(&mut self) {
        self.unsure.get_or_insert(self.entries.len());
    }

    /// Begins again from a checkpoint, with a snapshot in it or without.
    pub(super) fn begin(&mut self, base: Checkpoint, has_snapshot: bool) {
        let (limits, frames_max) = (Arc::clone(&self.limits), self.frames_max);
        let snapshot = has_snapshot.then(Length::default);
        *self = Self { base: Some(base), snapshot, limits, frames_max, ..Self::default() };
    }

    /// A lane has these registers now, and had those `before`, if that is known.
    pub(super) fn registers(&mut self, lane: usize, before: Option<&Cpu>, cpu: &Cpu) {
        let simd = before.map_or(u64::from(u32::MAX), |before| differing(&before.v, &cpu.v));
        let words = |cpu| {
            let mut words = [0; REGISTER_COLUMNS];
            set_cpu(&mut words, cpu);
            words
        };
        let now = words(cpu);
        let changed = before.map_or(CPU_COLUMNS, |before| differences(&words(before), &now));
        self.changes(lane, changed, &now, (simd, &cpu.v));
    }

    /// A lane has this process state now.
    pub(super) fn process_state(&mut self, lane: usize, state: &ProcessState) {
        let mut words = [0; REGISTER_COLUMNS];
        set_process_state(&mut words, state);
        self.changes(lane, ALL_COLUMNS & !CPU_COLUMNS, &words, (0, &[0; 32]));
    }

    /// Notes the words that have changed, a bit each, and the SIMD registers that `simd` has a bit for.
    fn changes(&mut self, lane: usize, mut changed: u64, words: &Words, (simd, vectors): (u64, &[u128; 32])) {
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

    /// A service has done this to a lane.
    pub(super) fn apart(&mut self, done: &Done, changes: &[Change]) {
        for change in changes {
            match change {
                // That it was permitted has been checked.
                Change::Write { address, bytes } => self.write(done.lane, *address, bytes, None),
                Change::Map { pages, mapping } => self.map(done.lane, pages.clone(), *mapping),
            }
        }
        let [before, now] = done.vectors.as_deref().unwrap_or(&[[0; 32]; 2]);
        self.changes(done.lane, done.changed, &done.words, (differing(before, now), now));
        if let Some(stop) = done.stop {
            self.stop(done.lane, stop);
        }
        if let Some(handles) = done.console {
            self.console(done.lane, handles);
        }
    }

    pub(super) fn stop(&mut self, lane: usize, stop: Option<Stop>) {
        // Mostly all lanes get the same, one after the other.
        match self.entries.last_mut() {
            Some(Entry::Stop { end, stop: last, .. }) if *end == lane && *last == stop => *end += 1,
            _ => self.entries.push(Entry::Stop { first: lane, end: lane + 1, stop }),
        }
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

    pub(super) fn map(&mut self, lane: usize, pages: Range<u64>, mapping: Mapping) {
        self.entries.push(Entry::Map { lane, pages, mapping });
    }

    pub(super) fn frames_max(&mut self, frames_max: usize) {
        self.frames_max = Some(frames_max);
        self.entries.push(Entry::FramesMax(frames_max));
    }

    pub(super) fn snapshot(&mut self) {
        self.entries.push(Entry::Snapshot);
        self.snapshot = Some(self.length());
    }

    pub(super) fn reset(&mut self, lanes: &[usize], all: usize) {
        let mut named = vec![false; all];
        lanes.iter().for_each(|&lane| named[lane] = true);
        match self.snapshot {
            Some(there) if named.iter().all(|named| *named) => self.forget(there),
            _ => {
                self.elsewhere += size_of_val(lanes);
                self.entries.push(Entry::Reset(Some(lanes.into())));
            }
        }
    }

    /// All lanes are back at the snapshot, so that what has been done since is of no more use.
    fn forget(&mut self, there: Length) {
        self.entries.truncate(there.entries);
        self.words.truncate(there.words);
        self.bytes.truncate(there.bytes);
        self.elsewhere = there.elsewhere;
        self.unsure = self.unsure.filter(|unsure| *unsure < there.entries);
        if let Some(frames_max) = self.frames_max {
            self.frames_max(frames_max);
        }
        // The snapshot of a checkpoint is not where that goes on from.
        self.entries.push(Entry::Reset(None));
    }

    pub(super) fn run(&mut self, limits: &[u64], end: End, ran: Ran) {
        if ran.is_full {
            self.doubt();
        }
        if matches!(end, End::Lost) && ran.steps_max == 0 {
            return;
        }
        let limits = match limits {
            [first, others @ ..] if others.iter().all(|other| other == first) => &limits[..1],
            _ => limits,
        };
        if *self.limits != *limits {
            self.limits = limits.into();
            self.elsewhere += size_of_val(limits);
        }
        let mut steps = ran.steps;
        match &end {
            End::BrokenOff(lanes) => self.elsewhere += size_of_val(&lanes[..]),
            End::Lost => steps = ran.steps_max,
            End::Complete => {}
        }
        self.elsewhere += size_of::<Run>();
        let limits = Arc::clone(&self.limits);
        self.entries.push(Entry::Run(Box::new(Run { limits, end, steps })));
    }

    /// Does all of it again, to lanes that are new.
    pub(super) fn replay(&self, executor: &mut GpuExecutor) -> Result<(), kvrm_machine::Error> {
        self.check_sure()?;
        if let Some(base) = &self.base
            && !executor.restore(base)?
        {
            return Err(lost("there is less memory on the GPU than there was"));
        }
        let (mut words, mut bytes) = (&self.words[..], &self.bytes[..]);
        for entry in &self.entries {
            match entry {
                Entry::Registers { lane, changed } => {
                    replay_registers(executor, *lane, *changed, &mut words)?;
                }
                Entry::Stop { first, end, stop } => {
                    (*first..*end).try_for_each(|lane| executor.set_stop(lane, *stop))?;
                }
                Entry::Write { lane, address, bytes: count, access } => {
                    let (piece, rest) = bytes.split_at(*count);
                    bytes = rest;
                    if executor.write_memory(*lane, *address, piece, *access)?.is_err() {
                        return Err(lost("a write that succeeded fails now"));
                    }
                }
                Entry::Map { lane, pages, mapping } => {
                    if !executor.map(*lane, pages.clone(), *mapping)? {
                        return Err(lost("pages that were mapped cannot be mapped now"));
                    }
                }
                Entry::Console { first, end, handles } => {
                    (*first..*end).try_for_each(|lane| executor.set_console(lane, *handles))?;
                }
                Entry::Drain => {
                    executor.drain_console(&mut |_, _| ())?;
                }
                Entry::Snapshot => executor.snapshot()?,
                Entry::Reset(Some(lanes)) => executor.reset(lanes)?,
                Entry::Reset(None) => executor.reset(&(0..executor.lanes()).collect::<Vec<_>>())?,
                Entry::FramesMax(frames_max) => executor.set_frames_max(*frames_max)?,
                Entry::Run(run) => run.replay(executor)?,
            }
        }
        Ok(())
    }
}

/// Changes registers of a lane, whose words are the first ones of `words`.
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

impl Run {
    fn replay(&self, executor: &mut GpuExecutor) -> Result<(), kvrm_machine::Error> {
        let lanes = executor.lanes();
        let mut limits =
            if self.limits.len() == 1 { vec![self.limits[0]; lanes] } else { self.limits.to_vec() };
        // Lanes that go no further than they went, although their limits let them.
        let mut short = Vec::new();
        match &self.end {
            End::Complete => {}
            End::BrokenOff(unfinished) => short.clone_from(unfinished),
            End::Lost => {
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
        // Of a slice that was lost nobody knows how far each lane would have come.
        let Ran { steps, is_full, .. } = executor.ran;
        if is_full {
            return Err(lost("there is less memory on the GPU than there was"));
        }
        if !matches!(self.end, End::Lost) && steps != self.steps {
            return Err(lost(&format!("a run of {} steps takes {steps} now", self.steps)));
        }
        for (lane, _) in short {
            if executor.stop(lane)? == Some(Stop::Budget) {
                executor.set_stop(lane, None)?;
            }
        }
        Ok(())
    }
}

fn lost(reason: &str) -> kvrm_machine::Error {
    Error::StateLost { reason: reason.to_owned() }.into()
}
