//! The prefetcher of the distances that would have been in time.

use crate::access::{PageAccess, Trigger};
use crate::candidates::{Candidates, DEGREE_MAX};
use crate::prefetcher::Prefetcher;

/// The distances that are tried, each forwards and backwards: those up to 64 whose prime factors are 2, 3 and 5.
const DISTANCES: [i8; 27] =
    [1, 2, 3, 4, 5, 6, 8, 9, 10, 12, 15, 16, 18, 20, 24, 25, 27, 30, 32, 36, 40, 45, 48, 50, 54, 60, 64];
/// The number of offsets: distances with signs.
const OFFSETS: usize = 2 * DISTANCES.len();
/// The score at which an offset ends the phase.
const SCORE_MAX: u8 = 31;
/// The number of rounds after which a phase ends.
const ROUND_MAX: u8 = 100;
/// The score up to which an offset is not used.
const BAD_SCORE: u8 = 1;
/// The number of recent requests that are remembered; a power of two.
const RECENT: usize = 128;
/// The number of candidates whose reasons are remembered.
const NAMED: usize = 2 * DEGREE_MAX;
/// A page number that no page has.
const NO_PAGE: u64 = u64::MAX;

/// The best-offset prefetcher (P. Michaud, "Best-Offset Hardware Prefetching", HPCA 2016), with pages in place of lines.
///
/// It learns in phases which offsets are timely. When a page arrives that an access to page X named, X becomes a recent request. An
/// access to page Y gives a point to each offset D for which Y - D is a recent request: a prefetch with D would have arrived.
/// A phase ends when an offset has 31 points or after 100 rounds. The offsets with the most points, at least two, are used
/// until the next phase ends; if there are none, prefetching is off, and pages that lanes needed become recent requests when they
/// arrive, so that learning goes on. In the beginning the offset is 1.
///
/// It differs from the paper in four ways. Each access is a whole round, because look-ups are cheap in software, and a program
/// touches far fewer pages than lines. Offsets are up to 64 in both directions and cross no boundaries. With a degree
/// above one, as many of the best offsets are used; with degree one, it is the best one, as in the paper. The access that named a page is
/// remembered, because with several offsets it does not follow from the page.
///
/// ```
/// use kvrm_prefetch::{BestOffset, Candidates, Degree, PageAccess, Prefetcher, Trigger};
///
/// let (mut prefetcher, mut candidates) = (BestOffset::default(), Candidates::new(Degree::ONE));
/// for page in (0..3000).step_by(3) {
///     candidates.clear();
///     prefetcher.observe(&PageAccess { page, ..PageAccess::default() }, Trigger::Miss, &mut candidates);
///     // A fetch takes less time than the next access.
///     candidates.pages().for_each(|page| prefetcher.arrived(page, true));
/// }
/// assert_eq!(candidates.pages().collect::<Vec<_>>(), [2997 + 3]);
/// # Ok::<(), kvrm_prefetch::InvalidDegree>(())
/// ```
#[derive(Clone, Debug)]
pub struct BestOffset {
    /// The recent requests, each at a place that its number gives: the low bits of page numbers, plus one.
    recent: [u32; RECENT],
    scores: [u8; OFFSETS],
    rounds: u8,
    /// The number of offsets in use.
    used: u8,
    /// The offsets in use with their scores, best first.
    best: [(i8, u8); DEGREE_MAX],
    /// The last candidates, each with the page of the access that named it.
    named: [(u64, u64); NAMED],
    /// The place of the oldest candidate.
    oldest: u8,
}

impl Default for BestOffset {
    fn default() -> Self {
        let mut best = [(0, 0); DEGREE_MAX];
        best[0] = (1, BAD_SCORE + 1);
        Self {
            recent: [0; RECENT],
            scores: [0; OFFSETS],
            rounds: 0,
            used: 1,
            best,
            named: [(NO_PAGE, NO_PAGE); NAMED],
            oldest: 0,
        }
    }
}

/// Returns the offset at a place of the list: short ones first, and forwards before backwards.
const fn offset(index: usize) -> i8 {
    let distance = DISTANCES[index / 2];
    if index.is_multiple_of(2) { distance } else { -distance }
}

/// Returns the place of a page among the recent requests, and what is there if it is one.
const fn recent_place(page: u64) -> (usize, u32) {
    ((page ^ (page >> RECENT.ilog2())) as usize % RECENT, (page as u32).wrapping_add(1))
}

impl BestOffset {
    fn is_recent(&self, page: u64) -> bool {
        let (place, tag) = recent_place(page);
        self.recent[place] == tag
    }

    /// Gives points to the offsets, and ends the phase if it is time.
    fn learn(&mut self, page: u64) {
        let mut is_over = false;
        for index in 0..OFFSETS {
            let from = page.checked_add_signed(-i64::from(offset(index)));
            if from.is_some_and(|from| self.is_recent(from)) {
                self.scores[index] += 1;
                is_over |= self.scores[index] >= SCORE_MAX;
            }
        }
        self.rounds += 1;
        if is_over || self.rounds >= ROUND_MAX {
            self.begin_phase();
        }
    }

