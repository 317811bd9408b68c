//! Views of single lanes, so that threads can serve them at the same time.
//!
//! What a service does to memory goes where the host keeps such changes for the device, lane by lane. What it does to
//! registers is taken over when all lanes are done.

use std::ops::Range;
use std::sync::Mutex;

use kvrm_arm64::{Access, Cpu, Fault, Stop};
use kvrm_machine::{LaneAccess, Mapping, PageMap, ProcessState, pick, pieces};
use kvrm_shaders::layout::{
    COLUMN_CONSOLE, COLUMN_HEAD, COLUMN_HEAP_END, COLUMN_STOP, COLUMN_STOP_ADDRESS, COLUMN_TAIL, COLUMN_V,
};
use rayon::prelude::*;

use super::cache::{Change, LaneCache, fetch_pages};
use super::lanes::{Found, GpuExecutor};
use super::registers::{self, REGISTER_COLUMNS, Words, columns, differences};
use super::stops;
use super::words::{LANES_MIN, PAGE, halves};
use crate::device::error::Error;
use crate::device::lock::lock;
use crate::machine::store::Store;

/// SIMD registers as they were and as they are.
type Vectors = Box<[[u128; 32]; 2]>;

/// What was done to a lane, but for its memory.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) lane: usize,
    /// Its registers and its process state; which of these words have changed, a bit each.
    pub(crate) words: Words,
    pub(crate) changed: u64,
    /// SIMD registers as they were and as they are, if they were looked at.
    pub(crate) vectors: Option<Vectors>,
    pub(crate) stop: Option<Option<Stop>>,
    /// What the lane may write to the console by itself.
    pub(crate) console: Option<u32>,
    /// Whether the device has failed. Then nothing was done.
    has_failed: bool,
    /// How many changes of its memory waited before.
    changes: usize,
}

/// A lane by itself.
struct LaneView<'a> {
    done: Done,
    cache: &'a mut LaneCache,
    map: &'a mut PageMap,
    /// What it was, if it has changed. A copy touches what lanes of all threads share.
    map_before: Option<PageMap>,
    /// How many pages it has written, and may write.
    written: u32,
    written_max: u32,
    has_simd: bool,
    store: &'a Mutex<&'a mut Store>,
}

impl GpuExecutor {
    /// Has lanes served, whose numbers ascend, and replaces `done` by what was done to each.
    ///
    /// Its memory is used again, as is that of what is found before: handing out so much takes longer than the services.
    pub(crate) fn serve_apart(
        &mut self,
        lanes: &[usize],
        serve: &(dyn Fn(usize, &mut dyn LaneAccess) + Sync),
        done: &mut Vec<Done>,
    ) -> Result<(), Error> {
        self.store.columns.fetch((0..REGISTER_COLUMNS as u32).chain([
            COLUMN_STOP,
            COLUMN_STOP_ADDRESS,
            COLUMN_TAIL,
            COLUMN_HEAD,
        ]))?;
        let columns = &self.store.columns;
        let found = lanes.par_iter().with_min_len(LANES_MIN).map(|&lane| {
            let mut words = [0; REGISTER_COLUMNS];
            (0..).zip(&mut words).for_each(|(column, word)| *word = columns.at_hand(column)[lane]);
            let (_, written) = halves(columns.at_hand(COLUMN_TAIL)[lane]);
            let (written_max, _) = halves(columns.at_hand(COLUMN_HEAD)[lane]);
            Found { words, written, written_max }
        });
        found.collect_into_vec(&mut self.found);
        let has_simd = self.has_simd;
        let store = Mutex::new(&mut self.store);
        let caches = pick(&mut self.cache.lanes, lanes);
        let maps = pick(&mut self.maps, lanes);
        let apart = lanes.par_iter().zip(&self.found).zip(caches).zip(maps).with_min_len(LANES_MIN);
        let served = apart.enumerate().map(|(index, (((&lane, found), cache), map))| {
            let Found { words, written, written_max } = *found;
            let changes = cache.pending.len();
            let done = Done {
                lane,
                words,
                changed: 0,
                vectors: None,
                stop: None,
                console: None,
                has_failed: false,
                changes,
            };
            let mut lane = LaneView {
                done,
                cache,
                map,
                map_before: None,
                written,
                written_max,
                has_simd,
                store: &store,
            };
            serve(index, &mut lane);
            if lane.done.has_failed {
                lane.cache.undo(changes);
                if let Some(before) = lane.map_before {
                    *lane.map = before;
                }
                let done = &mut lane.done;
                (done.words, done.vectors, done.stop, done.console) = (words, None, None, None);
            }
            lane.done.changed = differences(&words, &lane.done.words);
            lane.done
        });
        served.collect_into_vec(done);
        lanes.iter().for_each(|&lane| self.cache.note(lane));
        Ok(())
    }

