//! What the host knows of guest memory: pages at hand, and changes the device is still to be told.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use kvrm_machine::{Mapping, PAGE_BYTES, Permissions, pieces};
use kvrm_shaders::layout::{MAP_PROTECT, MAP_ZERO};

use super::words::PAGE;
use crate::device::error::Error;
use crate::machine::pages::flags;
use crate::machine::store::Store;
use crate::machine::store::transfer::{HostPiece as _, Piece};

/// How many pages the device maps in one go.
const MAP_PAGES_MAX: u32 = 1 << 16;

/// What the host knows of guest memory, and what the device does not know yet.
#[derive(Debug, Default)]
pub(super) struct Cache {
    pub(super) lanes: Vec<LaneCache>,
    /// The lanes of which something is known.
    pub(super) known: Vec<usize>,
    /// The lanes that have changes the device is still to be told.
    pub(super) waiting: Vec<usize>,
    /// What is known of each frame, in the device's four words, if that is at hand.
    pub(super) info: Option<Vec<[u32; 4]>>,
}

/// The same of a lane.
#[derive(Debug, Default)]
pub(super) struct LaneCache {
    /// Pages by number.
    pub(super) pages: BTreeMap<u64, Page>,
    /// Bytes from an address on, where a page would be too much.
    pub(super) piece: Option<(u64, Box<[u8]>)>,
    /// Changes the device is still to be told, in order.
    pub(super) pending: Vec<Change>,
    pub(super) is_known: bool,
    pub(super) is_waiting: bool,
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
    pub(super) bytes: Box<[u8; PAGE_BYTES]>,
    /// Whether the lane has not written it yet.
    pub(super) fresh: bool,
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
pub(super) fn changes_of(lane: usize, pending: &[Change], (all, data): &mut (Vec<Piece>, Vec<u64>)) {
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
    pub(super) fn has(&self, address: u64, bytes: usize) -> bool {
        self.piece_at(address, bytes).is_some()
            || pieces(address, bytes).all(|(page, _)| self.pages.contains_key(&page))
    }

    /// The range, if it lies within the piece that is known.
    pub(super) fn piece_at(&self, address: u64, bytes: usize) -> Option<&[u8]> {
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
