//! The accesses of which prefetchers hear, and the pages that they name.

use kvrm_prefetch::{Candidates, PageAccess, Trigger};

/// An access of which the prefetcher of a lane hears.
#[derive(Clone, Copy, Debug)]
pub(super) struct Heard {
    pub(super) lane: usize,
    pub(super) access: PageAccess,
    pub(super) trigger: Trigger,
    /// Whether pages may be named after the access.
    pub(super) may_name: bool,
}

/// A page that was named after an access.
#[derive(Clone, Copy, Debug)]
pub(super) struct Named {
    /// The place of the page among those that were named after the same access.
    pub(super) rank: usize,
    pub(super) page: u64,
    pub(super) after: Heard,
}

/// Returns candidates with the access after which they were named.
pub(super) fn named_after(after: &Heard, candidates: &Candidates) -> impl Iterator<Item = Named> {
    candidates.pages().enumerate().map(|(rank, page)| Named { rank, page, after: *after })
}

/// Returns the accesses of each lane that has any, with what is known of the lane.
pub(super) fn by_lane<'a, T>(lanes: &'a mut [T], mut heard: &'a [Heard]) -> Vec<(&'a mut T, &'a [Heard])> {
    let mut all = Vec::new();
    for (lane, known) in lanes.iter_mut().enumerate() {
        let (now, later) = heard.split_at(heard.iter().take_while(|heard| heard.lane == lane).count());
        heard = later;
        if !now.is_empty() {
            all.push((known, now));
        }
    }
    all
}
