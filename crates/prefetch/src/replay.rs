//! The replay of a stream of accesses with a pool of pages and a prefetcher.

use std::collections::{HashMap, HashSet, VecDeque};

use crate::access::{PageAccess, Trigger};
use crate::candidates::Candidates;
use crate::eviction::Order;
use crate::outcome::Outcome;
use crate::prefetcher::Prefetcher;
use crate::recorded::RecordedAccess;
use crate::settings::{InvalidSettings, ReplaySettings, Start};
use crate::throttle::Throttle;

/// Replays the accesses of a lane with a pool of pages and a prefetcher.
///
/// Time is counted in steps: those that the lane retires, and those for which it waits. A page that is away is requested when the
/// lane needs it, and the lane waits for the latency. The prefetcher hears of the miss at once, so its candidates come with the same
/// exchange. A prefetched page takes its place in the pool at the request. If the lane needs it before it has arrived,
/// it waits for the rest of the latency. The page of the current access and pages on their way do not leave the pool, unless a
/// page that is needed finds no other place.
///
/// Pages are in the pool whole, and only accesses to data take part: neither instruction fetches nor the host's accesses do.
///
/// ```
/// use kvrm_prefetch::{NextPage, NoPrefetcher, PageAccess, RecordedAccess, ReplaySettings, replay};
///
/// // A page every 20,000 steps.
/// let access = |n| PageAccess { page: n, step: 20_000 * n, load: true, size: 8, pc: 0x1000 };
/// let accesses: Vec<_> =
///     (0..100).map(|n| RecordedAccess { access: access(n), ..RecordedAccess::default() }).collect();
///
/// let settings = ReplaySettings { latency: 10_000, ..ReplaySettings::new(10) };
/// let without = replay(&accesses, &settings, &mut NoPrefetcher)?;
/// assert_eq!((without.misses, without.stall), (100, 1_000_000));
/// let with = replay(&accesses, &settings, &mut NextPage)?;
/// assert_eq!((with.misses, with.used, with.late, with.stall), (1, 99, 0, 10_000));
/// # Ok::<(), kvrm_prefetch::InvalidSettings>(())
/// ```
///
/// # Errors
/// A setting is wrong.
pub fn replay(
    accesses: &[RecordedAccess],
    settings: &ReplaySettings,
    prefetcher: &mut impl Prefetcher,
) -> Result<Outcome, InvalidSettings> {
    settings.check()?;
    let mut replay = Replay {
        settings,
        candidates: Candidates::new(settings.degree),
        slots: Vec::new(),
        places: HashMap::new(),
        order: Order::new(settings.eviction),
        in_flight: VecDeque::new(),
        prefetches_in_flight: 0,
        touched: HashSet::new(),
        throttle: Throttle::default(),
        outcome: Outcome { accesses: accesses.len() as u64, ..Outcome::default() },
    };
    let first = accesses.first().map_or(0, |recorded| recorded.access.step);
    for recorded in accesses {
        let step = recorded.access.step.saturating_sub(first);
        replay.outcome.steps = step;
        replay.access(recorded, step + replay.outcome.stall, prefetcher);
    }
    Ok(replay.outcome)
}

/// A page in the pool.
#[derive(Clone, Copy, Debug)]
struct Slot {
    page: u64,
    /// The time from which the page is there.
    arrives: u64,
    /// Whether the page was prefetched and has not been used yet.
    is_unused: bool,
    is_written: bool,
}

/// A page on its way.
#[derive(Clone, Copy, Debug)]
struct Fetch {
    page: u64,
    arrives: u64,
    is_prefetched: bool,
}

#[derive(Debug)]
struct Replay<'a> {
    settings: &'a ReplaySettings,
    candidates: Candidates,
    slots: Vec<Slot>,
    /// The slots of the pages in the pool.
    places: HashMap<u64, usize>,
    order: Order,
    /// The pages on their way, in the order of their arrival.
    in_flight: VecDeque<Fetch>,
    prefetches_in_flight: usize,
    /// The pages that exist, if there were none in the beginning.
    touched: HashSet<u64>,
    /// What is known of the pages that were prefetched.
    throttle: Throttle,
    outcome: Outcome,
}

