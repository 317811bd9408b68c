//! Views of single lanes, so that threads can serve them at the same time.
//!
//! A service's changes of memory go directly to the pending changes in the lane's cache. Its changes of registers are
//! collected in [`LaneChanges`] and applied when all lanes are served.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{OnceLock, RwLock};

use kvrm_arm64::{Access, Cpu, Fault, Stop};
use kvrm_machine::{
    Contents, Image, LaneAccess, LaneMemory, Mapping, PIPE_ADDRESS, PageMap, ProcessState, SavedMappings,
    pick, pieces,
};
use kvrm_shaders::layout::{
    COLUMN_BASE, COLUMN_CONSOLE, COLUMN_HEAD, COLUMN_HEAP_END, COLUMN_STOP, COLUMN_STOP_ADDRESS, COLUMN_TAIL,
    COLUMN_V,
};
use rayon::prelude::*;

use super::cache::{LaneCache, Page, fetch_pages, is_in_window};
use super::lanes::GpuExecutor;
use super::memory::{TRANSFER_BYTES_MAX, chain_pages, frame_info};
use super::pending::Pending;
use super::registers::{self, REGISTER_COLUMNS, Words, columns, differences};
use super::stops;
use super::words::{PAGE, halves};
use crate::device::error::{Error, Request};
use crate::device::lock::{read_lock, write_lock};
use crate::machine::columns::Columns;
use crate::machine::store::Store;

/// V0 to V31 before the service and now.
type Vectors = Box<[[u128; 32]; 2]>;

/// The number of lanes that a thread serves one after the other. It waits for the lock of the store once for all of them.
const GROUP: usize = 32;

/// The changes of a lane by a service, except those of its memory.
#[derive(Debug)]
pub(crate) struct LaneChanges {
    pub(crate) lane: usize,
    /// The registers and the process state after the service.
    pub(crate) words: Words,
    /// The words that differ from before the service: bit n stands for column n.
    pub(crate) changed: u64,
    /// The SIMD registers before the service and now, if the service has read or set them.
    pub(crate) vectors: Option<Vectors>,
    /// The new stop, if the service has set it; `Some(None)` lets the lane run.
    pub(crate) stop: Option<Option<Stop>>,
    /// The console handles that the lane may write to without the host, if the service has set them.
    pub(crate) console: Option<u32>,
    /// Whether the device has failed. Then all changes are undone.
    has_failed: bool,
    /// The number of memory changes that were pending before the service.
    pending_before: usize,
}

impl Default for LaneChanges {
    fn default() -> Self {
        Self {
            lane: 0,
            words: [0; REGISTER_COLUMNS],
            changed: 0,
            vectors: None,
            stop: None,
            console: None,
            has_failed: false,
            pending_before: 0,
        }
    }
}

/// A view of one lane, for one thread.
struct LaneView<'a> {
    changes: &'a mut LaneChanges,
    cache: &'a mut LaneCache,
    map: &'a mut PageMap,
    /// The mappings before their first change, for undoing.
    mappings_before: Option<SavedMappings>,
    /// The number of pages that the lane has written.
    written: u32,
    /// The number of pages that the lane may write.
    written_max: u32,
    has_simd: bool,
    store: &'a RwLock<&'a mut Store>,
    image: &'a Image,
    info: &'a FrameInfo,
}

/// The information about the frames of the device, which is downloaded when the first service needs it.
struct FrameInfo {
    frames: u32,
    words: OnceLock<Vec<[u32; 4]>>,
}

