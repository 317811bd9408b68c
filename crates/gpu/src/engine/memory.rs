//! The host's side of guest memory: pages at hand, and writes that wait.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use kvrm_arm64::{Access, Stop};
use kvrm_machine::{Mapping, PAGE_BYTES, Permissions, pick, pieces};
use kvrm_shaders::layout::{
    COLUMN_HEAD, COLUMN_TAIL, COUNTER_FRAMES, INFO_NODE, MAP_PROTECT, MAP_ZERO, STOP_NONE,
};

use rayon::prelude::*;

use super::apart::LANES_MIN;
use super::{GpuExecutor, PAGE, halves};
use crate::error::Error;
use crate::pages::flags;
use crate::store::{Parameters, Piece, Store};

/// Longer ranges are fetched by the page.
const PIECE_BYTES_MAX: usize = 256;
/// How many pages the device maps in one go.
const MAP_PAGES_MAX: u32 = 1 << 16;

/// What the host knows of guest memory, and what the device does not know yet.
#[derive(Debug, Default)]
pub(super) struct Cache {
    pub(super) lanes: Vec<LaneCache>,
    /// The lanes of which something is known.
    known: Vec<usize>,
    /// The lanes that have changes the device is still to be told.
    waiting: Vec<usize>,
    /// What is known of each frame, in the device's four words, if that is at hand.
    info: Option<Vec<[u32; 4]>>,
}

/// The same of a lane.
#[derive(Debug, Default)]
pub(super) struct LaneCache {
    /// Pages by number.
    pages: BTreeMap<u64, Page>,
    /// Bytes from an address on, where a page would be too much.
    piece: Option<(u64, Box<[u8]>)>,
    /// Changes the device is still to be told, in order.
    pub(super) pending: Vec<Change>,
    is_known: bool,
    is_waiting: bool,
}

/// What the device is still to be told of a lane's memory.
#[derive(Debug)]
pub(crate) enum Change {
    /// Bytes of a page.
    Write { address: u64, bytes: Box<[u8]> },
    /// Pages are mapped, protected or unmapped.
    Map { pages: Range<u64>, mapping: Mapping },
}

/// A page at hand.
#[derive(Debug)]
pub(super) struct Page {
    bytes: Box<[u8; PAGE_BYTES]>,
    /// Whether the lane has not written it yet.
    fresh: bool,
}

/// Brings pages of lanes, in their order. One that the device has not been told of is zero and has not been written.
pub(super) fn fetch_pages(store: &mut Store, pages: &[(usize, u64)]) -> Result<Vec<Page>, Error> {
    let mut fetched = Vec::with_capacity(pages.len());
    // What comes back in one transfer is bounded.
    for batch in pages.chunks(1 << 14) {
        let pieces: Vec<Piece> = (0..)
            .zip(batch)
            .map(|(index, &(lane, page))| {
                Piece::new(lane, page * PAGE, PAGE_BYTES, index * (PAGE_BYTES as u32 / 8))
            })
            .collect();
        let (results, data) = store.read(&pieces)?;
        for (piece, bytes) in results.iter().zip(data.chunks_exact(PAGE_BYTES)) {
            let mut page = Page { bytes: Box::new([0; PAGE_BYTES]), fresh: piece.fresh == 1 };
            page.bytes.copy_from_slice(bytes);
            fetched.push(page);
        }
    }
    Ok(fetched)
}

/// Adds what the device is to be told of a lane: pieces, and their data from the place on that they name.
fn changes_of(lane: usize, pending: &[Change], (all, data): &mut (Vec<Piece>, Vec<u64>)) {
    for change in pending {
        match change {
            Change::Write { address, bytes } => {
                all.push(Piece::new(lane, *address, bytes.len(), data.len() as u32).undone());
                data.extend(bytes.chunks(8).map(|chunk| {
                    let mut word = [0; 8];
                    word[..chunk.len()].copy_from_slice(chunk);
                    u64::from_le_bytes(word)
                }));
            }
            Change::Map { pages, mapping } => {
                let map = match *mapping {
                    Mapping::Zero(permissions) => MAP_ZERO | flags(permissions),
                    Mapping::Heap => MAP_ZERO | flags(Permissions::RW),
                    Mapping::Protect(permissions) => MAP_PROTECT | flags(permissions),
                    Mapping::Unmap => MAP_ZERO,
                };
                all.extend(pages.clone().step_by(MAP_PAGES_MAX as usize).map(|first| {
                    let count = (pages.end - first).min(u64::from(MAP_PAGES_MAX)) as u32;
                    Piece::mapping(lane, first * PAGE, count, map).undone()
                }));
            }
        }
    }
}