impl Replay<'_> {
    fn access(&mut self, recorded: &RecordedAccess, now: u64, prefetcher: &mut impl Prefetcher) {
        let access = &recorded.access;
        self.land(now, prefetcher);
        let is_new = self.settings.start == Start::Fresh && self.touched.insert(access.page);
        let wait = match self.places.get(&access.page) {
            Some(place) => {
                let place = *place;
                let slot = &mut self.slots[place];
                slot.is_written |= recorded.is_written;
                let wait = slot.arrives.saturating_sub(now);
                let is_first = std::mem::take(&mut slot.is_unused);
                self.order.touch(place);
                if is_first {
                    self.outcome.used += 1;
                    self.throttle.used();
                    self.outcome.late += u64::from(wait > 0);
                    self.prefetch(access, Trigger::FirstUse, now, prefetcher);
                }
                wait
            }
            None => {
                let wait = if is_new { 0 } else { self.settings.latency };
                let (page, arrives) = (access.page, now + wait);
                let slot = Slot { page, arrives, is_unused: false, is_written: recorded.is_written };
                self.fill_needed(slot, now);
                if is_new {
                    self.outcome.created += 1;
                } else {
                    self.outcome.misses += 1;
                    self.in_flight.push_back(Fetch { page, arrives, is_prefetched: false });
                    self.prefetch(access, Trigger::Miss, now, prefetcher);
                }
                wait
            }
        };
        self.outcome.stall += wait;
    }

    /// Tells the prefetcher of the pages that have arrived.
    fn land(&mut self, now: u64, prefetcher: &mut impl Prefetcher) {
        while let Some(fetch) = self.in_flight.pop_front_if(|fetch| fetch.arrives <= now) {
            self.prefetches_in_flight -= usize::from(fetch.is_prefetched);
            prefetcher.arrived(fetch.page, fetch.is_prefetched);
        }
    }

    /// Tells the prefetcher of an access, and fetches its candidates.
    fn prefetch(
        &mut self,
        access: &PageAccess,
        trigger: Trigger,
        now: u64,
        prefetcher: &mut impl Prefetcher,
    ) {
        self.outcome.triggers += 1;
        self.candidates.clear();
        prefetcher.observe(access, trigger, &mut self.candidates);
        if self.settings.is_throttled && !self.throttle.allows() {
            self.outcome.dropped += self.candidates.as_slice().len() as u64;
            return;
        }
        for number in 0..self.candidates.as_slice().len() {
            let page = self.candidates.as_slice()[number].page;
            if self.places.contains_key(&page) {
                self.outcome.redundant += 1;
                continue;
            }
            let exists = self.settings.start == Start::Away || self.touched.contains(&page);
            let has_room = self.prefetches_in_flight + 1 < self.settings.batch;
            let arrives = now + self.settings.latency;
            let slot = Slot { page, arrives, is_unused: true, is_written: false };
            if exists && has_room && self.fill(slot, now, access.page) {
                self.outcome.issued += 1;
                self.prefetches_in_flight += 1;
                self.in_flight.push_back(Fetch { page, arrives, is_prefetched: true });
            } else {
                self.outcome.dropped += 1;
            }
        }
    }

    /// Puts a page into the pool, if there is room or a page that may leave: one that is there, and not that of the current
    /// access. Returns whether it did.
    fn fill(&mut self, slot: Slot, now: u64, current: u64) -> bool {
        if self.slots.len() < self.settings.pages {
            self.add(slot);
            return true;
        }
        let slots = &self.slots;
        let may_leave = |place: usize| slots[place].arrives <= now && slots[place].page != current;
        let victim = self.order.victim(may_leave);
        if let Some(victim) = victim {
            self.replace(victim, slot);
        }
        victim.is_some()
    }

    /// Puts a page that is needed into the pool, if necessary in the place of a page on its way.
    fn fill_needed(&mut self, slot: Slot, now: u64) {
        if !self.fill(slot, now, slot.page)
            && let Some(victim) = self.order.victim(|_| true)
        {
            self.replace(victim, slot);
        }
    }

    fn add(&mut self, slot: Slot) {
        self.places.insert(slot.page, self.slots.len());
        self.slots.push(slot);
        self.order.add(!slot.is_unused);
    }

    fn replace(&mut self, place: usize, slot: Slot) {
        let left = std::mem::replace(&mut self.slots[place], slot);
        self.outcome.moved_out += u64::from(left.is_written);
        if left.is_unused {
            self.throttle.left_unused();
        }
        self.places.remove(&left.page);
        self.places.insert(slot.page, place);
        self.order.refill(place, !slot.is_unused);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidates::Degree;
    use crate::eviction::Eviction;
    use crate::next_page::NextPage;
    use crate::prefetcher::NoPrefetcher;
    use crate::recorded::paced;

    /// Returns accesses to pages, `gap` steps apart.
    fn loads(gap: u64, pages: &[u64]) -> Vec<RecordedAccess> {
        paced(1000, gap, pages)
    }

    fn settings(pages: usize, eviction: Eviction) -> ReplaySettings {
        ReplaySettings { eviction, latency: 100, ..ReplaySettings::new(pages) }
    }

    fn run(
        accesses: &[RecordedAccess],
        settings: &ReplaySettings,
        prefetcher: &mut impl Prefetcher,
    ) -> Outcome {
        replay(accesses, settings, prefetcher).expect("the settings are right")
    }

    #[test]
    fn a_loop_that_does_not_fit_misses_each_time_with_lru() {
        let pages = [1, 2, 3, 4].repeat(5);
        let accesses = loads(10, &pages);
        let three = run(&accesses, &settings(3, Eviction::Lru), &mut NoPrefetcher);
        assert_eq!((three.misses, three.stall), (20, 2000), "three pages for four");
        let four = run(&accesses, &settings(4, Eviction::Lru), &mut NoPrefetcher);
        assert_eq!((four.misses, four.steps, four.triggers), (4, 190, 4), "four pages for four");
    }

    #[test]
    fn a_page_that_is_used_again_stays() {
        let accesses = loads(10, &[1, 2, 1, 3, 1, 4, 1, 5, 1]);
        let lru = run(&accesses, &settings(2, Eviction::Lru), &mut NoPrefetcher);
        assert_eq!(lru.misses, 5, "1 is never the oldest");
        let clock = run(&accesses, &settings(2, Eviction::Clock), &mut NoPrefetcher);
        assert!(
            clock.misses <= 7,
            "1 has second chances, and misses at most once more for two others: {clock:?}"
        );
    }

    #[test]
    fn written_pages_are_moved_out_when_they_leave() {
        let mut accesses = loads(10, &[1, 2, 3, 4, 1]);
        accesses[0].is_written = true;
        accesses[2].is_written = true;
        let outcome = run(&accesses, &settings(2, Eviction::Lru), &mut NoPrefetcher);
        assert_eq!((outcome.moved_out, outcome.moved_in()), (2, 5), "1 and 3 leave; 1 comes back clean");
    }

    #[test]
    fn a_prefetch_that_comes_too_late_saves_a_part_of_the_wait() {
        // 2 is requested with 1 at time 0 and arrives at 100; the lane goes on at 100 and needs it at 130.
        let outcome = run(&loads(30, &[1, 2]), &settings(9, Eviction::Lru), &mut NextPage);
        assert_eq!((outcome.used, outcome.late, outcome.stall), (1, 0, 100), "while the lane waits for 1");
        // 3 is requested when 2 is used, at time 130, and arrives at 230; the lane needs it at 160.
        let outcome = run(&loads(30, &[1, 2, 3]), &settings(9, Eviction::Lru), &mut NextPage);
        assert_eq!((outcome.used, outcome.late, outcome.stall), (2, 1, 170), "the rest of the latency");
        // 4 is requested at 160; the lane waits for 3 until 230 and needs 4 at 260, when it arrives.
        let outcome = run(&loads(30, &[1, 2, 3, 4]), &settings(9, Eviction::Lru), &mut NextPage);
        assert_eq!((outcome.misses, outcome.late, outcome.issued), (1, 1, 4), "all but the first were named");
    }

    #[test]
    fn pages_that_are_never_used_are_not_accurate() {
        let outcome = run(&loads(500, &[10, 20, 30, 40]), &settings(3, Eviction::Lru), &mut NextPage);
        assert_eq!((outcome.issued, outcome.used, outcome.misses), (4, 0, 4), "each neighbour is useless");
        assert_eq!(outcome.accuracy(), Some(0.0), "none of four");
    }

    #[test]
    fn a_throttle_keeps_pages_that_are_never_used_away() {
        let pages: Vec<u64> = (0..1000).map(|n| 10 * n).collect();
        let settings = ReplaySettings { is_throttled: true, ..settings(8, Eviction::Lru) };
        let wrong = run(&loads(500, &pages), &settings, &mut NextPage);
        assert!((60..120).contains(&wrong.issued), "the first ones, and one of 16: {wrong:?}");
        let pages: Vec<u64> = (0..1000).collect();
        let right = run(&loads(500, &pages), &settings, &mut NextPage);
        assert_eq!((right.misses, right.dropped), (1, 0), "all pages are used: {right:?}");
    }

    #[test]
    fn candidates_that_are_there_or_too_many_are_not_fetched() {
        let degree = Degree::new(8).expect("8 is valid");
        let limits = ReplaySettings { degree, batch: 4, ..settings(100, Eviction::Lru) };
        let outcome = run(&loads(10, &[1]), &limits, &mut NextPage);
        assert_eq!((outcome.issued, outcome.dropped), (3, 5), "a batch of four with the page that is needed");
        let outcome = run(&loads(1000, &[1, 2]), &limits, &mut NextPage);
        assert_eq!((outcome.redundant, outcome.issued), (2, 6), "3 and 4 are there at the second access");
        let alone = ReplaySettings { batch: 1, ..limits };
        assert_eq!(run(&loads(10, &[1, 2]), &alone, &mut NextPage).issued, 0, "no room besides needed pages");
    }

    #[test]
    fn the_current_page_and_pages_on_their_way_stay() {
        let degree = Degree::new(4).expect("4 is valid");
        let small = ReplaySettings { degree, ..settings(2, Eviction::Clock) };
        let outcome = run(&loads(1, &[1]), &small, &mut NextPage);
        assert_eq!((outcome.issued, outcome.dropped), (1, 3), "1 is needed, and 2 is on its way");
        let one = ReplaySettings { degree, ..settings(1, Eviction::Clock) };
        let outcome = run(&loads(1, &[1, 2, 1]), &one, &mut NextPage);
        assert_eq!((outcome.misses, outcome.issued), (3, 0), "a pool of one page has no room for another");
    }

    #[test]
    fn fresh_pages_are_made_and_not_fetched() {
        let fresh = ReplaySettings { start: Start::Fresh, ..settings(2, Eviction::Lru) };
        let outcome = run(&loads(10, &[1, 2, 3, 1]), &fresh, &mut NextPage);
        assert_eq!((outcome.created, outcome.misses, outcome.triggers), (3, 1, 1), "only 1 comes back");
        // 2 exists, but 2 is away again only after 1 and 3 have their places.
        assert_eq!((outcome.issued, outcome.stall), (1, 100), "2 is named with 1, in the place of 3");
    }

    #[test]
    fn settings_without_pages_are_refused() {
        for (wrong, text) in [
            (settings(0, Eviction::Lru), "the number of pages of the pool is 0; expected 1 to 4294967294"),
            (
                ReplaySettings { batch: 0, ..settings(1, Eviction::Lru) },
                "the number of pages of a batch is 0; expected 1 to 4294967294",
            ),
        ] {
            let error = replay(&[], &wrong, &mut NoPrefetcher).expect_err("the setting is wrong");
            assert_eq!(error.to_string(), text, "the message");
        }
    }
}