impl GpuExecutor {
    /// Calls `serve` for each of `lanes`, whose numbers ascend, and replaces the contents of `changes` by their
    /// changes.
    ///
    /// The memory of `changes` is used again from call to call, because allocating it takes longer than the services.
    pub(crate) fn serve_lane_views(
        &mut self,
        lanes: &[usize],
        serve: &(dyn Fn(usize, &mut dyn LaneAccess) + Sync),
        changes: &mut Vec<LaneChanges>,
    ) -> Result<(), Error> {
        self.has_served = true;
        self.store.columns.fetch((0..REGISTER_COLUMNS as u32).chain([
            COLUMN_STOP,
            COLUMN_STOP_ADDRESS,
            COLUMN_TAIL,
            COLUMN_HEAD,
        ]))?;
        changes.resize_with(lanes.len(), LaneChanges::default);
        let has_simd = self.has_simd;
        let store = RwLock::new(&mut self.store);
        let info = &FrameInfo { frames: self.frames, words: OnceLock::new() };
        let images = &self.images;
        let mut caches = pick(&mut self.cache.lanes, lanes);
        let mut maps = pick(&mut self.maps, lanes);
        let groups = changes
            .par_chunks_mut(GROUP)
            .zip(lanes.par_chunks(GROUP))
            .zip(caches.par_chunks_mut(GROUP).zip(maps.par_chunks_mut(GROUP)));
        groups.enumerate().for_each(|(group, ((changes, lanes), (caches, maps)))| {
            let written = begin_group(changes, lanes, &read_lock(&store).columns);
            let views = changes.iter_mut().zip(caches).zip(maps).zip(written);
            for (index, (((changes, cache), map), [written, written_max])) in (group * GROUP..).zip(views) {
                let before = changes.words;
                changes.pending_before = cache.pending.len();
                let mappings_before = None;
                let (store, image) = (&store, &*images[if images.len() == 1 { 0 } else { changes.lane }]);
                // Lanes whose memory is about to be that of the image have written nothing.
                let written = if cache.pending.clears() { 0 } else { written };
                let mut view = LaneView {
                    changes,
                    cache,
                    map,
                    mappings_before,
                    written,
                    written_max,
                    has_simd,
                    store,
                    image,
                    info,
                };
                serve(index, &mut view);
                view.end(&before);
            }
        });
        lanes.iter().for_each(|&lane| self.cache.track(lane));
        Ok(())
    }

    /// Returns a function that returns the pending changes of a lane's memory, and the index of the first change by its service.
    pub(crate) fn memory_changes<'a>(&'a self) -> impl Fn(&LaneChanges) -> (&'a Pending, usize) + Sync {
        let caches = &self.cache.lanes;
        |changes| (&caches[changes.lane].pending, changes.pending_before)
    }

    /// Applies the changes of registers, process state, stops and console handles to the columns.
    pub(crate) fn apply_lane_changes(&mut self, all: &[LaneChanges]) -> Result<(), Error> {
        let changed = all.iter().fold(0, |changed, changes| changed | changes.changed);
        // All columns are fetched first. A fetch may fail, and a call that fails must change nothing.
        let has_vectors = all.iter().any(|changes| changes.vectors.is_some());
        let simd = if has_vectors { COLUMN_V..COLUMN_V + 64 } else { 0..0 };
        let always = [COLUMN_STOP, COLUMN_STOP_ADDRESS, COLUMN_CONSOLE];
        self.store.columns.fetch(columns(changed).chain(always).chain(simd))?;
        // Column by column, because the words of a column are contiguous.
        self.store.columns.change(columns(changed), |column, words| {
            for changes in all.iter().filter(|changes| changes.changed >> column & 1 == 1) {
                words[changes.lane] = changes.words[column as usize];
            }
        })?;
        self.store.columns.change([COLUMN_STOP, COLUMN_STOP_ADDRESS], |column, words| {
            for (lane, stop) in all.iter().filter_map(|changes| Some((changes.lane, changes.stop?))) {
                let (code, address) = stops::encode(stop);
                words[lane] = if column == COLUMN_STOP { code } else { address };
            }
        })?;
        if changed >> COLUMN_HEAP_END & 1 == 1 && !self.heap_ends.is_empty() {
            all.iter()
                .for_each(|changes| self.heap_ends[changes.lane] = changes.words[COLUMN_HEAP_END as usize]);
        }
        for changes in all {
            if let Some(handles) = changes.console {
                self.set_console_handles(changes.lane, handles)?;
            }
            if let Some([before, now]) = changes.vectors.as_deref()
                && before != now
            {
                self.set_vectors(changes.lane, now)?;
            }
        }
        Ok(())
    }
}