impl Cache {
    pub(super) fn new(lanes: usize) -> Self {
        Self { lanes: std::iter::repeat_with(LaneCache::default).take(lanes).collect(), ..Self::default() }
    }

    /// The device may have changed anything.
    pub(super) fn forget(&mut self) {
        for lane in self.known.drain(..) {
            let lane = &mut self.lanes[lane];
            lane.pages.clear();
            lane.piece = None;
            lane.is_known = false;
        }
        self.info = None;
    }

    /// Something may be known of a lane now, and it may have changes.
    pub(super) fn note(&mut self, number: usize) {
        let lane = &mut self.lanes[number];
        let has_any = lane.piece.is_some() || !lane.pages.is_empty();
        if has_any && !lane.is_known {
            lane.is_known = true;
            self.known.push(number);
        }
        if !lane.pending.is_empty() && !lane.is_waiting {
            lane.is_waiting = true;
            self.waiting.push(number);
        }
    }
}

impl LaneCache {
    /// Whether a range of mapped memory can be read.
    fn has(&self, address: u64, bytes: usize) -> bool {
        self.piece_at(address, bytes).is_some()
            || pieces(address, bytes).all(|(page, _)| self.pages.contains_key(&page))
    }

    /// The range, if it lies within the piece that is known.
    fn piece_at(&self, address: u64, bytes: usize) -> Option<&[u8]> {
        let (start, piece) = self.piece.as_ref()?;
        let from = usize::try_from(address.checked_sub(*start)?).ok()?;
        piece.get(from..from.checked_add(bytes)?)
    }

    /// Reads mapped memory that is known.
    pub(super) fn read(&self, address: u64, out: &mut [u8]) -> bool {
        if let Some(piece) = self.piece_at(address, out.len()) {
            out.copy_from_slice(piece);
            return true;
        }
        let mut done = 0;
        for (page, range) in pieces(address, out.len()) {
            let Some(page) = self.pages.get(&page) else { return false };
            out[done..done + range.len()].copy_from_slice(&page.bytes[range.clone()]);
            done += range.len();
        }
        true
    }

    /// The pages of a range that are not known.
    pub(super) fn missing(&self, address: u64, bytes: usize) -> impl Iterator<Item = u64> {
        pieces(address, bytes).map(|(page, _)| page).filter(|page| !self.pages.contains_key(page))
    }

    /// Whether the lane had not written a page when that was fetched, if it was.
    pub(super) fn is_fresh(&self, page: u64) -> Option<bool> {
        self.pages.get(&page).map(|page| page.fresh)
    }

    /// A page was fetched. Changes that the device has not been told are done to it.
    pub(super) fn learn(&mut self, number: u64, mut page: Page) {
        for change in &self.pending {
            match change {
                Change::Write { address, bytes } if address / PAGE == number => {
                    let at = (address % PAGE) as usize;
                    page.bytes[at..at + bytes.len()].copy_from_slice(bytes);
                }
                Change::Map { pages, mapping: Mapping::Zero(_) | Mapping::Heap }
                    if pages.contains(&number) =>
                {
                    page.bytes.fill(0);
                }
                _ => {}
            }
        }
        self.pages.insert(number, page);
    }

    /// Takes back all changes but so many.
    pub(super) fn undo(&mut self, changes: usize) {
        self.pending.truncate(changes);
        self.pages.clear();
        self.piece = None;
    }