    /// What a service has done to the memory of its lane.
    pub(crate) fn changes(&self, done: &Done) -> &[Change] {
        &self.cache.lanes[done.lane].pending[done.changes..]
    }

    /// Takes over what was done to registers and stops.
    pub(crate) fn take_over(&mut self, all: &[Done]) -> Result<(), Error> {
        let changed = all.iter().fold(0, |changed, done| changed | done.changed);
        // All of it is fetched first, as that may fail: a call that fails changes nothing.
        let has_vectors = all.iter().any(|done| done.vectors.is_some());
        let simd = if has_vectors { COLUMN_V..COLUMN_V + 64 } else { 0..0 };
        let always = [COLUMN_STOP, COLUMN_STOP_ADDRESS, COLUMN_CONSOLE];
        self.store.columns.fetch(columns(changed).chain(always).chain(simd))?;
        // Column by column, as the words of a column lie together.
        self.store.columns.change(columns(changed), |column, words| {
            for done in all.iter().filter(|done| done.changed >> column & 1 == 1) {
                words[done.lane] = done.words[column as usize];
            }
        })?;
        self.store.columns.change([COLUMN_STOP, COLUMN_STOP_ADDRESS], |column, words| {
            for (lane, stop) in all.iter().filter_map(|done| Some((done.lane, done.stop?))) {
                let (code, address) = stops::encode(stop);
                words[lane] = if column == COLUMN_STOP { code } else { address };
            }
        })?;
        if changed >> COLUMN_HEAP_END & 1 == 1 && !self.heap_ends.is_empty() {
            all.iter().for_each(|done| self.heap_ends[done.lane] = done.words[COLUMN_HEAP_END as usize]);
        }
        for done in all {
            if let Some(handles) = done.console {
                self.set_console_handles(done.lane, handles)?;
            }
            if let Some([before, now]) = done.vectors.as_deref()
                && before != now
            {
                self.set_vectors(done.lane, now)?;
            }
        }
        Ok(())
    }
}

impl LaneView<'_> {
    /// Brings the pages of a mapped range that are not known.
    fn fetch(&mut self, address: u64, bytes: usize) -> Result<(), Error> {
        let missing: Vec<u64> = self.cache.missing(address, bytes).collect();
        for number in missing {
            if self.map.page(number).is_some() {
                let fetched = fetch_pages(&mut lock(self.store), &[(self.done.lane, number)]);
                self.done.has_failed |= fetched.is_err();
                self.cache.learn(number, fetched?.swap_remove(0));
            }
        }
        Ok(())
    }

    /// Whether the lane may write all pages of a range.
    fn has_frames(&mut self, address: u64, bytes: usize) -> Result<bool, Error> {
        let left = self.written_max.saturating_sub(self.written) as usize;
        // Mostly there is room even if every page is new.
        if self.cache.pending.len() + pieces(address, bytes).count() <= left {
            return Ok(true);
        }
        let pages = self.cache.written(address, bytes);
        let mut fresh = 0;
        for page in pages {
            self.fetch(page * PAGE, 1)?;
            // What was written and is not mapped any more counts, too.
            fresh += usize::from(self.cache.is_fresh(page).unwrap_or(true));
        }
        Ok(fresh <= left)
    }
}

