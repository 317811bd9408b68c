//! Prefetching with knowledge of the future.

use std::collections::{BTreeSet, VecDeque};

use crate::future::Future;
use crate::outcome::Outcome;
use crate::recorded::RecordedAccess;
use crate::settings::{InvalidSettings, ReplaySettings, Start};

/// Replays accesses with a prefetcher and an eviction that know the future, under the latency and the batch limit of the
/// settings. Their degree and eviction do not matter.
///
/// It is the algorithm "aggressive" (P. Cao, E. W. Felten, A. R. Karlin and K. Li, "A study of integrated prefetching and caching
/// strategies", SIGMETRICS 1995): at each access, and after each wait, it fetches the next page of the stream that is not there, in the place of the
/// page whose next use is farthest, if that is after the use of the fetched page, until a batch is full. It is no exact
/// optimum, but its authors prove that it is close: with fetches one by one, the whole run takes at most twice as long
/// as the best one. [`least_stall`](crate::least_stall) is a bound for all.
///
/// # Errors
/// A setting is wrong.
pub fn foresight(accesses: &[RecordedAccess], settings: &ReplaySettings) -> Result<Outcome, InvalidSettings> {
    settings.check()?;
    let future = Future::new(accesses);
    let mut replay = Foresight {
        settings,
        exists: vec![settings.start == Start::Away; future.page_count],
        pages: vec![None; future.page_count],
        future,
        by_next_use: BTreeSet::new(),
        in_flight: VecDeque::new(),
        prefetches_in_flight: 0,
        missing: 0,
        outcome: Outcome { accesses: accesses.len() as u64, ..Outcome::default() },
    };
    let first = accesses.first().map_or(0, |recorded| recorded.access.step);
    for (position, recorded) in accesses.iter().enumerate() {
        let step = recorded.access.step.saturating_sub(first);
        replay.outcome.steps = step;
        replay.access(position, step, recorded.is_written);
    }
    Ok(replay.outcome)
}

/// A page in the pool.
#[derive(Clone, Copy, Debug)]
struct Page {
    /// The time from which it is there.
    arrives: u64,
    /// The position of its next use.
    next_use: usize,
    is_unused: bool,
    is_written: bool,
}

struct Foresight<'a> {
    settings: &'a ReplaySettings,
    future: Future,
    /// Whether each page exists yet.
    exists: Vec<bool>,
    /// The pages in the pool.
    pages: Vec<Option<Page>>,
    /// The next uses of the pages in the pool, with their numbers.
    by_next_use: BTreeSet<(usize, usize)>,
    /// The times at which fetches arrive, in ascending order, and whether each is a prefetch.
    in_flight: VecDeque<(u64, bool)>,
    prefetches_in_flight: usize,
    /// A position before which all pages from the current access on are there, on their way, or not made yet.
    missing: usize,
    outcome: Outcome,
}

