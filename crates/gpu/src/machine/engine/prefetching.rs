//! Pages that come back from the host before lanes need them.
//!
//! Between slices, each lane that has waited for a page, or has used one that was prefetched, tells its prefetcher, which names more
//! pages. Those that are away come with the same exchange. What is prefetched never takes places of frames that were used in the last
//! slices, and never those that other lanes need now.

use std::collections::HashSet;

use kvrm_prefetch::{PageAccess, Trigger};
use kvrm_shaders::interface::machine::Move;
use kvrm_shaders::layout::{COLUMN_PC, COLUMN_STEPS, FRAME_LOST, RANK_RUNS};

use super::heard::{Heard, Named};
use super::lanes::GpuExecutor;
use super::moving::{AGE_KEPT, Need, SLACK};
use super::predictors::Prefetched;
use crate::device::error::Error;
use crate::machine::store::moves::{lane_page, page_number};

/// The number of bytes of an access whose size is not known: that of most loads and stores.
const ACCESS_BYTES: u8 = 8;
/// The largest number of frames whose use is asked for. Earlier ones are forgotten.
const ASKED_MAX: usize = 1 << 20;
/// The part of the places that one exchange may fill with prefetched frames.
const SHARE: u32 = 4;

impl GpuExecutor {
    /// Asks which frames were used since they were prefetched. The answer comes with the counters of the slice.
    pub(super) fn ask_first_uses(&mut self) -> Result<(), Error> {
        let Some(prefetching) = &mut self.prefetching else { return Ok(()) };
        let unused = &mut prefetching.unused;
        unused.drain(..unused.len().saturating_sub(ASKED_MAX));
        if unused.is_empty() {
            return Ok(());
        }
        let pages: Vec<Move> = unused.iter().map(|unused| unused.page).collect();
        self.store.ask_used(&pages)
    }

    /// Returns the first uses of frames that were prefetched, in the order in which they were prefetched.
    fn first_uses(&mut self) -> Vec<Prefetched> {
        let answer = self.store.take_uses();
        let Some(prefetching) = &mut self.prefetching else { return Vec::new() };
        if answer.len() != prefetching.unused.len() {
            // Nothing was asked.
            return Vec::new();
        }
        let (mut used, mut unused) = (Vec::new(), Vec::new());
        for (prefetched, answer) in std::mem::take(&mut prefetching.unused).into_iter().zip(answer) {
            let throttle = &mut prefetching.throttles[prefetched.page.lane as usize];
            match answer.frame {
                0 => unused.push(prefetched),
                FRAME_LOST => throttle.left_unused(),
                _ => {
                    throttle.used();
                    used.push(prefetched);
                }
            }
        }
        prefetching.unused = unused;
        used
    }

    /// Fetches pages that lanes are likely to need next. `served` are the lanes whose needs have just been met, and `ranks` the
    /// ranks of all lanes.
    pub(super) fn prefetch(&mut self, served: &[Need], ranks: &[u32]) -> Result<(), Error> {
        if self.prefetching.is_none() {
            return Ok(());
        }
        let used = self.first_uses();
        self.store.columns.fetch([COLUMN_PC, COLUMN_STEPS])?;
        let [pcs, steps] = [COLUMN_PC, COLUMN_STEPS].map(|column| self.store.columns.cached(column));
        let mut heard = Vec::with_capacity(used.len() + served.len());
        for Prefetched { page, after } in &used {
            let lane = page.lane as usize;
            let access = PageAccess { page: page_number(page), step: steps[lane], ..*after };
            heard.push(Heard { lane, access, trigger: Trigger::FirstUse, may_name: true });
        }
        // Lanes that need a place for a new frame have nothing to bring, and are not heard.
        for Need { lane, page, stores, .. } in served.iter().filter(|need| need.frame.is_some()) {
            let (pc, step) = (pcs[*lane], steps[*lane]);
            let access = PageAccess { page: *page, size: ACCESS_BYTES, load: !stores, pc, step };
            heard.push(Heard { lane: *lane, access, trigger: Trigger::Miss, may_name: true });
        }
        // A lane has used pages before it needed the one for which it has stopped.
        heard.sort_by_key(|heard| heard.lane);
        if let Some(places) = &mut self.store.places {
            places.moves.used += used.len() as u64;
            places.moves.heard += heard.len() as u64;
        }
        let Some(prefetching) = &mut self.prefetching else { return Ok(()) };
        for heard in &mut heard {
            heard.may_name = prefetching.throttles[heard.lane].allows();
        }
        let mut named = prefetching.predictors.hear(&self.store.device, &heard)?;
        if let Some(places) = &mut self.store.places {
            places.moves.asked += prefetching.predictors.take_asked();
        }
        // Lanes that wait would ask for these frames once more.
        named.retain(|named| ranks[named.after.lane] == RANK_RUNS);
        named.sort_by_key(|named| named.rank);
        let wanted = self.locate_named(named)?;
        let new_frames = served.iter().filter(|need| need.frame.is_none()).count() as u32;
        self.bring(wanted, new_frames, ranks)
    }

    /// Returns the named pages that are away, each frame once, as many as one exchange may bring.
    fn locate_named(&mut self, named: Vec<Named>) -> Result<Vec<Prefetched>, Error> {
        if named.is_empty() {
            return Ok(Vec::new());
        }
        let page = |named: &Named| lane_page(named.after.lane, named.page);
        let mut pages: Vec<Move> = named.iter().map(page).collect();
        self.store.locate(&mut pages)?;
        let mut known = HashSet::new();
        let away =
            named.into_iter().zip(pages).filter(|(_, page)| page.frame != 0 && known.insert(page.frame));
        let most = (self.places() / SHARE) as usize;
        Ok(away.map(|(named, page)| Prefetched { page, after: named.after.access }).take(most).collect())
    }

    /// Fetches frames, if there are or can be made places for them. `new_frames` places stay free.
    fn bring(&mut self, mut wanted: Vec<Prefetched>, new_frames: u32, ranks: &[u32]) -> Result<(), Error> {
        let enough = new_frames.saturating_add(wanted.len() as u32);
        let missing = enough.saturating_sub(self.free_places());
        if wanted.is_empty() {
            return Ok(());
        }
        if missing > 0 {
            let tallies = self.store.tally(self.own_frames(), ranks)?;
            self.evict_some(ranks, tallies, missing.saturating_add(self.places() / SLACK), AGE_KEPT)?;
        }
        wanted.truncate(self.free_places().saturating_sub(new_frames) as usize);
        let frames: Vec<u32> = wanted.iter().map(|wanted| wanted.page.frame).collect();
        let fetched = self.store.fetch(&frames, true)? as usize;
        wanted.truncate(fetched);
        let Some(prefetching) = &mut self.prefetching else { return Ok(()) };
        for Prefetched { page, .. } in &wanted {
            prefetching.predictors.arrived(page.lane as usize, page_number(page), true);
        }
        prefetching.unused.extend(wanted);
        Ok(())
    }
}
