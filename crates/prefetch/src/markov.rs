//! The prefetcher of the pages that came next before.

use crate::access::{PageAccess, Trigger};
use crate::candidates::Candidates;
use crate::prefetcher::Prefetcher;

/// The number of pages that the table knows by default.
const ENTRIES: usize = 256;
/// The number of successors of each page.
const SUCCESSORS: usize = 4;

/// The Markov prefetcher (D. Joseph and D. Grunwald, "Prefetching using Markov predictors", ISCA 1997): a table of pages with the
/// four pages that followed each most often. The accesses are those that a prefetcher hears of: misses and first uses.
///
/// The table holds the pages that were used last. A successor that is not known replaces the least frequent one.
/// The successors of the current page are candidates, at most as many as the degree, each with its share of the
/// transitions that are counted.
///
/// ```
/// use kvrm_prefetch::{Candidates, Degree, Markov, PageAccess, Prefetcher, Trigger};
///
/// let (mut markov, mut candidates) = (Markov::default(), Candidates::new(Degree::new(2)?));
/// for page in [9, 5, 7, 9, 5, 8, 9, 5, 7, 9, 5] {
///     candidates.clear();
///     markov.observe(&PageAccess { page, ..PageAccess::default() }, Trigger::Miss, &mut candidates);
/// }
/// assert_eq!(candidates.pages().collect::<Vec<_>>(), [7, 8], "7 came after 5 twice, 8 once");
/// # Ok::<(), kvrm_prefetch::InvalidDegree>(())
/// ```
#[derive(Clone, Debug)]
pub struct Markov {
    /// The pages of the entries.
    pages: Vec<u64>,
    entries: Vec<Entry>,
    capacity: usize,
    /// The place of the page before.
    last: Option<usize>,
    /// The number of accesses.
    time: u64,
}

/// The successors of a page.
#[derive(Clone, Debug, Default)]
struct Entry {
    /// The time of the last access to the page.
    used: u64,
    /// The distances to the successors, most frequent first, and the last one first if they are equally frequent.
    distances: [i32; SUCCESSORS],
    /// How often each came. It is 0 where there is none.
    counts: [u8; SUCCESSORS],
}

impl Entry {
    /// Counts a successor.
    fn count(&mut self, distance: i32) {
        let known = (0..SUCCESSORS).find(|n| self.counts[*n] > 0 && self.distances[*n] == distance);
        let mut place = known.unwrap_or_else(|| {
            let place = self.counts.iter().position(|count| *count == 0).unwrap_or(SUCCESSORS - 1);
            (self.distances[place], self.counts[place]) = (distance, 0);
            place
        });
        if self.counts[place] == u8::MAX {
            // Old transitions count less. All that there were stay known.
            self.counts.iter_mut().for_each(|count| *count = count.div_ceil(2));
        }
        self.counts[place] += 1;
        while place > 0 && self.counts[place - 1] <= self.counts[place] {
            self.counts.swap(place - 1, place);
            self.distances.swap(place - 1, place);
            place -= 1;
        }
    }
}

impl Default for Markov {
    fn default() -> Self {
        Self::with_entries(ENTRIES)
    }
}

impl Markov {
    /// Creates a prefetcher that knows as many pages, at least two. Each takes 40 bytes, once it is known.
    #[must_use]
    pub fn with_entries(capacity: usize) -> Self {
        Self { pages: Vec::new(), entries: Vec::new(), capacity: capacity.max(2), last: None, time: 0 }
    }

    /// Returns the place of a page, which takes that of the page used longest ago if it has none. That is never the page
    /// before, which was used last.
    fn place(&mut self, page: u64) -> usize {
        if let Some(place) = self.pages.iter().position(|known| *known == page) {
            return place;
        }
        if self.pages.len() < self.capacity {
            self.pages.push(page);
            self.entries.push(Entry::default());
            return self.pages.len() - 1;
        }
        let oldest = (0..self.entries.len()).min_by_key(|place| self.entries[*place].used).unwrap_or(0);
        self.pages[oldest] = page;
        self.entries[oldest] = Entry::default();
        oldest
    }
}