/// Begins the services of a group of lanes: reads their registers and process states. Returns the number of pages that each lane
/// has written, and the number that it may write.
fn begin_group(changes: &mut [LaneChanges], lanes: &[usize], columns: &Columns) -> [[u32; 2]; GROUP] {
    let mut written = [[0; 2]; GROUP];
    for ((changes, &lane), written) in changes.iter_mut().zip(lanes).zip(&mut written) {
        *changes = LaneChanges { lane, ..LaneChanges::default() };
        (0..).zip(&mut changes.words).for_each(|(column, word)| *word = columns.cached(column)[lane]);
        *written = [halves(columns.cached(COLUMN_TAIL)[lane]).1, halves(columns.cached(COLUMN_HEAD)[lane]).0];
    }
    written
}

impl LaneView<'_> {
    /// Ends a service: undoes its changes if the device has failed. `before` has the words before the service.
    fn end(self, before: &Words) {
        let Self { changes, cache, map, mappings_before, .. } = self;
        if changes.has_failed {
            cache.undo(changes.pending_before);
            if let Some(mappings) = mappings_before {
                map.restore(mappings);
            }
            (changes.words, changes.vectors, changes.stop, changes.console) = (*before, None, None, None);
        }
        changes.changed = differences(before, &changes.words);
    }

    /// Fetches the mapped pages of a range that are not in the cache.
    fn fetch(&mut self, address: u64, bytes: usize) -> Result<(), Error> {
        let missing: Vec<u64> = self.cache.missing(address, bytes).collect();
        self.fetch_missing(missing)
    }

    /// Fetches those of the pages that are mapped.
    fn fetch_missing(&mut self, mut missing: Vec<u64>) -> Result<(), Error> {
        missing.retain(|number| is_in_window(*number) || self.map.page(*number).is_some());
        if self.cache.pending.clears() {
            // The device still has the memory before.
            for number in missing {
                let frame = self.image.page(number).map_or(0, |page| page.frame);
                let bytes = Box::new(self.image.frames()[frame as usize]);
                self.cache.add_page(number, Page { bytes, fresh: true });
            }
            return Ok(());
        }
        if missing.is_empty() {
            return Ok(());
        }
        let pages: Vec<_> = missing.iter().map(|number| (self.changes.lane, *number)).collect();
        let fetched = fetch_pages(&mut write_lock(self.store), &pages, TRANSFER_BYTES_MAX);
        self.changes.has_failed |= fetched.is_err();
        for (number, page) in missing.into_iter().zip(fetched?) {
            self.cache.add_page(number, page);
        }
        Ok(())
    }

    /// Returns the numbers of the pages that the lane has written.
    fn written_pages(&mut self) -> Result<BTreeSet<u64>, Error> {
        let mut pages: BTreeSet<u64> = self.cache.pages_to_write().collect();
        if self.cache.pending.clears() {
            return Ok(pages);
        }
        let mut store = write_lock(self.store);
        let mut find = || -> Result<_, Error> {
            let info = match self.info.words.get() {
                Some(info) => info,
                None => {
                    let info = frame_info(&store, self.info.frames)?;
                    self.info.words.get_or_init(|| info)
                }
            };
            store.columns.fetch([COLUMN_TAIL, COLUMN_HEAD, COLUMN_BASE])?;
            let frames = self.info.frames;
            let request = |tail| Error::BadRequest {
                lane: self.changes.lane,
                pc: 0,
                steps: 0,
                request: Request::Chain { tail, frames },
            };
            chain_pages(&store.columns, info, self.changes.lane).map_err(request)
        };
        let found = find();
        self.changes.has_failed |= found.is_err();
        pages.extend(found?);
        Ok(pages)
    }

    /// Returns whether the lane may write all pages of a range without exceeding its limit.
    fn has_frames(&mut self, address: u64, bytes: usize) -> Result<bool, Error> {
        let left = self.written_max.saturating_sub(self.written) as usize;
        // In most cases there is room even if every page is new.
        if self.cache.pending.len() + pieces(address, bytes).count() <= left {
            return Ok(true);
        }
        let pages = self.cache.written(address, bytes);
        let mut fresh = 0;
        for page in pages {
            self.fetch(page * PAGE, 1)?;
            // Pages that were written and are no longer mapped count, too.
            fresh += usize::from(self.cache.is_fresh(page).unwrap_or(true));
        }
        Ok(fresh <= left)
    }
}

