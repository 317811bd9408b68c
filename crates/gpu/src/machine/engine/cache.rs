//! The host's cache of guest memory: fetched pages, and changes that wait to be sent to the device.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use kvrm_machine::{Mapping, PAGE_BYTES, PIPE_ADDRESS, Permissions, pieces};
use kvrm_shaders::layout::{MAP_PROTECT, MAP_ZERO};

use super::pending::{Change, Pending};
use super::words::PAGE;
use crate::device::error::Error;
use crate::machine::pages::flags;
use crate::machine::store::Store;
use crate::machine::store::transfer::{HostPiece as _, Piece};

/// The largest number of pages of one mapping piece.
const MAP_PAGES_MAX: u32 = 1 << 30;

/// The caches of all lanes.
#[derive(Debug, Default)]
pub(super) struct Cache {
    pub(super) lanes: Vec<LaneCache>,
    /// The lanes with cached pages or bytes.
    pub(super) known: Vec<usize>,
    /// The lanes with pending changes.
    pub(super) waiting: Vec<usize>,
    /// The information about each frame as four words, as on the device, if it was fetched.
    pub(super) info: Option<Vec<[u32; 4]>>,
}

/// The cached memory and the pending changes of a lane.
#[derive(Debug, Default)]
pub(super) struct LaneCache {
    /// The cached pages, by page number.
    pub(super) pages: BTreeMap<u64, Page>,
    /// Bytes from `piece_start` on, where a page would be more than needed. The vector keeps its memory when it is emptied.
    pub(super) piece: Vec<u8>,
    /// The address of these bytes.
    pub(super) piece_start: u64,
    pub(super) pending: Pending,
    /// Whether the lane is in [`Cache::known`].
    pub(super) is_known: bool,
    /// Whether the lane is in [`Cache::waiting`].
    pub(super) is_waiting: bool,
}

/// A cached page.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) bytes: Box<[u8; PAGE_BYTES]>,
    /// Whether the lane has not written the page on the device yet.
    pub(super) fresh: bool,
}

