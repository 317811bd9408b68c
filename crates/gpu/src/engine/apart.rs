//! Lanes taken apart, so that threads can serve them at the same time.
//!
//! A lane gets copies of what a service looks at, and keeps what the service does to it. The executor takes that over
//! when all of them are done.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use kvrm_arm64::{Access, Cpu, Stop};
use kvrm_machine::{LaneAccess, Mapping, PageMap, pieces};
use kvrm_shaders::layout::{
    COLUMN_FPCR, COLUMN_HEAD, COLUMN_STOP, COLUMN_STOP_ADDRESS, COLUMN_TAIL, COLUMN_V,
};
use rayon::prelude::*;

use super::memory::{Change, Page, fetch_pages};
use super::registers::{REGISTER_COLUMNS, Words, from_words, to_words};
use super::{GpuExecutor, PAGE, halves, stops};
use crate::error::Error;
use crate::store::Store;

/// The fewest lanes that a thread serves: waking it takes longer than a few services.
const LANES_MIN: usize = 16;

/// What was done to the memory of a lane.
#[derive(Debug)]
pub(crate) enum Action {
    Write { address: u64, bytes: Vec<u8>, access: Option<Access> },
    Map { pages: Range<u64>, mapping: Mapping },
}

/// SIMD registers as they were and as they are.
type Vectors = Box<[[u128; 32]; 2]>;

/// What was done to a lane.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) lane: usize,
    /// General registers as they were and as they are.
    pub(crate) before: Words,
    pub(crate) words: Words,
    /// The same of SIMD registers, if they were looked at.
    pub(crate) vectors: Option<Vectors>,
    pub(crate) stop: Option<Option<Stop>>,
    pub(crate) actions: Vec<Action>,
    map: PageMap,
    pages: BTreeMap<u64, Page>,
}

/// A lane by itself.
struct Apart<'a> {
    done: Done,
    /// How many pages it has written, and may write.
    written: u32,
    written_max: u32,
    has_simd: bool,
    store: &'a Mutex<&'a mut Store>,
}

impl GpuExecutor {
    /// Has lanes served, whose numbers ascend; says what was done to each.
    pub(crate) fn serve_apart(
        &mut self,
        lanes: &[usize],
        serve: &(dyn Fn(usize, &mut dyn LaneAccess) + Sync),
    ) -> Result<Vec<Done>, Error> {
        if lanes.iter().any(|lane| self.cache.pending.contains_key(lane)) {
            // What is fetched has to be what was written.
            self.flush_memory()?;
        }
        self.store.columns.fetch((0..=COLUMN_FPCR).chain([
            COLUMN_STOP,
            COLUMN_STOP_ADDRESS,
            COLUMN_TAIL,
            COLUMN_HEAD,
        ]))?;
        let columns = &self.store.columns;
        let words: Vec<(Words, u32, u32)> = lanes
            .par_iter()
            .with_min_len(LANES_MIN)
            .map(|&lane| {
                let mut words = [0; REGISTER_COLUMNS];
                (0..).zip(&mut words).for_each(|(column, word)| *word = columns.at_hand(column)[lane]);
                let (_, written) = halves(columns.at_hand(COLUMN_TAIL)[lane]);
                let (written_max, _) = halves(columns.at_hand(COLUMN_HEAD)[lane]);
                (words, written, written_max)
            })
            .collect();
        let store = Mutex::new(&mut self.store);
        let apart: Vec<Apart<'_>> = lanes
            .iter()
            .zip(words)
            .map(|(&lane, (words, written, written_max))| Apart {
                done: Done {
                    lane,
                    before: words,
                    words,
                    vectors: None,
                    stop: None,
                    actions: Vec::new(),
                    map: self.maps[lane].clone(),
                    pages: self.cache.pages.remove(&lane).unwrap_or_default(),
                },
                written,
                written_max,
                has_simd: self.has_simd,
                store: &store,
            })
            .collect();
        let served = apart.into_par_iter().with_min_len(LANES_MIN).enumerate().map(|(index, mut lane)| {
            serve(index, &mut lane);
            lane.done
        });
        Ok(served.collect())
    }

    /// Takes over what was done to lanes.
    pub(crate) fn take_over(&mut self, all: Vec<Done>) -> Result<(), Error> {
        for done in all {
            let Done { lane, before, words, vectors, stop, actions, map, mut pages } = done;
            let columns = &mut self.store.columns;
            for (column, (_, word)) in (0..).zip(before.iter().zip(words)).filter(|(_, (old, new))| *old != new) {
                columns.set(column, lane, word)?;
            }
            if let Some(stop) = stop {
                let (code, address) = stops::encode(stop);
                columns.set(COLUMN_STOP, lane, code)?;
                columns.set(COLUMN_STOP_ADDRESS, lane, address)?;
            }
            if let Some([before, now]) = vectors.as_deref()
                && before != now
            {
                self.has_simd = true;
                for (column, v) in (COLUMN_V..).step_by(2).zip(now) {
                    columns.set(column, lane, *v as u64)?;
                    columns.set(column + 1, lane, (*v >> 64) as u64)?;
                }
            }
            if !actions.is_empty() {
                let changes = self.cache.pending.entry(lane).or_default();
                for action in actions {
                    match action {
                        Action::Write { address, bytes, .. } => {
                            for (number, range) in pieces(address, bytes.len()) {
                                if let Some(page) = pages.get_mut(&number) {
                                    page.fresh = false;
                                }
                                let start = number * PAGE + range.start as u64;
                                let from = (start - address) as usize;
                                let bytes = bytes[from..from + range.len()].to_vec();
                                changes.push(Change::Write { address: start, bytes });
                            }
                        }
                        Action::Map { pages, mapping } => changes.extend(Change::map(&pages, mapping)),
                    }
                }
                self.maps[lane] = map;
            }
            if !pages.is_empty() {
                self.cache.pages.insert(lane, pages);
            }
        }
        Ok(())
    }
}

