//! Frames that move between the device and the host, and the lanes that wait for them.
//!
//! A lane that needs a place for a new frame, or a frame that is away, has an internal stop. The host gives it both, if it has to by
//! moving other frames to the host: first those of lanes that have stopped, then those of lanes that wait, and last those that
//! were not used for the longest time.
//!
//! If all lanes together use more frames than there are places, they take each other's frames away in turn, and each frame
//! travels again and again. Lanes do not depend on each other. So if that takes more time than it saves, only as many lanes run as
//! have room together; the others wait until these have stopped, and each frame travels about once.

use kvrm_shaders::layout::{
    COLUMN_HEAD, COLUMN_STOP, COLUMN_TAIL, MOVE_AGES, NEED_FRAME, NEED_PAGE, NEED_STORES, RANK_RUNS,
    RANK_STOPPED, RANK_WAITS, RANKS, STOP_NONE, STOP_OUT_OF_FRAMES,
};

use super::lanes::GpuExecutor;
use super::memory::frame_info;
use super::words::{halves, word};
use crate::device::error::Error;
use crate::machine::store::moves::Tallies;

/// The number of turns, as a power of two, for which frames that running lanes have used stay if frames move eagerly, or make
/// room for those that are prefetched. A slice is a turn, and so is an exchange. Lanes may need several frames for one instruction.
pub(super) const AGE_KEPT: u32 = 4;
/// The part of the places that are made free together.
pub(super) const SLACK: u32 = 16;

/// A lane that needs a place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Need {
    pub(super) lane: usize,
    /// The frame that it needs, or `None` for a new one.
    pub(super) frame: Option<u32>,
    /// The number of the page that has the frame.
    pub(super) page: u64,
    /// Whether the instruction stores to the page.
    pub(super) stores: bool,
}

impl Need {
    /// Returns the need of a place for a new frame.
    pub(super) const fn of_place(lane: usize) -> Self {
        Self { lane, frame: None, page: 0, stores: true }
    }

    /// Returns the need of a frame, from the stop address of a lane that has stopped with `STOP_NEED_AWAY`.
    pub(super) const fn of_frame(lane: usize, ask: u64) -> Self {
        let frame = ask as u32 & NEED_FRAME;
        Self { lane, frame: Some(frame), page: ask >> NEED_PAGE, stores: ask as u32 & NEED_STORES != 0 }
    }
}

impl GpuExecutor {
    /// Gives lanes the places that they need and lets them go on, except those that have to wait.
    pub(super) fn serve_needs(&mut self, needs: &[Need]) -> Result<(), Error> {
        if let Some(places) = &mut self.store.places {
            // Lanes that have waited before are in the list again.
            places.moves.waits += needs.len().saturating_sub(self.waiting.lanes) as u64;
        }
        self.waiting.is_crowded = false;
        // Frames that were used in the last slice are older than those that come now.
        self.store.begin_turn();
        let mut ranks = self.ranks()?;
        let running = ranks.iter().filter(|rank| **rank == RANK_RUNS).count();
        let chosen = self.make_room_for(needs, &mut ranks, running)?;
        let mut frames: Vec<u32> = chosen.iter().filter_map(|need| need.frame).collect();
        frames.sort_unstable();
        frames.dedup();
        let fetched = self.store.fetch(&frames, false)? as usize;
        let there = &frames[..fetched];
        let mut free = self.store.places.as_ref().map_or(0, |places| places.free());
        let stops = self.store.columns.get_mut(COLUMN_STOP)?;
        let mut served = Vec::new();
        for need in chosen {
            let is_served = match need.frame {
                Some(frame) => there.binary_search(&frame).is_ok(),
                None => free > 0,
            };
            if is_served {
                free = free.saturating_sub(u32::from(need.frame.is_none()));
                stops[need.lane] = word(STOP_NONE, 0);
                served.push(*need);
            }
        }
        self.waiting.lanes = needs.len() - served.len();
        if served.is_empty() && running == 0 {
            // The host has no more room either.
            self.last_run.is_full = true;
            needs.iter().for_each(|need| stops[need.lane] = word(STOP_OUT_OF_FRAMES, 0));
            self.waiting.lanes = 0;
        }
        self.has_unseen_requests = self.waiting.lanes > 0;
        needs.iter().for_each(|need| ranks[need.lane] = RANK_WAITS);
        served.iter().for_each(|need| ranks[need.lane] = RANK_RUNS);
        self.prefetch(&served, &ranks)
    }

    /// Lowers frames, as [`Store::decode`] does, after it has fetched those that are away.
    ///
    /// [`Store::decode`]: crate::machine::store::Store::decode
    pub(super) fn lower(&mut self, jobs: &[(u32, u32)]) -> Result<(), Error> {
        if self.store.places.is_none() {
            return self.store.decode(jobs);
        }
        // A part of the places is enough for each batch.
        let batch = (self.places().saturating_sub(self.frames_shared) / SLACK).max(1);
        for jobs in jobs.chunks(batch as usize) {
            let mut away = self.store.away(jobs)?;
            while !away.is_empty() {
                // Frames of other jobs may leave, but those that were fetched are the last to leave.
                if !self.make_room(0, &away)? {
                    return Err(Error::OutOfFrames { frames: self.store.capacity() });
                }
                away = self.store.away(jobs)?;
            }
            self.store.decode(jobs)?;
        }
        Ok(())
    }