/// Fetches pages, given as lane and page number, and returns them in the same order. A page that is not mapped on the
/// device yet is zero and fresh. They are fetched in transfers of at most `transfer_bytes` bytes, or of a page.
pub(super) fn fetch_pages(
    store: &mut Store,
    pages: &[(usize, u64)],
    transfer_bytes: usize,
) -> Result<Vec<Page>, Error> {
    let mut fetched = Vec::with_capacity(pages.len());
    for batch in pages.chunks((transfer_bytes / PAGE_BYTES).max(1)) {
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

/// Returns whether a page is in the pipe windows of a lane.
pub(super) const fn is_in_window(page: u64) -> bool {
    page >= PIPE_ADDRESS / PAGE
}

/// Pieces to write or map, those of each lane in order, and their data.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Batch {
    pub(super) pieces: Vec<Piece>,
    pub(super) data: Vec<u64>,
}

impl Batch {
    /// Appends a piece, whose words lie at its place in `data`.
    fn push(&mut self, piece: &Piece, data: &[u64]) {
        let words = words_of(piece);
        let first = piece.data as usize;
        self.pieces.push(Piece { data: self.data.len() as u32, ..*piece });
        self.data.extend(&data[first..first + words]);
    }
}

/// Returns the number of words of data that a piece to write or map has.
const fn words_of(piece: &Piece) -> usize {
    if piece.map == 0 { (piece.bytes as usize).div_ceil(8) } else { 0 }
}

/// Divides pieces, in their order, into batches. The list of pieces of a batch and its data have at most
/// `transfer_bytes` bytes each, or the batch has one piece.
pub(super) fn batches(parts: &[Batch], transfer_bytes: usize) -> Vec<Batch> {
    let pieces_max = transfer_bytes / size_of::<Piece>();
    let (mut done, mut batch) = (Vec::new(), Batch::default());
    for part in parts {
        for piece in &part.pieces {
            let bytes = 8 * (batch.data.len() + words_of(piece));
            let is_full = bytes > transfer_bytes || batch.pieces.len() >= pieces_max;
            if is_full && !batch.pieces.is_empty() {
                done.push(std::mem::take(&mut batch));
            }
            batch.push(piece, &part.data);
        }
    }
    done.push(batch);
    done
}

/// Appends the pending changes of a lane to the pieces, and their bytes to the data. Each piece names the index of its
/// first word in the data.
pub(super) fn changes_of(lane: usize, pending: &Pending, batch: &mut Batch) {
    let Batch { pieces: all, data } = batch;
    for change in pending.effective() {
        match change {
            // The columns of the state say that already.
            Change::Clear => {}
            Change::Write { address, bytes } => {
                all.push(Piece::new(lane, address, bytes.len(), data.len() as u32).undone());
                data.extend(bytes.chunks(8).map(|chunk| {
                    let mut word = [0; 8];
                    word[..chunk.len()].copy_from_slice(chunk);
                    u64::from_le_bytes(word)
                }));
            }
            Change::Map { pages, mapping } => {
                let map = match mapping {
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

    /// Discards all cached memory, because the device may have changed it. Pending changes stay.
    pub(super) fn forget(&mut self) {
        for lane in self.known.drain(..) {
            let lane = &mut self.lanes[lane];
            lane.pages.clear();
            lane.piece.clear();
            lane.is_known = false;
        }
        self.info = None;
    }

    /// Updates the lists of lanes with cached memory and with pending changes after a change of one lane's cache.
    pub(super) fn track(&mut self, number: usize) {
        let lane = &mut self.lanes[number];
        let has_any = !lane.piece.is_empty() || !lane.pages.is_empty();
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
    /// Returns whether a range of mapped memory is in the cache.
    pub(super) fn has(&self, address: u64, bytes: usize) -> bool {
        self.piece_at(address, bytes).is_some()
            || pieces(address, bytes).all(|(page, _)| self.pages.contains_key(&page))
    }

    /// Returns the bytes of a range, if it lies within the cached piece.
    pub(super) fn piece_at(&self, address: u64, bytes: usize) -> Option<&[u8]> {
        if self.piece.is_empty() {
            return None;
        }
        let from = usize::try_from(address.checked_sub(self.piece_start)?).ok()?;
        self.piece.get(from..from.checked_add(bytes)?)
    }

    /// Reads mapped memory from the cache. Returns false if a part of it is not cached.
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

    /// Returns the pages of a range that are not cached.
    pub(super) fn missing(&self, address: u64, bytes: usize) -> impl Iterator<Item = u64> {
        pieces(address, bytes).map(|(page, _)| page).filter(|page| !self.pages.contains_key(page))
    }

    /// Returns whether the lane has not written a page on the device yet, or `None` if the page is not cached.
    pub(super) fn is_fresh(&self, page: u64) -> Option<bool> {
        self.pages.get(&page).map(|page| page.fresh)
    }

    /// Adds a fetched page after applying the pending changes to it.
    pub(super) fn add_page(&mut self, number: u64, mut page: Page) {
        for change in self.pending.effective() {
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

    /// Undoes all pending changes but the first `changes`.
    pub(super) fn undo(&mut self, changes: usize) {
        self.pending.truncate(changes);
        self.pages.clear();
        self.piece.clear();
    }

    /// Returns the pages of pending writes and the pages of a range.
    pub(super) fn written(&self, address: u64, bytes: usize) -> BTreeSet<u64> {
        self.pages_to_write().chain(pieces(address, bytes).map(|(page, _)| page)).collect()
    }

    /// Returns the pages of memory of pending writes.
    pub(super) fn pages_to_write(&self) -> impl Iterator<Item = u64> {
        let written = self.pending.effective().filter_map(|change| match change {
            Change::Write { address, .. } => Some(address / PAGE),
            Change::Map { .. } | Change::Clear => None,
        });
        // Pipe windows are not pages that the lane writes.
        written.filter(|page| !is_in_window(*page))
    }

    /// Adds the change after which the memory is that of the image to the pending changes.
    pub(super) fn clear(&mut self) {
        self.pages.clear();
        self.piece.clear();
        self.pending.add_clear();
    }

    /// Adds a write to mapped memory to the pending changes.
    pub(super) fn write(&mut self, address: u64, bytes: &[u8]) {
        self.piece.clear();
        let mut done = 0;
        for (number, range) in pieces(address, bytes.len()) {
            let piece = &bytes[done..done + range.len()];
            done += range.len();
            let address = number * PAGE + range.start as u64;
            self.pending.write(address, piece);
            if let Some(page) = self.pages.get_mut(&number) {
                page.bytes[range].copy_from_slice(piece);
            }
        }
    }

    /// Adds a change of mapping to the pending changes.
    pub(super) fn map(&mut self, pages: Range<u64>, mapping: Mapping) {
        self.piece.clear();
        match mapping {
            Mapping::Zero(_) | Mapping::Heap => {
                self.pages.range_mut(pages.clone()).for_each(|(_, page)| page.bytes.fill(0));
            }
            Mapping::Unmap => self.pages.retain(|page, _| !pages.contains(page)),
            Mapping::Protect(_) => {}
        }
        self.pending.map(pages, mapping);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the pending changes of two lanes as parts.
    fn parts() -> [Batch; 2] {
        let mut lanes = [Pending::default(), Pending::default()];
        lanes[0].write(0, &[1; 16]);
        lanes[0].map(0..3, Mapping::Heap);
        lanes[0].write(0, &[2; 9]);
        [(8, 3), (4096, 4), (1, 5)]
            .into_iter()
            .for_each(|(bytes, byte)| lanes[1].write(0, &vec![byte; bytes]));
        [0, 1].map(|lane| {
            let mut part = Batch::default();
            changes_of(lane, &lanes[lane], &mut part);
            part
        })
    }

    /// Returns the lane, the size and the words of each piece.
    fn contents(batches: &[Batch]) -> Vec<(u32, u32, Vec<u64>)> {
        let words =
            |batch: &Batch, piece: &Piece| batch.data[piece.data as usize..][..words_of(piece)].to_vec();
        let all = batches.iter().flat_map(|batch| batch.pieces.iter().map(move |piece| (batch, piece)));
        all.map(|(batch, piece)| (piece.lane, piece.bytes, words(batch, piece))).collect()
    }

    #[test]
    fn batches_have_all_pieces_in_order_with_their_data() {
        let parts = parts();
        let whole = batches(&parts, 1 << 20);
        assert_eq!(whole.len(), 1);
        assert_eq!(contents(&whole), contents(&parts));
        for bytes in [0, 8, 40, 100, 4096, 4120] {
            let divided = batches(&parts, bytes);
            assert!(divided.len() > 1, "{bytes} bytes");
            assert_eq!(contents(&divided), contents(&parts), "{bytes} bytes");
            for batch in &divided {
                let fits = 8 * batch.data.len() <= bytes && size_of_val(&batch.pieces[..]) <= bytes;
                assert!(fits || batch.pieces.len() == 1, "{bytes} bytes: {batch:?}");
            }
        }
    }

    #[test]
    fn no_changes_are_an_empty_batch() {
        assert_eq!(batches(&[], 64), [Batch::default()]);
    }
}