impl LaneAccess for LaneView<'_> {
    fn set_stop(&mut self, stop: Option<Stop>) -> Result<(), kvrm_machine::Error> {
        self.changes.stop = Some(stop);
        Ok(())
    }

    fn general(&mut self) -> Result<Cpu, kvrm_machine::Error> {
        Ok(registers::cpu(&self.changes.words))
    }

    fn set_general(&mut self, cpu: &Cpu) -> Result<(), kvrm_machine::Error> {
        registers::set_cpu(&mut self.changes.words, cpu);
        Ok(())
    }

    fn vectors(&mut self) -> Result<[u128; 32], kvrm_machine::Error> {
        if self.changes.vectors.is_none() {
            let mut before = [0; 32];
            if self.has_simd {
                let mut store = write_lock(self.store);
                let columns = &mut store.columns;
                let fetched = columns.fetch(COLUMN_V..COLUMN_V + 64);
                self.changes.has_failed |= fetched.is_err();
                fetched?;
                for (column, v) in (COLUMN_V..).step_by(2).zip(&mut before) {
                    let half = |column| u128::from(columns.cached(column)[self.changes.lane]);
                    *v = half(column) | half(column + 1) << 64;
                }
            }
            self.changes.vectors = Some(Box::new([before; 2]));
        }
        Ok(self.changes.vectors.as_deref().map_or([0; 32], |[_, now]| *now))
    }

    fn set_vectors(&mut self, vectors: &[u128; 32]) -> Result<(), kvrm_machine::Error> {
        self.vectors()?;
        if let Some([_, now]) = self.changes.vectors.as_deref_mut() {
            *now = *vectors;
        }
        Ok(())
    }

    fn process_state(&mut self) -> Result<ProcessState, kvrm_machine::Error> {
        Ok(registers::process_state(&self.changes.words))
    }

    fn set_process_state(&mut self, state: &ProcessState) -> Result<(), kvrm_machine::Error> {
        registers::set_process_state(&mut self.changes.words, state);
        Ok(())
    }

    fn set_console(&mut self, handles: u32) -> Result<(), kvrm_machine::Error> {
        self.changes.console = Some(handles);
        Ok(())
    }

    fn has_pipe_windows(&self) -> bool {
        true
    }

    fn read_pipes(&mut self, at: usize, out: &mut [u8]) -> Result<(), kvrm_machine::Error> {
        let address = PIPE_ADDRESS + at as u64;
        if !self.cache.read(address, out) {
            self.fetch(address, out.len())?;
            self.cache.read(address, out);
        }
        Ok(())
    }

    fn write_pipes(&mut self, at: usize, bytes: &[u8]) -> Result<(), kvrm_machine::Error> {
        self.cache.write(PIPE_ADDRESS + at as u64, bytes);
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
        self.mappings_before.get_or_insert_with(|| self.map.save());
        if pages.is_empty() || !self.map.map(&pages, mapping) {
            return Ok(pages.is_empty());
        }
        self.cache.map(pages, mapping);
        Ok(true)
    }

    fn clear_memory(&mut self) -> Result<(), kvrm_machine::Error> {
        self.mappings_before.get_or_insert_with(|| self.map.save());
        self.map.clone_from(self.image.map());
        self.cache.clear();
        self.written = 0;
        Ok(())
    }

    fn private_pages(&mut self) -> Result<Vec<u64>, kvrm_machine::Error> {
        Ok(self.written_pages()?.into_iter().map(|page| page * PAGE).collect())
    }

    fn memory(&mut self) -> Result<LaneMemory, kvrm_machine::Error> {
        let mut written = self.written_pages()?;
        written.retain(|page| self.map.region(*page).is_some());
        // All pages are fetched at once.
        let missing = written.iter().copied().filter(|page| !self.cache.pages.contains_key(page)).collect();
        self.fetch_missing(missing)?;
        let contents = |page: u64| Some((page, Contents::new(&self.cache.pages.get(&page)?.bytes)));
        Ok(LaneMemory { map: self.map.clone(), pages: written.into_iter().filter_map(contents).collect() })
    }
}