    /// Pages that are to be written and wait for it, and those of a range.
    pub(super) fn written(&self, address: u64, bytes: usize) -> BTreeSet<u64> {
        let old = self.pending.iter().filter_map(|change| match change {
            Change::Write { address, .. } => Some(address / PAGE),
            Change::Map { .. } => None,
        });
        old.chain(pieces(address, bytes).map(|(page, _)| page)).collect()
    }

    /// Writes to mapped memory.
    pub(super) fn write(&mut self, address: u64, bytes: &[u8]) {
        self.piece = None;
        let mut done = 0;
        for (number, range) in pieces(address, bytes.len()) {
            let piece = &bytes[done..done + range.len()];
            done += range.len();
            let address = number * PAGE + range.start as u64;
            self.pending.push(Change::Write { address, bytes: piece.into() });
            if let Some(page) = self.pages.get_mut(&number) {
                page.bytes[range].copy_from_slice(piece);
            }
        }
    }

    /// Maps pages.
    pub(super) fn map(&mut self, pages: Range<u64>, mapping: Mapping) {
        self.piece = None;
        match mapping {
            Mapping::Zero(_) | Mapping::Heap => {
                self.pages.range_mut(pages.clone()).for_each(|(_, page)| page.bytes.fill(0));
            }
            Mapping::Unmap => self.pages.retain(|page, _| !pages.contains(page)),
            Mapping::Protect(_) => {}
        }
        self.pending.push(Change::Map { pages, mapping });
    }
}

impl GpuExecutor {
    pub(super) fn read_bytes(
        &mut self,
        lane: usize,
        address: u64,
        out: &mut [u8],
        access: Option<Access>,
    ) -> Result<Result<(), Stop>, Error> {
        if let Err(fault) = self.maps[lane].check(address, out.len() as u64, Access::Read, access) {
            return Ok(Err(fault.into()));
        }
        if !self.cache.lanes[lane].read(address, out) {
            self.fetch_whole(&[(lane, address, out.len())])?;
            self.cache.lanes[lane].read(address, out);
        }
        Ok(Ok(()))
    }

    /// Brings what is mapped of ranges and not known yet.
    pub(super) fn fetch_ranges(&mut self, ranges: &[(usize, u64, usize)]) -> Result<(), Error> {
        let (short, long): (Vec<_>, Vec<_>) = ranges
            .iter()
            .copied()
            .filter(|&(lane, address, bytes)| !self.cache.lanes[lane].has(address, bytes))
            .partition(|&(lane, address, bytes)| {
                // The longest piece would be in the same page.
                bytes <= PIECE_BYTES_MAX
                    && address % PAGE + PIECE_BYTES_MAX as u64 + 8 <= PAGE
                    && self.maps[lane].page(address / PAGE).is_some()
            });
        self.fetch_whole(&long)?;
        if short.is_empty() {
            return Ok(());
        }
        self.flush_memory()?;
        // All are as long as the longest.
        let length = short.iter().map(|(_, _, bytes)| 8 + bytes.next_multiple_of(8)).max().unwrap_or(8);
        for batch in short.chunks(1 << 16) {
            let pieces: Vec<Piece> = (0..)
                .zip(batch)
                .map(|(index, &(lane, address, _))| {
                    Piece::new(lane, address & !7, length, index * (length / 8) as u32)
                })
                .collect();
            let (_, data) = self.store.read(&pieces)?;
            for (&(lane, address, _), bytes) in batch.iter().zip(data.chunks_exact(length)) {
                self.cache.lanes[lane].piece = Some((address & !7, bytes.into()));
                self.cache.note(lane);
            }
        }
        Ok(())
    }

