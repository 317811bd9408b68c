//! The host's side of guest memory: pages at hand, and writes that wait.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

use kvrm_arm64::{Access, Stop};
use kvrm_machine::{Mapping, PAGE_BYTES, pieces};
use kvrm_shaders::layout::{
    COLUMN_HEAD, COLUMN_TAIL, COUNTER_FRAMES, INFO_NODE, MAP_PROTECT, MAP_ZERO, STOP_NONE,
};

use super::{GpuExecutor, PAGE, halves};
use crate::error::Error;
use crate::pages::flags;
use crate::store::{Parameters, Piece, Store};

/// How many pages the device maps in one go.
const MAP_PAGES_MAX: u32 = 1 << 16;

/// What the host knows of guest memory, and what the device does not know yet.
#[derive(Debug, Default)]
pub(super) struct Cache {
    /// Pages by lane and number.
    pub(super) pages: HashMap<usize, BTreeMap<u64, Page>>,
    /// Writes the device is still to be told, by lane, in order.
    pub(super) pending: BTreeMap<usize, Vec<Change>>,
    /// What is known of each frame, in the device's four words, if that is at hand.
    info: Option<Vec<[u32; 4]>>,
}

/// What the device is still to be told of a lane's memory.
#[derive(Debug)]
pub(super) enum Change {
    /// Bytes of a page.
    Write { address: u64, bytes: Vec<u8> },
    /// Pages to map, with flags of entries and how.
    Map { address: u64, pages: u32, map: u32 },
}

impl Change {
    /// What maps pages.
    pub(super) fn map(pages: &Range<u64>, mapping: Mapping) -> impl Iterator<Item = Self> {
        let map = match mapping {
            Mapping::Zero(permissions) => MAP_ZERO | flags(permissions),
            Mapping::Protect(permissions) => MAP_PROTECT | flags(permissions),
            Mapping::Unmap => MAP_ZERO,
        };
        let end = pages.end;
        pages.clone().step_by(MAP_PAGES_MAX as usize).map(move |first| {
            let count = (end - first).min(u64::from(MAP_PAGES_MAX)) as u32;
            Self::Map { address: first * PAGE, pages: count, map }
        })
    }
}

/// A page at hand.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) bytes: Box<[u8; PAGE_BYTES]>,
    /// Whether the lane has not written it yet.
    pub(super) fresh: bool,
}

/// Brings mapped pages of lanes, in their order.
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

impl Cache {
    /// The device may have changed anything.
    pub(super) fn forget(&mut self) {
        self.pages.clear();
        self.info = None;
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
        self.fetch_ranges(&[(lane, address, out.len())])?;
        let mut done = 0;
        for (page, range) in pieces(address, out.len()) {
            let bytes = &self.cache.pages[&lane][&page].bytes[range];
            out[done..done + bytes.len()].copy_from_slice(bytes);
            done += bytes.len();
        }
        Ok(Ok(()))
    }