impl Foresight<'_> {
    fn access(&mut self, position: usize, step: u64, is_written: bool) {
        let number = self.future.pages[position];
        let now = step + self.outcome.stall;
        self.land(now);
        if self.pages[number].is_none() {
            let is_fetched = std::mem::replace(&mut self.exists[number], true);
            let arrives = now + if is_fetched { self.settings.latency } else { 0 };
            if is_fetched {
                self.outcome.misses += 1;
                self.in_flight.push_back((arrives, false));
            } else {
                self.outcome.created += 1;
            }
            if self.by_next_use.len() >= self.settings.pages {
                self.evict_last();
            }
            self.insert(number, Page { arrives, next_use: position, is_unused: false, is_written: false });
        }
        self.prefetch(position, now);
        if let Some(page) = &mut self.pages[number] {
            let wait = page.arrives.saturating_sub(now);
            let is_first = std::mem::take(&mut page.is_unused);
            page.is_written |= is_written;
            let next_use = self.future.next[position];
            self.by_next_use.remove(&(page.next_use, number));
            self.by_next_use.insert((next_use, number));
            page.next_use = next_use;
            self.outcome.used += u64::from(is_first);
            self.outcome.late += u64::from(is_first && wait > 0);
            self.outcome.stall += wait;
            if wait > 0 {
                self.land(now + wait);
                self.prefetch(position + 1, now + wait);
            }
        }
    }

    fn land(&mut self, now: u64) {
        while let Some((_, is_prefetch)) = self.in_flight.pop_front_if(|(arrives, _)| *arrives <= now) {
            self.prefetches_in_flight -= usize::from(is_prefetch);
        }
    }

    /// Fetches the next pages that are not there, from a position on.
    fn prefetch(&mut self, position: usize, now: u64) {
        self.missing = self.missing.max(position);
        // One place of the batch is for a page that is needed.
        while self.prefetches_in_flight + 1 < self.settings.batch {
            let rest = self.future.pages.get(self.missing..).unwrap_or_default();
            let found = rest.iter().position(|page| self.pages[*page].is_none() && self.exists[*page]);
            self.missing += found.unwrap_or(rest.len());
            let Some(number) = self.future.pages.get(self.missing).copied() else { return };
            if self.by_next_use.len() >= self.settings.pages {
                if self.by_next_use.last().is_none_or(|(next_use, _)| *next_use <= self.missing) {
                    return;
                }
                self.evict_last();
            }
            let arrives = now + self.settings.latency;
            self.in_flight.push_back((arrives, true));
            self.prefetches_in_flight += 1;
            self.outcome.issued += 1;
            let next_use = self.missing;
            self.insert(number, Page { arrives, next_use, is_unused: true, is_written: false });
        }
    }

    fn insert(&mut self, number: usize, page: Page) {
        self.by_next_use.insert((page.next_use, number));
        self.pages[number] = Some(page);
    }

    /// Removes the page whose next use is farthest.
    fn evict_last(&mut self) {
        if let Some((next_use, number)) = self.by_next_use.pop_last()
            && let Some(page) = self.pages[number].take()
        {
            self.outcome.moved_out += u64::from(page.is_written);
            self.missing = self.missing.min(next_use);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorded::paced;

    fn run(accesses: &[RecordedAccess], settings: &ReplaySettings) -> Outcome {
        foresight(accesses, settings).expect("the settings are right")
    }

    #[test]
    fn only_the_first_page_is_waited_for_if_there_is_time() {
        // No baseline knows where such a stream goes.
        let pages: Vec<u64> = (0..50).map(|n| n * n * 7919 % 1009).collect();
        let settings = ReplaySettings { latency: 100, ..ReplaySettings::new(2) };
        let outcome = run(&paced(0, 100, &pages), &settings);
        assert_eq!((outcome.misses, outcome.late, outcome.stall), (1, 0, 100), "two pages are enough");
        assert_eq!(outcome.used, outcome.issued, "all that it fetches is used");
    }

    #[test]
    fn the_batch_limits_what_comes_at_a_time() {
        let pages: Vec<u64> = (0..64).collect();
        let settings = ReplaySettings { latency: 1000, batch: 9, ..ReplaySettings::new(64) };
        // One step for each page: batches of eight come after the first page and the first eight.
        let outcome = run(&paced(0, 1, &pages), &settings);
        assert_eq!((outcome.misses, outcome.issued), (1, 63), "all but the first are prefetched");
        assert!(outcome.stall > 7 * 1000 && outcome.stall <= 8 * 1000, "eight exchanges: {outcome:?}");
    }

    #[test]
    fn no_page_leaves_for_one_that_is_used_later() {
        // The pool holds both pages of the loop, and 9 is used at the end.
        let mut pages = [1, 2].repeat(10);
        pages.push(9);
        let settings = ReplaySettings { latency: 5, ..ReplaySettings::new(2) };
        let outcome = run(&paced(0, 1, &pages), &settings);
        assert_eq!(outcome.moved_in(), 3, "each page once: {outcome:?}");
    }

    #[test]
    fn fresh_pages_are_not_fetched() {
        let settings = ReplaySettings { latency: 5, start: Start::Fresh, ..ReplaySettings::new(2) };
        let outcome = run(&paced(0, 10, &[1, 2, 3, 1, 2, 3]), &settings);
        assert_eq!((outcome.created, outcome.misses, outcome.stall), (3, 0, 0), "they come back in time");
    }
}
