//! What every prefetcher does, and the one that does nothing.

use crate::access::{PageAccess, Trigger};
use crate::candidates::Candidates;

/// A prefetcher of one lane: it hears of accesses to pages, and names pages to bring before they are used.
///
/// It depends on nothing but what it has heard, so the same calls give the same candidates.
///
/// ```
/// use kvrm_prefetch::{Candidates, Degree, PageAccess, Prefetcher, Trigger};
///
/// /// Names the page before.
/// struct Backwards;
///
/// impl Prefetcher for Backwards {
///     fn observe(&mut self, access: &PageAccess, _: Trigger, candidates: &mut Candidates) {
///         candidates.push_relative(access.page, -1, 1.0);
///     }
///     fn bytes(&self) -> usize {
///         0
///     }
/// }
///
/// let mut candidates = Candidates::new(Degree::ONE);
/// let access = PageAccess { page: 7, ..PageAccess::default() };
/// Backwards.observe(&access, Trigger::Miss, &mut candidates);
/// assert_eq!(candidates.pages().collect::<Vec<_>>(), [6]);
/// ```
pub trait Prefetcher {
    /// Hears of an access, and adds candidates to a list that is empty. The caller decides which of them are fetched: it leaves
    /// out pages that are there, and the last ones if too many are on their way.
    fn observe(&mut self, access: &PageAccess, trigger: Trigger, candidates: &mut Candidates);

    /// Hears that a page has arrived, because a lane needed it or because it was a candidate. Prefetchers that learn how long a
    /// fetch takes need it; others ignore it.
    fn arrived(&mut self, page: u64, is_prefetched: bool) {
        let _ = (page, is_prefetched);
    }

    /// Returns the number of bytes of the state, those on the heap included.
    fn bytes(&self) -> usize;
}

/// The prefetcher that names no page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoPrefetcher;

impl Prefetcher for NoPrefetcher {
    fn observe(&mut self, _: &PageAccess, _: Trigger, _: &mut Candidates) {}

    fn bytes(&self) -> usize {
        0
    }
}
