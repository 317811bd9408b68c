//! Accesses as they are recorded.

use std::collections::HashSet;

use crate::access::PageAccess;

/// An access of a recorded stream, with what is known of it afterwards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct RecordedAccess {
    /// The access.
    pub access: PageAccess,
    /// Whether this access or one of those to the same page that the filter dropped after it is a store. So the page has to be moved out
    /// when it leaves.
    pub is_written: bool,
    /// Whether the address is one that the lane has loaded from memory, or at most a page behind it. See
    /// [`StreamBuilder`](crate::StreamBuilder).
    pub is_pointed_to: bool,
}

/// Returns the number of different pages of accesses.
#[must_use]
pub fn footprint(accesses: &[RecordedAccess]) -> usize {
    accesses.iter().map(|recorded| recorded.access.page).collect::<HashSet<_>>().len()
}

/// Returns accesses to pages, the first one at the step `start` and each `gap` steps after the one before.
#[cfg(test)]
pub(crate) fn paced(start: u64, gap: u64, pages: &[u64]) -> Vec<RecordedAccess> {
    let access =
        |(n, page): (u64, &u64)| PageAccess { page: *page, step: start + gap * n, ..PageAccess::default() };
    (0..)
        .zip(pages)
        .map(|item| RecordedAccess { access: access(item), ..RecordedAccess::default() })
        .collect()
}
