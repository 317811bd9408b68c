//! Laws that hold for any stream of accesses, and comparisons with simple models.

use kvrm_prefetch::{
    AccessStream, Candidates, DEGREE_MAX, Degree, Eviction, FILTER_PAGES, NoPrefetcher, PAGES, PageAccess,
    Policy, Prefetcher, RecordedAccess, ReplaySettings, Start, StreamBuilder, Trigger, belady, foresight,
    least_stall, replay,
};
use proptest::collection::vec;
use proptest::prelude::*;

/// Returns the policies that are not the caller's.
fn baselines() -> impl Iterator<Item = Policy> {
    Policy::ALL.into_iter().filter(|policy| policy.baseline().is_some())
}

/// Accesses to few pages near each other, some of them in runs, with ascending steps.
fn accesses(count_max: usize, pages: u64) -> impl Strategy<Value = Vec<RecordedAccess>> {
    let one = (0..pages, 0..3_u64, 0..200_u64, any::<bool>(), 1..4_usize);
    vec(one, 1..count_max).prop_map(move |parts| {
        let mut step = 500;
        let mut accesses = Vec::new();
        for (first, pc, gap, is_written, run) in parts {
            for offset in 0..run as u64 {
                step += gap;
                let page = 1000 + (first + offset) % pages;
                let access = PageAccess { page, size: 8, load: !is_written, pc: 0x400 + 4 * pc, step };
                accesses.push(RecordedAccess { access, is_written, is_pointed_to: false });
            }
        }
        accesses.truncate(count_max);
        accesses
    })
}

fn settings() -> impl Strategy<Value = ReplaySettings> {
    let eviction = prop_oneof![Just(Eviction::Clock), Just(Eviction::Lru)];
    let start = prop_oneof![Just(Start::Away), Just(Start::Fresh)];
    let numbers = (1..12_usize, 0..600_u64, 1..6_usize, 1..=DEGREE_MAX);
    let all = (eviction, start, any::<bool>(), numbers);
    all.prop_map(|(eviction, start, is_throttled, (pages, latency, batch, degree))| ReplaySettings {
        pages,
        eviction,
        latency,
        batch,
        degree: Degree::new(degree).expect("the degree is in range"),
        start,
        is_throttled,
    })
}

/// Returns the least number of misses of any eviction: by trying all.
fn least_misses(pages: &[u64], capacity: usize, pool: &mut Vec<u64>) -> u64 {
    let Some((page, rest)) = pages.split_first() else { return 0 };
    if pool.contains(page) {
        return least_misses(rest, capacity, pool);
    }
    if pool.len() < capacity {
        pool.push(*page);
        let misses = least_misses(rest, capacity, pool);
        pool.pop();
        return 1 + misses;
    }
    let tries = (0..capacity).map(|place| {
        let left = std::mem::replace(&mut pool[place], *page);
        let misses = least_misses(rest, capacity, pool);
        pool[place] = left;
        misses
    });
    1 + tries.min().unwrap_or(0)
}

fn pages_of(accesses: &[RecordedAccess]) -> Vec<u64> {
    accesses.iter().map(|recorded| recorded.access.page).collect()
}

