//! The host's reads, writes and mappings of guest memory.

use std::collections::BTreeSet;
use std::ops::Range;

use kvrm_arm64::{Access, Fault, Stop};
use kvrm_machine::{Mapping, for_each_picked, pieces};
use kvrm_shaders::layout::{
    COLUMN_BASE, COLUMN_HEAD, COLUMN_ROOT, COLUMN_TAIL, COLUMN_WINDOW, COUNTER_FRAMES, INFO_NODE,
    INFO_PAGE_HIGH, STOP_NEED_AWAY, STOP_NEED_FRAME, STOP_NONE,
};

use rayon::prelude::*;

use super::cache::{Batch, batches, changes_of, fetch_pages, is_in_window};
use super::lanes::GpuExecutor;
use super::pending::{Change, Pending};
use super::words::{LANES_MIN, PAGE, halves, word};
use crate::device::error::{Error, Request};
use crate::machine::columns::Columns;
use crate::machine::store::transfer::{HostPiece as _, Piece, WRITE_COLUMNS};
use crate::machine::store::{Launch, Store};

/// The longest range that is fetched as bytes. Longer ranges are fetched as whole pages.
const PIECE_BYTES_MAX: usize = 256;
/// The largest size of the data of a transfer in bytes, which fits in a binding of most devices.
pub(super) const TRANSFER_BYTES_MAX: usize = 1 << 26;
/// The largest number of lanes that are read in one dispatch.
const LANES_OF_READ: usize = 1 << 16;

/// Downloads the information about the first `frames` frames, four words each.
pub(super) fn frame_info(store: &Store, frames: u32) -> Result<Vec<[u32; 4]>, Error> {
    let bytes = store.device.download(&[(&store.info, 0..u64::from(frames) * 16)])?;
    Ok(bytemuck::pod_collect_to_vec(&bytes[0]))
}

/// Returns the numbers of the pages that a lane has written, from columns that were fetched before and the information about
/// frames. If its chain does not lead to its last frame, returns this frame.
pub(super) fn chain_pages(columns: &Columns, info: &[[u32; 4]], lane: usize) -> Result<BTreeSet<u64>, u32> {
    let (tail, _) = halves(columns.cached(COLUMN_TAIL)[lane]);
    let (_, mut frame) = halves(columns.cached(COLUMN_HEAD)[lane]);
    let base = columns.cached(COLUMN_BASE)[lane] as u32;
    // A page written before and after a snapshot has two frames.
    let mut pages = BTreeSet::new();
    if tail == base {
        return Ok(pages);
    }
    let mut is_own = base == 0;
    // The loop is bounded because a damaged chain may be a cycle.
    for _ in info {
        let Some(&[low, high, next, _]) = info.get(frame as usize) else { break };
        if is_own && high & INFO_NODE == 0 {
            pages.insert(word(low, high & INFO_PAGE_HIGH));
        }
        if frame == tail {
            return Ok(pages);
        }
        is_own |= frame == base;
        frame = next;
    }
    Err(tail)
}

/// Returns the first of `count` lanes with a fault, and its stop. `check` returns the lane with an index, and its fault.
pub(super) fn first_fault(
    count: usize,
    check: impl Fn(usize) -> (usize, Result<(), Fault>) + Sync,
) -> Option<(usize, Stop)> {
    (0..count).into_par_iter().with_min_len(LANES_MIN).find_map_first(|index| {
        let (lane, checked) = check(index);
        checked.err().map(|fault| (lane, fault.into()))
    })
}

impl GpuExecutor {
    /// Returns the largest size of the data of a transfer in bytes.
    fn transfer_bytes(&self) -> usize {
        let binding = usize::try_from(self.store.device.limits().binding_bytes).unwrap_or(usize::MAX);
        self.bounds.transfer_bytes.unwrap_or(TRANSFER_BYTES_MAX).min(binding)
    }

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