impl LaneAccess for LaneView<'_> {
    fn set_stop(&mut self, stop: Option<Stop>) -> Result<(), kvrm_machine::Error> {
        self.done.stop = Some(stop);
        Ok(())
    }

    fn general(&mut self) -> Result<Cpu, kvrm_machine::Error> {
        Ok(registers::cpu(&self.done.words))
    }

    fn set_general(&mut self, cpu: &Cpu) -> Result<(), kvrm_machine::Error> {
        registers::set_cpu(&mut self.done.words, cpu);
        Ok(())
    }

    fn vectors(&mut self) -> Result<[u128; 32], kvrm_machine::Error> {
        if self.done.vectors.is_none() {
            let mut before = [0; 32];
            if self.has_simd {
                let mut store = lock(self.store);
                let columns = &mut store.columns;
                let fetched = columns.fetch(COLUMN_V..COLUMN_V + 64);
                self.done.has_failed |= fetched.is_err();
                fetched?;
                for (column, v) in (COLUMN_V..).step_by(2).zip(&mut before) {
                    let half = |column| u128::from(columns.at_hand(column)[self.done.lane]);
                    *v = half(column) | half(column + 1) << 64;
                }
            }
            self.done.vectors = Some(Box::new([before; 2]));
        }
        Ok(self.done.vectors.as_deref().map_or([0; 32], |[_, now]| *now))
    }

    fn set_vectors(&mut self, vectors: &[u128; 32]) -> Result<(), kvrm_machine::Error> {
        self.vectors()?;
        if let Some([_, now]) = self.done.vectors.as_deref_mut() {
            *now = *vectors;
        }
        Ok(())
    }

    fn process_state(&mut self) -> Result<ProcessState, kvrm_machine::Error> {
        Ok(registers::process_state(&self.done.words))
    }

    fn set_process_state(&mut self, state: &ProcessState) -> Result<(), kvrm_machine::Error> {
        registers::set_process_state(&mut self.done.words, state);
        Ok(())
    }

    fn set_console(&mut self, handles: u32) -> Result<(), kvrm_machine::Error> {
        self.done.console = Some(handles);
        Ok(())
    }

    fn read_memory(
        &mut self,
        address: u64,
        out: &mut [u8],
        access: Option<Access>,
    ) -> Result<Result<(), Stop>, kvrm_machine::Error> {
        if let Err(fault) = self.map.check(address, out.len() as u64, Access::Read, access) {
            return Ok(Err(fault.into()));
        }
        if !self.cache.read(address, out) {
            self.fetch(address, out.len())?;
            self.cache.read(address, out);
        }
        Ok(Ok(()))
    }

    fn write_memory(
        &mut self,
        address: u64,
        bytes: &[u8],
        access: Option<Access>,
    ) -> Result<Result<(), Stop>, kvrm_machine::Error> {
        if let Err(fault) = self.map.check(address, bytes.len() as u64, Access::Write, access) {
            return Ok(Err(fault.into()));
        }
        if !self.has_frames(address, bytes.len())? {
            return Ok(Err(Stop::OutOfFrames));
        }
        self.cache.write(address, bytes);
        Ok(Ok(()))
    }

    fn check(
        &mut self,
        address: u64,
        bytes: u64,
        access: Access,
    ) -> Result<Result<(), Fault>, kvrm_machine::Error> {
        Ok(self.map.check(address, bytes, access, Some(access)))
    }

    fn page_map(&mut self) -> Result<PageMap, kvrm_machine::Error> {
        Ok(self.map.clone())
    }

    fn map(&mut self, pages: Range<u64>, mapping: Mapping) -> Result<bool, kvrm_machine::Error> {
        self.map_before.get_or_insert_with(|| self.map.clone());
        if pages.is_empty() || !self.map.map(&pages, mapping) {
            return Ok(pages.is_empty());
        }
        self.cache.map(pages, mapping);
        Ok(true)
    }
}
