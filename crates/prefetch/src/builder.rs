//! The filter through which accesses become a stream.

use crate::access::PageAccess;
use crate::recorded::RecordedAccess;

/// The number of different pages that the filter remembers.
pub const FILTER_PAGES: usize = 4;
/// The number of loaded values that are remembered.
const VALUES: usize = 8;
/// The number of bytes of a page.
const PAGE_BYTES: u64 = 4096;

/// The filter that makes a stream of the accesses of a lane.
///
/// An access is dropped if its page is among the last four different pages of the lane. A dropped access counts as a use of its
/// page, and if it is a store, the recorded access to the page is marked as written. So a stream has at least one of any five
/// different pages that follow each other, and no page twice within them.
///
/// An access is *pointed to* if its address lies in the 4096 bytes from one of the last eight 64-bit values that the lane has
/// loaded. Values below 4096 are no addresses. So the address of a node of a list is pointed to, and so is that of any of its fields, but
/// not what is behind an address that the lane has computed or kept in a register for a while.
///
/// ```
/// use kvrm_prefetch::{PageAccess, StreamBuilder};
///
/// let mut builder = StreamBuilder::new(100);
/// for (step, address) in [0x1000, 0x1008, 0x2000, 0x1010, 0x9000].into_iter().enumerate() {
///     let access = PageAccess { page: address >> 12, size: 8, load: true, pc: 0x400, step: step as u64 };
///     builder.access(access, address);
///     builder.loaded(0x9000 - 0x10);
/// }
/// let stream = builder.finish();
/// assert_eq!(stream.iter().map(|recorded| recorded.access.page).collect::<Vec<_>>(), [1, 2, 9]);
/// assert!(stream[2].is_pointed_to && !stream[1].is_pointed_to);
/// ```
#[derive(Clone, Debug)]
pub struct StreamBuilder {
    accesses: Vec<RecordedAccess>,
    /// The last different pages with the places of their recorded accesses, the last one first.
    recent: [(u64, usize); FILTER_PAGES],
    values: [u64; VALUES],
    /// The place of the oldest value.
    oldest: usize,
    accesses_max: usize,
}

impl StreamBuilder {
    /// Creates an empty stream that is full with so many accesses.
    #[must_use]
    pub const fn new(accesses_max: usize) -> Self {
        Self {
            accesses: Vec::new(),
            // No page has this number.
            recent: [(u64::MAX, 0); FILTER_PAGES],
            values: [0; VALUES],
            oldest: 0,
            accesses_max,
        }
    }

    /// Adds an access to bytes from an address on, or drops it.
    #[inline]
    pub fn access(&mut self, access: PageAccess, address: u64) {
        if let Some(place) = self.recent.iter().position(|(page, _)| *page == access.page) {
            self.recent[..=place].rotate_right(1);
            if !access.load
                && let Some(recorded) = self.accesses.get_mut(self.recent[0].1)
            {
                recorded.is_written = true;
            }
            return;
        }
        if self.is_full() {
            return;
        }
        let points = |value: &u64| *value >= PAGE_BYTES && address.wrapping_sub(*value) < PAGE_BYTES;
        let is_pointed_to = self.values.iter().any(points);
        self.recent.rotate_right(1);
        self.recent[0] = (access.page, self.accesses.len());
        self.accesses.push(RecordedAccess { access, is_written: !access.load, is_pointed_to });
    }

    /// Notes a 64-bit value that the lane has loaded.
    #[inline]
    pub const fn loaded(&mut self, value: u64) {
        self.values[self.oldest] = value;
        self.oldest = (self.oldest + 1) % VALUES;
    }

    /// Returns whether no more accesses are recorded.
    #[must_use]
    pub const fn is_full(&self) -> bool {
        self.accesses.len() >= self.accesses_max
    }

    /// Returns the accesses.
    #[must_use]
    pub fn finish(self) -> Vec<RecordedAccess> {
        self.accesses
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the stream of accesses to pages, of which the written ones are negative.
    fn stream(pages: &[i64], accesses_max: usize) -> Vec<(u64, bool)> {
        let mut builder = StreamBuilder::new(accesses_max);
        for page in pages {
            let access = PageAccess { page: page.unsigned_abs(), load: *page > 0, ..PageAccess::default() };
            builder.access(access, access.page << 12);
        }
        builder.finish().iter().map(|recorded| (recorded.access.page, recorded.is_written)).collect()
    }

    #[test]
    fn the_last_four_different_pages_are_dropped() {
        let pages = |found: &[(u64, bool)]| found.iter().map(|(page, _)| *page).collect::<Vec<_>>();
        assert_eq!(pages(&stream(&[1, 2, 3, 4, 1, 2, 3, 4, 4, 1], 99)), [1, 2, 3, 4], "four pages");
        assert_eq!(pages(&stream(&[1, 2, 3, 4, 5, 1, 2], 99)), [1, 2, 3, 4, 5, 1, 2], "five pages in a row");
        assert_eq!(
            pages(&stream(&[1, 2, 3, 4, 1, 5, 2, 1], 99)),
            [1, 2, 3, 4, 5, 2],
            "1 was used, 2 was not"
        );
    }

    #[test]
    fn a_dropped_store_marks_the_access_that_was_recorded() {
        assert_eq!(stream(&[1, 2, -1, 3], 99), [(1, true), (2, false), (3, false)], "the first one");
        let found = stream(&[1, 2, 3, 4, 5, -1, 2, 3, 4, 5, 1], 99);
        let written: Vec<u64> =
            found.iter().filter(|(_, is_written)| *is_written).map(|(page, _)| *page).collect();
        assert_eq!((found[0], found[5], written.len()), ((1, false), (1, true), 1), "the second one");
    }

    #[test]
    fn a_full_stream_still_notes_stores() {
        assert_eq!(stream(&[1, 2, 3, -2], 2), [(1, false), (2, true)], "3 is not recorded");
    }

    #[test]
    fn an_access_is_pointed_to_by_a_recent_value() {
        let is_pointed_to = |value: u64, later: usize, address: u64| {
            let mut builder = StreamBuilder::new(99);
            builder.loaded(value);
            (0..later).for_each(|_| builder.loaded(0));
            builder.access(PageAccess { page: address >> 12, ..PageAccess::default() }, address);
            builder.finish()[0].is_pointed_to
        };
        assert!(is_pointed_to(0x7_5000, 0, 0x7_5000), "exactly");
        assert!(is_pointed_to(0x7_5008, 7, 0x7_6007), "the last byte, by the oldest value");
        assert!(!is_pointed_to(0x7_5008, 0, 0x7_6008), "a byte behind");
        assert!(!is_pointed_to(0x7_5008, 0, 0x7_5007), "a byte before");
        assert!(!is_pointed_to(0x7_5000, 8, 0x7_5000), "a value that is too old");
        assert!(!is_pointed_to(0xfff, 0, 0x1000), "a small number");
    }
}