    /// Brings the mapped pages of ranges that are not at hand yet.
    pub(super) fn fetch_ranges(&mut self, ranges: &[(usize, u64, usize)]) -> Result<(), Error> {
        let mut missing = BTreeSet::new();
        for &(lane, address, bytes) in ranges {
            for (page, _) in pieces(address, bytes) {
                let is_at_hand = self.cache.pages.get(&lane).is_some_and(|pages| pages.contains_key(&page));
                if !is_at_hand && self.maps[lane].page(page).is_some() {
                    missing.insert((lane, page));
                }
            }
        }
        if missing.is_empty() {
            return Ok(());
        }
        self.flush_memory()?;
        let missing: Vec<_> = missing.into_iter().collect();
        let fetched = fetch_pages(&mut self.store, &missing)?;
        for ((lane, number), page) in missing.into_iter().zip(fetched) {
            self.cache.pages.entry(lane).or_default().insert(number, page);
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
        let pending = self.cache.pending.entry(lane).or_default();
        let mut done = 0;
        for (number, range) in pieces(address, bytes.len()) {
            let piece = &bytes[done..done + range.len()];
            done += range.len();
            let address = number * PAGE + range.start as u64;
            pending.push(Change::Write { address, bytes: piece.to_vec() });
            if let Some(page) = self.cache.pages.get_mut(&lane).and_then(|pages| pages.get_mut(&number)) {
                page.bytes[range].copy_from_slice(piece);
                page.fresh = false;
            }
        }
        Ok(Ok(()))
    }

    pub(super) fn map_pages(&mut self, lane: usize, pages: Range<u64>, mapping: Mapping) -> bool {
        if pages.is_empty() || !self.maps[lane].map(&pages, mapping) {
            return pages.is_empty();
        }
        self.cache.pending.entry(lane).or_default().extend(Change::map(&pages, mapping));
        if let Some(at_hand) = self.cache.pages.get_mut(&lane) {
            match mapping {
                Mapping::Zero(_) => at_hand.range_mut(pages).for_each(|(_, page)| page.bytes.fill(0)),
                Mapping::Unmap => at_hand.retain(|page, _| !pages.contains(page)),
                Mapping::Protect(_) => {}
            }
        }
        true
    }

    /// Whether the lane may write all pages of a range.
    fn has_frames(&mut self, lane: usize, address: u64, bytes: usize) -> Result<bool, Error> {
        let pages = |pending: &[Change]| {
            let old = pending.iter().filter_map(|change| match change {
                Change::Write { address, .. } => Some(address / PAGE),
                Change::Map { .. } => None,
            });
            old.chain(pieces(address, bytes).map(|(page, _)| page)).collect::<BTreeSet<_>>().len()
        };
        let (_, written) = halves(self.store.columns.word(COLUMN_TAIL, lane)?);
        let (max, _) = halves(self.store.columns.word(COLUMN_HEAD, lane)?);
        // Mostly there is room even if every page is new.
        let most = pages(self.cache.pending.get(&lane).map_or(&[], |pending| pending));
        if u64::from(written) + most as u64 <= u64::from(max) {
            return Ok(true);
        }
        self.flush_memory()?;
        self.fetch_ranges(&[(lane, address, bytes)])?;
        let (_, written) = halves(self.store.columns.word(COLUMN_TAIL, lane)?);
        let fresh = |page: u64| self.cache.pages.get(&lane).and_then(|pages| pages.get(&page)).is_some_and(|page| page.fresh);
        let needed = pieces(address, bytes).filter(|(page, _)| fresh(*page)).count();
        Ok(needed == 0 || u64::from(written) + needed as u64 <= u64::from(max))
    }

    /// Drops the writes to some lanes that wait.
    pub(super) fn forget_writes(&mut self, lanes: &[usize]) {
        for lane in lanes {
            self.cache.pending.remove(lane);
        }
    }

    /// Tells the device all writes that wait.
    pub(super) fn flush_memory(&mut self) -> Result<(), Error> {
        if self.cache.pending.is_empty() {
            return Ok(());
        }
        self.store.columns.flush()?;
        let mut data: Vec<u64> = Vec::new();
        let mut all = Vec::new();
        for (&lane, writes) in &self.cache.pending {
            for change in writes {
                let (address, bytes) = match change {
                    Change::Write { address, bytes } => (address, bytes),
                    Change::Map { address, pages, map } => {
                        all.push(Piece::mapping(lane, *address, *pages, *map).undone());
                        continue;
                    }
                };
                all.push(Piece::new(lane, *address, bytes.len(), data.len() as u32).undone());
                data.extend(bytes.chunks(8).map(|chunk| {
                    let mut word = [0; 8];
                    word[..chunk.len()].copy_from_slice(chunk);
                    u64::from_le_bytes(word)
                }));
            }
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
        self.cache.pending.clear();
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
