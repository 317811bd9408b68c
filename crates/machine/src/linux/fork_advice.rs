//! What children get of the memory of a process: the advice of `madvise` about forks.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::errno::{ENOMEM, Errno};
use crate::lane_memory::LaneMemory;
use crate::page_map::Mapping;

/// The limit on ranges of pages with advice of a kind, in an address space.
const RANGES_MAX: usize = 1024;

/// A set of pages: disjoint ranges in rising order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct PageRanges(Vec<Range<u64>>);

impl PageRanges {
    pub(super) fn add(&mut self, pages: &Range<u64>) -> Result<(), Errno> {
        if self.0.len() >= RANGES_MAX {
            return Err(ENOMEM);
        }
        let mut whole = pages.clone();
        self.0.retain(|range| {
            let touches = range.start <= whole.end && whole.start <= range.end;
            if touches {
                whole = range.start.min(whole.start)..range.end.max(whole.end);
            }
            !touches
        });
        self.0.push(whole);
        self.0.sort_by_key(|range| range.start);
        Ok(())
    }

    pub(super) fn remove(&mut self, pages: &Range<u64>) {
        let parts = |range: &Range<u64>| {
            [range.start..range.end.min(pages.start), range.start.max(pages.end)..range.end]
        };
        self.0 = self.0.iter().flat_map(parts).filter(|range| !range.is_empty()).collect();
    }

    /// Moves the pages of a range to another one. What does not fit there is gone.
    fn relocate(&mut self, from: &Range<u64>, to: &Range<u64>) {
        let moved: Vec<Range<u64>> = self.within(from).collect();
        self.remove(from);
        self.remove(to);
        for part in moved {
            let start = to.start + (part.start - from.start);
            // What grows keeps its advice.
            let is_end = part.end == from.end;
            let end = if is_end { to.end } else { to.end.min(start + (part.end - part.start)) };
            if start < end {
                // There is room: the parts were there before.
                let _ = self.add(&(start..end));
            }
        }
    }

    /// Returns the parts of the set within a range.
    fn within(&self, pages: &Range<u64>) -> impl Iterator<Item = Range<u64>> {
        let pages = pages.clone();
        let parts = self.0.iter().map(move |range| range.start.max(pages.start)..range.end.min(pages.end));
        parts.filter(|range| !range.is_empty())
    }
}

/// The advice about the pages of an address space.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct ForkAdvice {
    /// The pages that children do not get.
    pub(super) absent: PageRanges,
    /// The pages that are zero in children.
    pub(super) wiped: PageRanges,
}

impl ForkAdvice {
    /// Forgets the advice about pages that are unmapped or mapped again.
    pub(super) fn forget(&mut self, pages: &Range<u64>) {
        self.absent.remove(pages);
        self.wiped.remove(pages);
    }

    /// Moves the advice about pages to others.
    pub(super) fn relocate(&mut self, from: &Range<u64>, to: &Range<u64>) {
        self.absent.relocate(from, to);
        self.wiped.relocate(from, to);
    }

    /// Follows the advice in the memory of a child.
    pub(super) fn follow(&self, memory: &mut LaneMemory) {
        for (ranges, is_absent) in [(&self.wiped, false), (&self.absent, true)] {
            for range in &ranges.0 {
                let regions = memory.map.regions().to_vec();
                for region in regions {
                    let part = region.pages_within(range);
                    let mapping = if is_absent { Mapping::Unmap } else { Mapping::Zero(region.permissions) };
                    if !part.is_empty() {
                        // The pages are mapped, so they have room.
                        let is_mapped = memory.map.map(&part, mapping);
                        debug_assert!(is_mapped, "pages {part:?} can be mapped again");
                    }
                }
                memory.pages.retain(|(page, _)| !range.contains(page));
            }
        }
    }

    /// Returns the ranges that children do not get.
    pub(super) fn absent(&self) -> &[Range<u64>] {
        &self.absent.0
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Compares ranges with a set of pages.
        #[test]
        fn ranges_are_sets_of_pages(
            changes in prop::collection::vec((0..3, 0..40_u64, 1..20_u64, 0..60_u64), 1..40),
        ) {
            let (mut ranges, mut pages) = (PageRanges::default(), BTreeSet::new());
            for (kind, first, count, to) in changes {
                let range = first..first + count;
                match kind {
                    0 => {
                        prop_assert_eq!(ranges.add(&range), Ok(()), "there is room");
                        pages.extend(range);
                    }
                    1 => {
                        ranges.remove(&range);
                        pages.retain(|page| !range.contains(page));
                    }
                    _ => {
                        let target = 100 + to..100 + to + count;
                        let moved: Vec<u64> = pages.range(range.clone()).map(|page| page - first + target.start).collect();
                        ranges.relocate(&range, &target);
                        pages.retain(|page| !range.contains(page) && !target.contains(page));
                        pages.extend(moved);
                    }
                }
                let found: BTreeSet<u64> = ranges.0.iter().cloned().flatten().collect();
                prop_assert_eq!(&found, &pages, "the same pages");
                prop_assert!(ranges.0.is_sorted_by(|a, b| a.end < b.start), "disjoint and merged: {:?}", ranges);
            }
        }
    }
}