impl Apart<'_> {
    /// Brings a mapped page, as it is by now.
    fn fetch(&mut self, number: u64) -> Result<&mut Page, Error> {
        let Done { lane, pages, actions, .. } = &mut self.done;
        let place = match pages.entry(number) {
            Entry::Occupied(page) => return Ok(page.into_mut()),
            Entry::Vacant(place) => place,
        };
        let mut page = fetch_pages(&mut lock(self.store), &[(*lane, number)])?.swap_remove(0);
        for action in actions {
            match action {
                Action::Write { address, bytes, .. } => {
                    let mut done = 0;
                    for (other, range) in pieces(*address, bytes.len()) {
                        let piece = &bytes[done..done + range.len()];
                        done += range.len();
                        if other == number {
                            page.bytes[range].copy_from_slice(piece);
                        }
                    }
                }
                Action::Map { pages, mapping: Mapping::Zero(_) } if pages.contains(&number) => {
                    page.bytes.fill(0);
                }
                Action::Map { .. } => {}
            }
        }
        Ok(place.insert(page))
    }

    /// Whether the lane may write all pages of a range.
    fn has_frames(&mut self, address: u64, bytes: usize) -> Result<bool, Error> {
        let mut pages: BTreeSet<u64> = pieces(address, bytes).map(|(page, _)| page).collect();
        for action in &self.done.actions {
            if let Action::Write { address, bytes, .. } = action {
                pages.extend(pieces(*address, bytes.len()).map(|(page, _)| page));
            }
        }
        let left = self.written_max.saturating_sub(self.written) as usize;
        // Mostly there is room even if every page is new.
        if pages.len() <= left {
            return Ok(true);
        }
        let mut fresh = 0;
        for page in pages {
            // What was written and is not mapped any more counts, too.
            if self.done.map.page(page).is_none() || self.fetch(page)?.fresh {
                fresh += 1;
            }
        }
        Ok(fresh <= left)
    }
}

/// The device, which lanes share. What the host knows of it is whole, whoever has panicked.
fn lock<'a, 'b>(store: &'a Mutex<&'b mut Store>) -> MutexGuard<'a, &'b mut Store> {
    store.lock().unwrap_or_else(PoisonError::into_inner)
}

impl LaneAccess for Apart<'_> {
    fn set_stop(&mut self, stop: Option<Stop>) -> Result<(), kvrm_machine::Error> {
        self.done.stop = Some(stop);
        Ok(())
    }

    fn general(&mut self) -> Result<Cpu, kvrm_machine::Error> {
        Ok(from_words(&self.done.words))
    }

    fn set_general(&mut self, cpu: &Cpu) -> Result<(), kvrm_machine::Error> {
        self.done.words = to_words(cpu);
        Ok(())
    }

    fn vectors(&mut self) -> Result<[u128; 32], kvrm_machine::Error> {
        if self.done.vectors.is_none() {
            let mut before = [0; 32];
            if self.has_simd {
                let mut store = lock(self.store);
                let columns = &mut store.columns;
                columns.fetch(COLUMN_V..COLUMN_V + 64).map_err(kvrm_machine::Error::from)?;
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

    fn read_memory(
        &mut self,
        address: u64,
        out: &mut [u8],
        access: Option<Access>,
    ) -> Result<Result<(), Stop>, kvrm_machine::Error> {
        if let Err(fault) = self.done.map.check(address, out.len() as u64, Access::Read, access) {
            return Ok(Err(fault.into()));
        }
        let mut done = 0;
        for (number, range) in pieces(address, out.len()) {
            let bytes = &self.fetch(number)?.bytes[range];
            out[done..done + bytes.len()].copy_from_slice(bytes);
            done += bytes.len();
        }
        Ok(Ok(()))
    }

    fn write_memory(
        &mut self,
        address: u64,
        bytes: &[u8],
        access: Option<Access>,
    ) -> Result<Result<(), Stop>, kvrm_machine::Error> {
        if let Err(fault) = self.done.map.check(address, bytes.len() as u64, Access::Write, access) {
            return Ok(Err(fault.into()));
        }
        if !self.has_frames(address, bytes.len())? {
            return Ok(Err(Stop::OutOfFrames));
        }
        let mut done = 0;
        for (number, range) in pieces(address, bytes.len()) {
            let piece = &bytes[done..done + range.len()];
            done += range.len();
            if let Some(page) = self.done.pages.get_mut(&number) {
                page.bytes[range].copy_from_slice(piece);
            }
        }
        self.done.actions.push(Action::Write { address, bytes: bytes.to_vec(), access });
        Ok(Ok(()))
    }

    fn page_map(&mut self) -> Result<PageMap, kvrm_machine::Error> {
        Ok(self.done.map.clone())
    }

    fn map(&mut self, pages: Range<u64>, mapping: Mapping) -> Result<bool, kvrm_machine::Error> {
        if pages.is_empty() || !self.done.map.map(&pages, mapping) {
            return Ok(pages.is_empty());
        }
        match mapping {
            Mapping::Zero(_) => {
                self.done.pages.range_mut(pages.clone()).for_each(|(_, page)| page.bytes.fill(0));
            }
            Mapping::Unmap => self.done.pages.retain(|page, _| !pages.contains(page)),
            Mapping::Protect(_) => {}
        }
        self.done.actions.push(Action::Map { pages, mapping });
        Ok(true)
    }
}