proptest! {
    #[test]
    fn replays_obey_their_bounds(accesses in accesses(60, 20), settings in settings()) {
        let moves = belady(&accesses, &settings).expect("the settings are right");
        let stall = least_stall(&accesses, &settings).expect("the settings are right");
        let without = replay(&accesses, &settings, &mut NoPrefetcher).expect("the settings are right");
        prop_assert_eq!(without.stall, without.misses * settings.latency, "without a prefetcher");
        for policy in baselines() {
            let fresh = || policy.baseline().expect("it is a baseline");
            let outcome = replay(&accesses, &settings, &mut fresh()).expect("the settings are right");
            let again = replay(&accesses, &settings, &mut fresh()).expect("the settings are right");
            prop_assert_eq!(outcome, again, "{} is deterministic", policy);
            prop_assert!(outcome.late <= outcome.used && outcome.used <= outcome.issued, "{}: {:?}", policy, outcome);
            prop_assert_eq!(outcome.triggers, outcome.misses + outcome.used, "{}: {:?}", policy, outcome);
            prop_assert!(outcome.moved_in() >= moves, "{}: {:?}, at least {}", policy, outcome, moves);
            prop_assert!(outcome.stall >= stall, "{}: {:?}, at least {}", policy, outcome, stall);
            prop_assert!(outcome.stall <= (outcome.misses + outcome.late) * settings.latency, "{}: {:?}", policy, outcome);
        }
        let outcome = foresight(&accesses, &settings).expect("the settings are right");
        prop_assert!(outcome.moved_in() >= moves && outcome.stall >= stall, "{:?}, {} and {}", outcome, moves, stall);
        prop_assert!(outcome.late <= outcome.used && outcome.used <= outcome.issued, "{:?}", outcome);
    }

    #[test]
    fn belady_is_the_best_of_all_evictions(accesses in accesses(11, 6), capacity in 1..4_usize) {
        let settings = ReplaySettings::new(capacity);
        let expected = least_misses(&pages_of(&accesses), capacity, &mut Vec::new());
        prop_assert_eq!(belady(&accesses, &settings), Ok(expected), "{:?}", pages_of(&accesses));
    }

    #[test]
    fn lru_misses_are_those_of_stack_distances(accesses in accesses(80, 20), capacity in 1..16_usize) {
        // A page is there if fewer than `capacity` others have been used since (Mattson et al., 1970).
        let pages = pages_of(&accesses);
        let misses = (0..pages.len()).filter(|at| {
            let Some(last) = pages[..*at].iter().rposition(|page| *page == pages[*at]) else { return true };
            let between: std::collections::HashSet<_> = pages[last + 1..*at].iter().collect();
            between.len() >= capacity
        });
        let settings = ReplaySettings { eviction: Eviction::Lru, ..ReplaySettings::new(capacity) };
        let outcome = replay(&accesses, &settings, &mut NoPrefetcher).expect("the settings are right");
        prop_assert_eq!(outcome.misses, misses.count() as u64, "{:?}", pages);
    }

    #[test]
    fn candidates_are_few_different_and_sorted(
        accesses in vec((any::<u64>(), 0..4_u64, any::<bool>(), any::<bool>()), 1..200),
        degree in 1..=DEGREE_MAX,
    ) {
        let mut candidates = Candidates::new(Degree::new(degree).expect("the degree is in range"));
        for policy in baselines() {
            let mut prefetcher = policy.baseline().expect("it is a baseline");
            for (bits, pc, is_near, is_miss) in &accesses {
                let page = if *is_near { bits % 50 } else { bits % PAGES };
                let access = PageAccess { page, pc: 4 * pc, ..PageAccess::default() };
                candidates.clear();
                let trigger = if *is_miss { Trigger::Miss } else { Trigger::FirstUse };
                let mut copy = prefetcher.clone();
                prefetcher.observe(&access, trigger, &mut candidates);
                let named: Vec<u64> = candidates.pages().collect();
                prop_assert!(named.len() <= degree, "{}: {:?}", policy, named);
                prop_assert!(named.iter().all(|named| *named < PAGES && *named != page), "{}: {:?}", policy, named);
                let different: std::collections::HashSet<_> = named.iter().collect();
                prop_assert_eq!(different.len(), named.len(), "{}: {:?}", policy, &named);
                let is_sorted = candidates.as_slice().is_sorted_by(|a, b| a.confidence >= b.confidence);
                prop_assert!(is_sorted, "{}: {:?}", policy, candidates);
                // A copy is a prefetcher of its own, with the same past.
                candidates.clear();
                copy.observe(&access, trigger, &mut candidates);
                prop_assert_eq!(&named, &candidates.pages().collect::<Vec<_>>(), "a copy of {}", policy);
                named.iter().for_each(|page| prefetcher.arrived(*page, true));
                prefetcher.arrived(page, false);
            }
            prop_assert!(prefetcher.bytes() <= 16 << 10, "{} has {} bytes", policy, prefetcher.bytes());
        }
    }

    #[test]
    fn the_filter_drops_the_last_four_pages(pages in vec((0..8_u64, any::<bool>()), 0..200)) {
        let mut builder = StreamBuilder::new(usize::MAX);
        let (mut recent, mut expected): (Vec<u64>, Vec<(u64, bool)>) = Default::default();
        for (page, load) in pages {
            builder.access(PageAccess { page, load, ..PageAccess::default() }, page << 12);
            if recent.iter().rev().take(FILTER_PAGES).any(|known| *known == page) {
                let recorded = expected.iter_mut().rev().find(|(known, _)| *known == page);
                recorded.expect("it was recorded").1 |= !load;
            } else {
                expected.push((page, !load));
            }
            recent.retain(|known| *known != page);
            recent.push(page);
        }
        let found: Vec<_> = builder.finish().iter().map(|recorded| (recorded.access.page, recorded.is_written)).collect();
        prop_assert_eq!(found, expected, "the simple model");
    }

    #[test]
    fn streams_are_read_as_they_were_written(accesses in accesses(50, 1 << 30), steps: u64, name in ".{0,20}") {
        let stream = AccessStream { program: name.clone(), level: name, steps, accesses };
        prop_assert_eq!(AccessStream::from_bytes(&stream.to_bytes()), Ok(stream), "as it was");
    }

    #[test]
    fn hostile_bytes_are_refused(bytes in vec(any::<u8>(), 0..200), accesses in accesses(5, 9)) {
        prop_assert!(AccessStream::from_bytes(&bytes).is_err(), "no checksum is right by chance");
        let mut changed = AccessStream { accesses, ..AccessStream::default() }.to_bytes();
        let at = bytes.len() % changed.len();
        changed.splice(at.., bytes);
        // Whether it is read depends on chance; it must only return.
        let _ = AccessStream::from_bytes(&changed);
    }
}