    /// Makes room for some of the lanes with needs, and returns them. `running` lanes run already.
    fn make_room_for<'a>(
        &mut self,
        needs: &'a [Need],
        ranks: &mut [u32],
        running: usize,
    ) -> Result<&'a [Need], Error> {
        let mut most = self.waiting.most.unwrap_or(usize::MAX);
        let chosen = |most: usize| &needs[..needs.len().min(most.saturating_sub(running).max(1))];
        let wanted = chosen(most).len() as u32;
        if self.free_places() < wanted {
            self.store.grow_places(self.places().saturating_add(wanted.max(self.places() / 2)))?;
        }
        loop {
            let now = chosen(most);
            needs.iter().for_each(|need| ranks[need.lane] = RANK_WAITS);
            now.iter().for_each(|need| ranks[need.lane] = RANK_RUNS);
            let wanted = now.len() as u32;
            let free = self.free_places();
            if free >= wanted {
                return Ok(now);
            }
            let wanted = wanted.saturating_add(self.places() / SLACK) - free;
            let tallies = self.store.tally(self.own_frames(), ranks)?;
            let others: u32 = tallies[MOVE_AGES as usize..].iter().sum();
            let lanes = running + now.len();
            if others < wanted && now.len() > 1 {
                // A CPU runs one workgroup after the other.
                let width =
                    if self.store.device.info().is_software() { 1 } else { self.store.device.width()? };
                if self.waiting.are_too_many(lanes, width, self.places()) {
                    most = lanes * 3 / 4;
                    self.waiting.limit(most.max(1));
                    continue;
                }
                self.waiting.is_crowded = true;
            }
            self.evict_some(ranks, tallies, wanted, 1)?;
            return Ok(now);
        }
    }

    /// Makes room for frames while all lanes may need theirs, and fetches those in `frames`. Returns whether there is room for
    /// one frame at least.
    pub(super) fn make_room(&mut self, wanted: u32, frames: &[u32]) -> Result<bool, Error> {
        let wanted = wanted.saturating_add(frames.len() as u32).max(1);
        if self.free_places() < wanted {
            self.store.grow_places(self.places().saturating_add(wanted.max(self.places() / 2)))?;
        }
        let missing = wanted.saturating_sub(self.free_places());
        if missing > 0 {
            let ranks = vec![RANK_RUNS; self.store.lanes];
            let tallies = self.store.tally(self.own_frames(), &ranks)?;
            self.evict_some(&ranks, tallies, missing, 0)?;
        }
        let mut frames = frames.to_vec();
        frames.sort_unstable();
        frames.dedup();
        let fetched = self.store.fetch(&frames, false)?;
        Ok(fetched > 0 || self.free_places() > 0)
    }

    /// Moves all frames to the host that no lane has used in the last slices.
    pub(super) fn evict_eagerly(&mut self) -> Result<(), Error> {
        let ranks = vec![RANK_RUNS; self.store.lanes];
        let tallies = self.store.tally(self.own_frames(), &ranks)?;
        self.evict_some(&ranks, tallies, u32::MAX, AGE_KEPT)
    }

    /// Moves about `wanted` frames to the host, in several dispatches, none of an order below `least`.
    pub(super) fn evict_some(
        &mut self,
        ranks: &[u32],
        tallies: Tallies,
        wanted: u32,
        least: u32,
    ) -> Result<(), Error> {
        let frames = self.own_frames();
        let enough = self.free_places().saturating_add(wanted);
        self.cache.info = None;
        let mut known = Some(tallies);
        while self.free_places() < enough {
            let tallies = match known.take() {
                Some(tallies) => tallies,
                None => self.store.tally(frames, ranks)?,
            };
            let missing = enough - self.free_places();
            if self.store.evict(frames, ranks, &tallies, (missing, least))? == 0 {
                if !self.has_unused {
                    break;
                }
                self.release_unused()?;
            }
        }
        Ok(())
    }

    /// Takes their places from all frames that lanes had before a reset and have not used again, and drops their contents.
    fn release_unused(&mut self) -> Result<(), Error> {
        self.has_unused = false;
        let mut info = frame_info(&self.store, self.frames)?;
        let columns = &mut self.store.columns;
        columns.fetch([COLUMN_TAIL, COLUMN_HEAD])?;
        let mut unused = Vec::new();
        for (tail, head) in columns.cached(COLUMN_TAIL).iter().zip(columns.cached(COLUMN_HEAD)) {
            let next = |frame: u32| info.get(frame as usize).map_or(0, |[.., next, _]| *next);
            let mut frame = match halves(*tail).0 {
                0 => halves(*head).1,
                last => next(last),
            };
            // The loop is bounded because a damaged chain may be a cycle.
            while frame != 0 && unused.len() < info.len() {
                unused.push(frame);
                frame = next(frame);
            }
        }
        self.store.release(&unused, &mut info)
    }

    /// Returns the rank of each lane before any lane is served.
    fn ranks(&mut self) -> Result<Vec<u32>, Error> {
        let stops = self.store.columns.get(COLUMN_STOP)?;
        let rank = |stop: &u64| if halves(*stop).0 == STOP_NONE { RANK_RUNS } else { RANK_STOPPED };
        Ok(stops.iter().map(rank).collect())
    }

    /// Returns the first frame that is not of the images, and the end of those in use.
    pub(super) const fn own_frames(&self) -> (u32, u32) {
        (self.frames_shared, self.frames)
    }

    pub(super) fn free_places(&self) -> u32 {
        self.store.places.as_ref().map_or(0, |places| places.free())
    }

    pub(super) fn places(&self) -> u32 {
        self.store.places.as_ref().map_or(0, |places| places.count())
    }
}

const _: () = assert!(RANK_RUNS == 0 && RANKS == 3, "frames of lanes that run have the smallest orders");
