//! The prefetcher of the pages that follow.

use crate::access::{PageAccess, Trigger};
use crate::candidates::Candidates;
use crate::prefetcher::Prefetcher;

/// The prefetcher of the pages behind the one that is used: one block lookahead (A. J. Smith, "Sequential program prefetching
/// in memory hierarchies", IEEE Computer, 1978), with as many blocks as the degree. A miss and the first use of a prefetched
/// page both trigger it, which Smith calls tagged prefetching.
///
/// It has no state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NextPage;

impl Prefetcher for NextPage {
    fn observe(&mut self, access: &PageAccess, _: Trigger, candidates: &mut Candidates) {
        for distance in 1..=candidates.degree() as i64 {
            candidates.push_relative(access.page, distance, 1.0 / distance as f32);
        }
    }

    fn bytes(&self) -> usize {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::PAGES;
    use crate::candidates::Degree;

    #[test]
    fn the_nearest_pages_come_first() {
        let mut candidates = Candidates::new(Degree::new(3).expect("3 is valid"));
        let mut observe = |page| {
            candidates.clear();
            let access = PageAccess { page, ..PageAccess::default() };
            NextPage.observe(&access, Trigger::Miss, &mut candidates);
            candidates.pages().collect::<Vec<_>>()
        };
        assert_eq!(observe(10), [11, 12, 13], "three pages");
        assert_eq!(observe(PAGES - 2), [PAGES - 1], "the last page of the address space");
    }
}