    /// Brings the mapped pages of ranges that are not known yet.
    fn fetch_whole(&mut self, ranges: &[(usize, u64, usize)]) -> Result<(), Error> {
        let mut missing = BTreeSet::new();
        for &(lane, address, bytes) in ranges {
            let pages = self.cache.lanes[lane].missing(address, bytes);
            missing
                .extend(pages.filter(|page| self.maps[lane].page(*page).is_some()).map(|page| (lane, page)));
        }
        if missing.is_empty() {
            return Ok(());
        }
        self.flush_memory()?;
        let missing: Vec<_> = missing.into_iter().collect();
        let fetched = fetch_pages(&mut self.store, &missing)?;
        for ((lane, number), page) in missing.into_iter().zip(fetched) {
            self.cache.lanes[lane].learn(number, page);
            self.cache.note(lane);
        }
        Ok(())
    }

    pub(super) fn read_all(
        &mut self,
        address: u64,
        bytes: usize,
        out: &mut Vec<u8>,
    ) -> Result<Result<(), (usize, Stop)>, Error> {
        out.clear();
        let lanes = self.store.lanes;
        for lane in 0..lanes {
            if let Err(fault) = self.maps[lane].check(address, bytes as u64, Access::Read, None) {
                return Ok(Err((lane, fault.into())));
            }
        }
        self.flush_memory()?;
        // Whole words are read, from the one before the first byte to the one behind the last.
        out.resize(lanes * bytes, 0);
        let mut done = 0;
        for (page, range) in pieces(address, bytes) {
            let start = range.start & !7;
            let length = range.end.next_multiple_of(8) - start;
            let words = (length / 8) as u32;
            let start_address = page * PAGE + start as u64;
            for first in (0..lanes).step_by(1 << 16) {
                let batch: Vec<Piece> = (first..lanes.min(first + (1 << 16)))
                    .map(|lane| Piece::new(lane, start_address, length, (lane - first) as u32 * words))
                    .collect();
                let (_, data) = self.store.read(&batch)?;
                for (index, words) in data.chunks_exact(length).enumerate() {
                    let place = (first + index) * bytes + done;
                    let piece = &words[range.start - start..range.end - start];
                    out[place..place + piece.len()].copy_from_slice(piece);
                }
            }
            done += range.len();
        }
        Ok(Ok(()))
    }

    pub(super) fn write_bytes(
        &mut self,
        lane: usize,
        address: u64,
        bytes: &[u8],
        access: Option<Access>,
    ) -> Result<Result<(), Stop>, Error> {
        if let Err(fault) = self.maps[lane].check(address, bytes.len() as u64, Access::Write, access) {
            return Ok(Err(fault.into()));
        }
        if !self.has_frames(lane, address, bytes.len())? {
            return Ok(Err(Stop::OutOfFrames));
        }
        self.cache.lanes[lane].write(address, bytes);
        self.cache.note(lane);
        Ok(Ok(()))
    }

    pub(super) fn map_pages(&mut self, lane: usize, pages: Range<u64>, mapping: Mapping) -> bool {
        if pages.is_empty() || !self.maps[lane].map(&pages, mapping) {
            return pages.is_empty();
        }
        self.cache.lanes[lane].map(pages, mapping);
        self.cache.note(lane);
        true
    }

    /// Whether the lane may write all pages of a range.
    fn has_frames(&mut self, lane: usize, address: u64, bytes: usize) -> Result<bool, Error> {
        let (_, written) = halves(self.store.columns.word(COLUMN_TAIL, lane)?);
        let (max, _) = halves(self.store.columns.word(COLUMN_HEAD, lane)?);
        // Mostly there is room even if every page is new.
        let most = self.cache.lanes[lane].written(address, bytes).len();
        if u64::from(written) + most as u64 <= u64::from(max) {
            return Ok(true);
        }
        self.flush_memory()?;
        self.fetch_whole(&[(lane, address, bytes)])?;
        let (_, written) = halves(self.store.columns.word(COLUMN_TAIL, lane)?);
        let known = &self.cache.lanes[lane];
        let needed = pieces(address, bytes).filter(|(page, _)| known.is_fresh(*page) == Some(true)).count();
        Ok(needed == 0 || u64::from(written) + needed as u64 <= u64::from(max))
    }

    /// Drops the writes to some lanes that wait.
    pub(super) fn forget_writes(&mut self, lanes: &[usize]) {
        for &lane in lanes {
            let lane = &mut self.cache.lanes[lane];
            lane.pending.clear();
            lane.is_waiting = false;
        }
        self.cache.waiting.retain(|lane| self.cache.lanes[*lane].is_waiting);
    }