    /// Fetches the mapped parts of ranges that are not in the cache.
    pub(super) fn fetch_ranges(&mut self, ranges: &[(usize, u64, usize)]) -> Result<(), Error> {
        let (short, long): (Vec<_>, Vec<_>) = ranges
            .iter()
            .copied()
            .filter(|&(lane, address, bytes)| !self.cache.lanes[lane].has(address, bytes))
            .partition(|&(lane, address, bytes)| {
                // Even the longest piece at this address would not cross the end of the page.
                bytes <= PIECE_BYTES_MAX
                    && address % PAGE + PIECE_BYTES_MAX as u64 + 8 <= PAGE
                    && self.maps[lane].page(address / PAGE).is_some()
            });
        self.fetch_whole(&long)?;
        if short.is_empty() {
            return Ok(());
        }
        self.flush_memory()?;
        // All pieces of a transfer have the same length, that of the longest.
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
                let cache = &mut self.cache.lanes[lane];
                cache.piece.clear();
                cache.piece.extend_from_slice(bytes);
                cache.piece_start = address & !7;
                self.cache.track(lane);
            }
        }
        Ok(())
    }

    /// Fetches the mapped pages of ranges that are not in the cache.
    fn fetch_whole(&mut self, ranges: &[(usize, u64, usize)]) -> Result<(), Error> {
        let mut missing = BTreeSet::new();
        for &(lane, address, bytes) in ranges {
            let pages = self.cache.lanes[lane].missing(address, bytes);
            let exists = |page: &u64| is_in_window(*page) || self.maps[lane].page(*page).is_some();
            missing.extend(pages.filter(exists).map(|page| (lane, page)));
        }
        if missing.is_empty() {
            return Ok(());
        }
        self.flush_memory()?;
        let missing: Vec<_> = missing.into_iter().collect();
        let transfer_bytes = self.transfer_bytes();
        let fetched = fetch_pages(&mut self.store, &missing, transfer_bytes)?;
        for ((lane, number), page) in missing.into_iter().zip(fetched) {
            self.cache.lanes[lane].add_page(number, page);
            self.cache.track(lane);
        }
        Ok(())
    }

    /// Reads memory at the same address of several lanes, or of none. Returns the first lane that cannot be read, and why.
    pub(super) fn read_rows(
        &mut self,
        address: u64,
        bytes: usize,
        lanes: &[usize],
        out: &mut Vec<u8>,
    ) -> Result<Result<(), (usize, Stop)>, Error> {
        out.clear();
        let check = |lane: usize| self.maps[lane].check(address, bytes as u64, Access::Read, None);
        if let Some(fault) = first_fault(lanes.len(), |index| (lanes[index], check(lanes[index]))) {
            return Ok(Err(fault));
        }
        self.flush_memory()?;
        // Pieces begin and end at words, so they may have bytes before and after the range.
        out.resize(lanes.len() * bytes, 0);
        let mut done = 0;
        for (page, range) in pieces(address, bytes) {
            let start = range.start & !7;
            let length = range.end.next_multiple_of(8) - start;
            let words = (length / 8) as u32;
            let most = (self.transfer_bytes() / length).clamp(1, LANES_OF_READ);
            let start_address = page * PAGE + start as u64;
            for (batch, lanes) in lanes.chunks(most).enumerate() {
                let pieces: Vec<Piece> = (0..)
                    .zip(lanes)
                    .map(|(index, lane)| Piece::new(*lane, start_address, length, index * words))
                    .collect();
                let (_, data) = self.store.read(&pieces)?;
                for (index, words) in data.chunks_exact(length).enumerate() {
                    let place = (batch * most + index) * bytes + done;
                    let piece = &words[range.start - start..range.end - start];
                    out[place..place + piece.len()].copy_from_slice(piece);
                }
            }
            done += range.len();
        }
        Ok(Ok(()))
    }

    /// Writes memory at the same address of several lanes, or of none. Returns the first lane that cannot be written, and
    /// why.
    pub(super) fn write_rows(
        &mut self,
        address: u64,
        rows: &[(usize, &[u8])],
        access: Option<Access>,
    ) -> Result<Result<(), (usize, Stop)>, Error> {
        if let Err(failure) = self.check_rows(address, rows, access)? {
            return Ok(Err(failure));
        }
        let lanes: Vec<usize> = rows.iter().map(|(lane, _)| *lane).collect();
        // A lane may have several rows, which are written in their order.
        for_each_picked(&mut self.cache.lanes, &lanes, |place, cache| cache.write(address, rows[place].1));
        lanes.into_iter().for_each(|lane| self.cache.track(lane));
        Ok(Ok(()))
    }

    /// Writes bytes of the pipe windows of a lane.
    pub(crate) fn write_window(&mut self, lane: usize, address: u64, bytes: &[u8]) {
        self.cache.lanes[lane].write(address, bytes);
        self.cache.track(lane);
    }

    /// Returns the result that [`Self::write_rows`] would have.
    pub(super) fn check_rows(
        &mut self,
        address: u64,
        rows: &[(usize, &[u8])],
        access: Option<Access>,
    ) -> Result<Result<(), (usize, Stop)>, Error> {
        let check = |index: usize| {
            let (lane, bytes) = rows[index];
            (index, self.maps[lane].check(address, bytes.len() as u64, Access::Write, access))
        };
        let fault = first_fault(rows.len(), check);
        let unfaulting = &rows[..fault.map_or(rows.len(), |(index, _)| index)];
        if let Some(lane) = self.lane_without_frames(address, unfaulting)? {
            return Ok(Err((lane, Stop::OutOfFrames)));
        }
        Ok(fault.map_or(Ok(()), |(index, stop)| Err((rows[index].0, stop))))
    }

    pub(super) fn map_pages(&mut self, lane: usize, pages: Range<u64>, mapping: Mapping) -> bool {
        if pages.is_empty() || !self.maps[lane].map(&pages, mapping) {
            return pages.is_empty();
        }
        self.cache.lanes[lane].map(pages, mapping);
        self.cache.track(lane);
        true
    }

    /// Returns the first lane that would exceed its limit if it wrote all pages of its row.
    fn lane_without_frames(&mut self, address: u64, rows: &[(usize, &[u8])]) -> Result<Option<usize>, Error> {
        self.store.columns.fetch([COLUMN_TAIL, COLUMN_HEAD])?;
        let mut close: Vec<(usize, u64, usize)> = Vec::new();
        for &(lane, bytes) in rows {
            // In most cases there is room even if every page is new.
            let most = self.cache.lanes[lane].pending.len() + pieces(address, bytes.len()).count();
            if self.frames_left(lane) < most as u64 {
                close.push((lane, address, bytes.len()));
            }
        }
        if close.is_empty() {
            return Ok(None);
        }
        self.flush_memory()?;
        self.fetch_whole(&close)?;
        self.store.columns.fetch([COLUMN_TAIL, COLUMN_HEAD])?;
        let lacks = |&&(lane, address, bytes): &&(usize, u64, usize)| {
            let known = &self.cache.lanes[lane];
            let needed =
                pieces(address, bytes).filter(|(page, _)| known.is_fresh(*page) == Some(true)).count();
            needed > 0 && self.frames_left(lane) < needed as u64
        };
        Ok(close.iter().find(lacks).map(|(lane, ..)| *lane))
    }

    /// Returns the number of pages that a lane may still write, from columns that were fetched before.
    fn frames_left(&self, lane: usize) -> u64 {
        let (_, written) = halves(self.store.columns.cached(COLUMN_TAIL)[lane]);
        let (max, _) = halves(self.store.columns.cached(COLUMN_HEAD)[lane]);
        u64::from(max.saturating_sub(written))
    }

    /// Removes the pending changes of some lanes and returns them.
    pub(super) fn take_waiting(&mut self, lanes: &[usize]) -> Vec<(usize, Pending)> {
        let mut taken = Vec::new();
        for &number in lanes {
            let lane = &mut self.cache.lanes[number];
            if !lane.pending.is_empty() {
                taken.push((number, std::mem::take(&mut lane.pending)));
            }
            lane.is_waiting = false;
        }
        self.cache.waiting.retain(|lane| self.cache.lanes[*lane].is_waiting);
        taken
    }

    /// Makes removed changes pending again.
    pub(super) fn put_back_waiting(&mut self, taken: Vec<(usize, Pending)>) {
        for (number, changes) in taken {
            self.cache.lanes[number].pending = changes;
            self.cache.track(number);
        }
    }

    /// Sends all pending writes and mappings to the device.
    pub(super) fn flush_memory(&mut self) -> Result<(), Error> {
        self.read_pending_counters()?;
        self.forget_requests()?;
        if self.cache.waiting.is_empty() {
            return Ok(());
        }
        self.clear_waiting()?;
        self.store.columns.flush()?;
        self.cache.waiting.sort_unstable();
        let cache = &self.cache;
        let parts: Vec<_> = cache
            .waiting
            .par_chunks(8 * LANES_MIN)
            .map(|lanes| {
                let mut part = Batch::default();
                lanes.iter().for_each(|&lane| changes_of(lane, &cache.lanes[lane].pending, &mut part));
                part
            })
            .collect();
        // The pieces of a lane may be in several batches, so each is finished before the next.
        for batch in batches(&parts, self.transfer_bytes()) {
            self.send(batch)?;
        }
        let waiting = std::mem::take(&mut self.cache.waiting);
        for_each_picked(&mut self.cache.lanes, &waiting, |_, lane| {
            for change in lane.pending.effective() {
                if let Change::Write { address, .. } = change
                    && let Some(page) = lane.pages.get_mut(&(address / PAGE))
                {
                    page.fresh = false;
                }
            }
            lane.pending.clear();
            lane.is_waiting = false;
        });
        Ok(())
    }

    /// Writes and maps the pieces of a batch.
    fn send(&mut self, Batch { pieces: mut all, mut data }: Batch) -> Result<(), Error> {
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
            let jobs = firsts.len() as u32 - 1;
            let launch = Launch { jobs, fuel: self.write_fuel, ..Launch::default() };
            self.prepare_counters()?;
            let results = self.store.write(&all, &data, &firsts, launch);
            self.store.columns.invalidate_some(WRITE_COLUMNS);
            self.cache.info = None;
            let (results, counters) = results?;
            self.note_counters(&counters)?;
            let asked_for = counters[COUNTER_FRAMES as usize];
            let capacity = self.store.capacity();
            let left_before: u64 = all.iter().map(Piece::left).sum();
            all = results.into_iter().filter(|piece| piece.stop != STOP_NONE).collect();
            // If this fails, all changes stay pending. Writing some of them again changes nothing.
            let needy = all.iter().filter(|piece| piece.stop == STOP_NEED_FRAME).count() as u32;
            let away: Vec<u32> =
                all.iter().filter(|piece| piece.stop == STOP_NEED_AWAY).map(|piece| piece.fresh).collect();
            let lacks_places = self.store.places.is_some() && asked_for <= capacity;
            if !away.is_empty() || (needy > 0 && lacks_places) {
                if !self.make_room(needy, &away)? {
                    return Err(Error::OutOfFrames { frames: capacity });
                }
            } else if needy > 0 {
                if !self.grow(asked_for)? {
                    return Err(Error::OutOfFrames { frames: capacity });
                }
            } else if all.iter().map(Piece::left).sum::<u64>() == left_before {
                let request = Request::Write { address: all[0].address(), code: all[0].stop };
                return Err(self.bad_request(all[0].lane as usize, request));
            }
        }
        Ok(())
    }

    /// Sets the page tables of lanes whose memory becomes that of the image, before their other pending changes are sent. They keep
    /// their chains: the frames behind those of the snapshot are used again.
    fn clear_waiting(&mut self) -> Result<(), Error> {
        let clears = |lane: &usize| self.cache.lanes[*lane].pending.clears();
        let lanes: Vec<usize> = self.cache.waiting.iter().copied().filter(clears).collect();
        if lanes.is_empty() {
            return Ok(());
        }
        self.has_unused = true;
        if let Some(prefetching) = &mut self.prefetching {
            prefetching.forget(&lanes);
        }
        let bytes = 8 * self.store.lanes as u64;
        let tails: Vec<u64> = match &self.snapshot {
            Some(snapshot) => {
                let first = u64::from(COLUMN_TAIL) * bytes;
                let contents = self.store.device.download(&[(&snapshot.state, first..first + bytes)])?;
                bytemuck::pod_collect_to_vec(&contents[0])
            }
            None => vec![0; self.store.lanes],
        };
        let roots = &self.roots;
        let root = |lane: usize| roots[if roots.len() == 1 { 0 } else { lane }];
        let all = [COLUMN_ROOT, COLUMN_WINDOW, COLUMN_TAIL, COLUMN_BASE];
        self.store.columns.change(all, |column, words| {
            for &lane in &lanes {
                let (root, (tail, _)) = (root(lane), halves(tails[lane]));
                words[lane] = match column {
                    COLUMN_ROOT => word(root.entry, root.levels),
                    COLUMN_WINDOW => root.window,
                    _ => tail.into(),
                };
            }
        })
    }

    pub(super) fn pages_of(&mut self, lane: usize) -> Result<Vec<u64>, Error> {
        self.flush_memory()?;
        if self.cache.info.is_none() {
            self.cache.info = Some(frame_info(&self.store, self.frames)?);
        }
        self.store.columns.fetch([COLUMN_TAIL, COLUMN_HEAD, COLUMN_BASE])?;
        let info = self.cache.info.as_deref().unwrap_or_default();
        let pages = chain_pages(&self.store.columns, info, lane);
        pages
            .map(|pages| pages.into_iter().map(|page| page * PAGE).collect())
            .map_err(|tail| self.bad_request(lane, Request::Chain { tail, frames: self.frames }))
    }
}