    /// Chooses the offsets by their scores, and forgets the scores.
    fn begin_phase(&mut self) {
        let mut order: [usize; OFFSETS] = std::array::from_fn(|index| index);
        // Of offsets with the same score, the first one of the list is used, as in the paper.
        order.sort_by_key(|index| std::cmp::Reverse(self.scores[*index]));
        self.used = 0;
        for index in order.into_iter().take(DEGREE_MAX).filter(|index| self.scores[*index] > BAD_SCORE) {
            self.best[usize::from(self.used)] = (offset(index), self.scores[index]);
            self.used += 1;
        }
        self.scores = [0; OFFSETS];
        self.rounds = 0;
    }
}

impl Prefetcher for BestOffset {
    fn observe(&mut self, access: &PageAccess, _: Trigger, candidates: &mut Candidates) {
        self.learn(access.page);
        let used = usize::from(self.used).min(candidates.degree());
        for (offset, score) in &self.best[..used] {
            let confidence = f32::from(*score) / f32::from(SCORE_MAX);
            candidates.push_relative(access.page, i64::from(*offset), confidence);
        }
        for page in candidates.pages() {
            // The first access that named the page is the reason of the fetch.
            if self.named.iter().any(|(named, _)| *named == page) {
                continue;
            }
            self.named[usize::from(self.oldest)] = (page, access.page);
            self.oldest = (self.oldest + 1) % NAMED as u8;
        }
    }

    fn arrived(&mut self, page: u64, is_prefetched: bool) {
        let reason = if is_prefetched {
            self.named.iter().find(|(named, _)| *named == page).map(|(_, reason)| *reason)
        } else {
            Some(page).filter(|_| self.used == 0)
        };
        if let Some(reason) = reason {
            let (place, tag) = recent_place(reason);
            self.recent[place] = tag;
        }
    }

    fn bytes(&self) -> usize {
        size_of::<Self>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidates::Degree;

    /// Observes misses of pages, and returns the last candidates. Candidates and missed pages arrive after `latency` more
    /// accesses.
    fn last(pages: impl Iterator<Item = u64>, degree: usize, latency: usize) -> Vec<u64> {
        let mut prefetcher = BestOffset::default();
        let mut candidates = Candidates::new(Degree::new(degree).expect("the degree is valid"));
        let mut arrivals = vec![Vec::new(); 5000 + latency];
        for (time, page) in pages.enumerate() {
            for (page, is_prefetched) in std::mem::take(&mut arrivals[time]) {
                prefetcher.arrived(page, is_prefetched);
            }
            candidates.clear();
            let access = PageAccess { page, ..PageAccess::default() };
            prefetcher.observe(&access, Trigger::Miss, &mut candidates);
            arrivals[time + latency].push((page, false));
            arrivals[time + latency].extend(candidates.pages().map(|page| (page, true)));
        }
        candidates.pages().collect()
    }

    #[test]
    fn the_offset_is_the_stride_if_fetches_are_quick() {
        assert_eq!(last((0..500).map(|n| 10_000 + 5 * n), 1, 1), [10_000 + 5 * 499 + 5], "forwards");
        assert_eq!(last((0..500).map(|n| 10_000 - 4 * n), 1, 1), [10_000 - 4 * 499 - 4], "backwards");
    }

    #[test]
    fn the_offset_is_as_far_as_fetches_take() {
        assert_eq!(last(0..500, 1, 6), [499 + 6], "six accesses");
        // 7 is no offset.
        assert_eq!(last(0..500, 1, 7), [499 + 8], "seven accesses");
        assert_eq!(last((0..500).map(|n| 3 * n), 1, 9), [3 * 499 + 27], "nine accesses of three pages");
    }

    #[test]
    fn with_a_higher_degree_the_next_best_offsets_are_used_too() {
        let found = last(0..500, 4, 6);
        assert_eq!(found.len(), 4, "{found:?}");
        assert!(found.iter().all(|page| *page >= 499 + 6), "all are in time: {found:?}");
    }

    #[test]
    fn accesses_without_a_pattern_turn_prefetching_off() {
        let mut state = 1_u64;
        let pages = (0..1000).map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state >> 32
        });
        assert_eq!(last(pages, 4, 1), [0; 0], "no offset has two points");
        let pages = (0..1000).map(|n: u64| n * n * 1000).chain(1 << 30..(1 << 30) + 300);
        assert_eq!(last(pages, 1, 1), [(1 << 30) + 300], "a pattern turns it on again");
    }

    #[test]
    fn the_list_has_all_offsets() {
        let is_smooth = |n: &u64| {
            [2, 3, 5].iter().fold(*n, |n, p| (0..6).fold(n, |n, _| if n % p == 0 { n / p } else { n })) == 1
        };
        let expected: Vec<u64> = (1..=64).filter(is_smooth).collect();
        let distances: Vec<u64> = DISTANCES.iter().map(|distance| distance.unsigned_abs().into()).collect();
        assert_eq!(distances, expected, "numbers up to 64 with prime factors 2, 3 and 5");
    }
}