    /// Tells the device all writes that wait.
    pub(super) fn flush_memory(&mut self) -> Result<(), Error> {
        if self.cache.waiting.is_empty() {
            return Ok(());
        }
        self.store.columns.flush()?;
        self.cache.waiting.sort_unstable();
        let cache = &self.cache;
        let parts: Vec<_> = cache
            .waiting
            .par_chunks(8 * LANES_MIN)
            .map(|lanes| {
                let mut part = (Vec::new(), Vec::new());
                lanes.iter().for_each(|&lane| changes_of(lane, &cache.lanes[lane].pending, &mut part));
                part
            })
            .collect();
        let mut all: Vec<Piece> = Vec::with_capacity(parts.iter().map(|(pieces, _)| pieces.len()).sum());
        let mut data: Vec<u64> = Vec::with_capacity(parts.iter().map(|(_, words)| words.len()).sum());
        for (pieces, words) in parts {
            let first = data.len() as u32;
            all.extend(pieces.into_iter().map(|piece| piece.behind(first)));
            data.extend(words);
        }
        while !all.is_empty() {
            let mut firsts: Vec<u32> = Vec::new();
            for (index, piece) in all.iter().enumerate() {
                if index == 0 || all[index - 1].lane != piece.lane {
                    firsts.push(index as u32);
                }
            }
            firsts.push(all.len() as u32);
            if data.is_empty() {
                // A binding cannot be empty.
                data.push(0);
            }
            let parameters = Parameters { jobs: firsts.len() as u32 - 1, ..Parameters::default() };
            self.store.set_counters(self.frames)?;
            let results = self.store.write(&all, &data, &firsts, parameters);
            self.store.columns.invalidate();
            self.cache.info = None;
            let results = results?;
            let asked_for = self.store.counters()?[COUNTER_FRAMES as usize];
            let capacity = self.store.capacity();
            self.frames = asked_for.min(capacity);
            all = results.into_iter().filter(|piece| piece.stop != STOP_NONE).collect();
            // If this fails all of them wait on: to write some again changes nothing.
            if !all.is_empty() && !self.grow(asked_for)? {
                return Err(Error::OutOfFrames { frames: capacity });
            }
        }
        let waiting = std::mem::take(&mut self.cache.waiting);
        pick(&mut self.cache.lanes, &waiting).into_par_iter().with_min_len(LANES_MIN).for_each(|lane| {
            for change in lane.pending.drain(..) {
                if let Change::Write { address, .. } = change
                    && let Some(page) = lane.pages.get_mut(&(address / PAGE))
                {
                    page.fresh = false;
                }
            }
            lane.is_waiting = false;
        });
        Ok(())
    }

    pub(super) fn pages_of(&mut self, lane: usize) -> Result<Vec<u64>, Error> {
        self.flush_memory()?;
        let (tail, _) = halves(self.store.columns.word(COLUMN_TAIL, lane)?);
        let (_, head) = halves(self.store.columns.word(COLUMN_HEAD, lane)?);
        if tail == 0 {
            return Ok(Vec::new());
        }
        if self.cache.info.is_none() {
            let bytes = self.store.device.download(&[(&self.store.info, 0..u64::from(self.frames) * 16)])?;
            self.cache.info = Some(bytemuck::pod_collect_to_vec(&bytes[0]));
        }
        let info = self.cache.info.as_deref().unwrap_or_default();
        let mut pages = Vec::new();
        let mut seen = BTreeSet::new();
        let mut frame = head;
        loop {
            let [low, high, next, _] = info[frame as usize];
            // A page written before and after a snapshot has two frames.
            let address = super::word(low, high & !INFO_NODE) * PAGE;
            if high & INFO_NODE == 0 && seen.insert(address) {
                pages.push(address);
            }
            if frame == tail {
                return Ok(pages);
            }
            frame = next;
        }
    }
}