impl Prefetcher for Markov {
    fn observe(&mut self, access: &PageAccess, _: Trigger, candidates: &mut Candidates) {
        self.time += 1;
        let place = self.place(access.page);
        if let Some(last) = self.last.filter(|last| *last != place)
            && let Ok(distance) = i32::try_from(access.page.wrapping_sub(self.pages[last]).cast_signed())
        {
            self.entries[last].count(distance);
        }
        self.last = Some(place);
        let entry = &mut self.entries[place];
        entry.used = self.time;
        let total: u32 = entry.counts.iter().copied().map(u32::from).sum();
        let known = entry.distances.iter().zip(entry.counts).filter(|(_, count)| *count > 0);
        for (distance, count) in known.take(candidates.degree()) {
            candidates.push_relative(access.page, i64::from(*distance), f32::from(count) / total as f32);
        }
    }

    fn bytes(&self) -> usize {
        size_of::<Self>()
            + self.pages.capacity() * size_of::<u64>()
            + self.entries.capacity() * size_of::<Entry>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidates::Degree;

    /// Returns the candidates at the last of several accesses.
    fn last(markov: &mut Markov, degree: usize, pages: &[u64]) -> Vec<u64> {
        let mut candidates = Candidates::new(Degree::new(degree).expect("the degree is valid"));
        for page in pages {
            candidates.clear();
            markov.observe(
                &PageAccess { page: *page, ..PageAccess::default() },
                Trigger::Miss,
                &mut candidates,
            );
        }
        candidates.pages().collect()
    }

    const NONE: [u64; 0] = [];

    #[test]
    fn a_chain_of_pages_is_known_the_second_time() {
        let chain = [50, 3, 999, 41, 7];
        let mut markov = Markov::default();
        for page in &chain {
            assert_eq!(last(&mut markov, 4, &[*page]), NONE, "nothing is known of {page}");
        }
        for pair in chain.windows(2) {
            assert_eq!(last(&mut markov, 4, &pair[..1]), [pair[1]], "what came after {}", pair[0]);
        }
    }

    #[test]
    fn the_most_frequent_successors_come_first() {
        let mut markov = Markov::default();
        let visits = [(2, 3), (3, 1), (4, 2), (5, 4)];
        for (successor, count) in visits {
            for _ in 0..count {
                last(&mut markov, 1, &[100, successor]);
            }
        }
        assert_eq!(last(&mut markov, 4, &[100]), [5, 2, 4, 3], "by their numbers");
        assert_eq!(last(&mut markov, 2, &[100]), [5, 2], "the degree");
        // A new successor takes the place of the least frequent one.
        last(&mut markov, 1, &[100, 9]);
        assert_eq!(last(&mut markov, 4, &[100]), [5, 2, 4, 9], "3 is forgotten");
    }

    #[test]
    fn counts_that_are_full_keep_their_order() {
        let mut markov = Markov::default();
        for _ in 0..600 {
            last(&mut markov, 1, &[100, 2, 100, 2, 100, 3]);
        }
        assert_eq!(last(&mut markov, 4, &[100]), [2, 3], "twice as frequent");
    }

    #[test]
    fn the_page_that_was_used_longest_ago_is_forgotten() {
        let mut markov = Markov::with_entries(4);
        last(&mut markov, 4, &[1, 2, 3, 4, 1, 5]);
        assert_eq!(last(&mut markov, 4, &[1]), [5, 2], "used again, so 2 was the oldest");
        assert_eq!(last(&mut markov, 4, &[2]), NONE, "forgotten");
        assert_eq!(markov.pages.len(), 4, "no more than the capacity");
    }

    #[test]
    fn an_access_to_the_same_page_is_no_transition() {
        assert_eq!(last(&mut Markov::default(), 4, &[1, 1, 1]), NONE, "not its own successor");
    }
}
