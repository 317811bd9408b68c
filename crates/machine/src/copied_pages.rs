//! The pages that a forked lane had written, whose contents are in frames of the image of the fork.

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::shared::assign;

/// Consecutive pages that are in consecutive frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Run {
    first_page: u64,
    end_page: u64,
    first_frame: u32,
}

impl Run {
    /// Returns the part of the run that lies in `pages`, if any.
    fn part(&self, pages: Range<u64>) -> Option<Self> {
        let (first_page, end_page) = (self.first_page.max(pages.start), self.end_page.min(pages.end));
        let first_frame = self.first_frame + first_page.saturating_sub(self.first_page) as u32;
        (first_page < end_page).then_some(Self { first_page, end_page, first_frame })
    }
}

/// The copied pages of a lane, with their frames.
///
/// They are not regions of their own, because what a guest can do with its pages must not depend on which of them the
/// forked lane had written. Lanes share the list until they map or unmap one of the pages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CopiedPages {
    /// Sorted and disjoint.
    #[serde(with = "crate::interned")]
    runs: Arc<Vec<Run>>,
}

impl CopiedPages {
    /// Creates a list of `pages`, which ascend. The first is in frame `first_frame`, the others in the frames after it.
    pub(crate) fn new(pages: impl IntoIterator<Item = u64>, first_frame: u32) -> Self {
        let mut runs: Vec<Run> = Vec::new();
        for (page, frame) in pages.into_iter().zip(first_frame..) {
            match runs.last_mut().filter(|run| run.end_page == page) {
                Some(run) => run.end_page += 1,
                None => runs.push(Run { first_page: page, end_page: page + 1, first_frame: frame }),
            }
        }
        Self { runs: Arc::new(runs) }
    }

    /// Makes this list equal to `source`, as [`assign`] does.
    pub(crate) fn assign(&mut self, source: &Self) {
        assign(&mut self.runs, &source.runs);
    }

    /// Returns a copy that shares nothing with this list.
    pub(crate) fn own(&self) -> Self {
        Self { runs: Arc::new(self.runs.to_vec()) }
    }

    /// Returns the frame of a page, if it is a copied page.
    pub(crate) fn frame(&self, page: u64) -> Option<u32> {
        let Run { first_page, first_frame, .. } =
            self.runs.get(self.after(page)).filter(|run| run.first_page <= page)?;
        Some(first_frame + (page - first_page) as u32)
    }

    /// Returns the longest range of pages that begins at `page`, ends at `end` at most, and contains either only copied
    /// pages or none.
    pub(crate) fn alike(&self, page: u64, end: u64) -> Range<u64> {
        let next = self.runs.get(self.after(page));
        let until =
            next.map_or(end, |run| if run.first_page <= page { run.end_page } else { run.first_page });
        page..until.min(end)
    }

    /// Returns the ranges of consecutive copied pages, each with the frame of its first page.
    pub(crate) fn runs(&self) -> impl Iterator<Item = (Range<u64>, u32)> + Clone {
        self.runs.iter().map(|run| (run.first_page..run.end_page, run.first_frame))
    }

    /// Returns all copied pages with their frames, in ascending order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, u32)> {
        self.runs.iter().flat_map(|run| (run.first_page..run.end_page).zip(run.first_frame..))
    }

    /// Removes pages from the list.
    pub(crate) fn remove(&mut self, pages: &Range<u64>) {
        let first = self.after(pages.start);
        let end = self.runs.partition_point(|run| run.first_page < pages.end);
        if first < end {
            let parts = |run: &Run| [run.part(0..pages.start), run.part(pages.end..u64::MAX)];
            let left: Vec<Run> = self.runs[first..end].iter().flat_map(parts).flatten().collect();
            Arc::make_mut(&mut self.runs).splice(first..end, left);
        }
    }

    /// Returns the index of the first run that does not end at or before `page`.
    fn after(&self, page: u64) -> usize {
        self.runs.partition_point(|run| run.end_page <= page)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The list is compared with a plain map from pages to frames.
        #[test]
        fn the_list_is_a_map_from_pages_to_frames(
            pages in prop::collection::btree_set(0..80u64, 0..60),
            removed in prop::collection::vec((0..80u64, 0..20u64), 0..8),
        ) {
            let mut list = CopiedPages::new(pages.iter().copied(), 5);
            let mut map: BTreeMap<u64, u32> = pages.into_iter().zip(5..).collect();
            for (first, count) in removed {
                let range = first..first + count;
                list.remove(&range);
                map.retain(|page, _| !range.contains(page));
                prop_assert_eq!(list.iter().collect::<Vec<_>>(), map.clone().into_iter().collect::<Vec<_>>());
                for page in 0..90 {
                    prop_assert_eq!(list.frame(page), map.get(&page).copied(), "page {}", page);
                    let alike = list.alike(page, 85.max(page + 1));
                    prop_assert!(alike.start == page && alike.end > page);
                    // Frames of copied pages are consecutive within the range; other pages have none.
                    let expected = |other: u64| map.get(&page).map(|frame| frame + (other - page) as u32);
                    prop_assert!(alike.clone().all(|other| map.get(&other).copied() == expected(other)));
                }
            }
        }
    }
}
