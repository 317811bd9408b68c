//! The accesses of a recorded stream that a prefetcher hears of.

use kvrm_prefetch::{
    Candidates, InvalidSettings, NoPrefetcher, PageAccess, Policy, Prefetcher, RecordedAccess,
    ReplaySettings, Trigger, footprint, replay,
};

/// The parts of the pages of a program that a pool holds, as divisors.
const DIVISORS: [usize; 4] = [1, 2, 5, 10];
/// The prefetchers that run while the accesses are heard.
const POLICIES: [Policy; 3] = [Policy::None, Policy::Next, Policy::Stride];
/// The degree of these prefetchers.
const DEGREE: usize = 4;

/// Returns the accesses of a stream that a prefetcher would hear of: those that miss without prefetching. If all of its pages came
/// in time, it would hear of the first uses of about the same pages.
///
/// # Errors
/// A setting is wrong.
pub fn heard(
    stream: &[RecordedAccess],
    settings: &ReplaySettings,
) -> Result<Vec<RecordedAccess>, InvalidSettings> {
    heard_with(stream, settings, NoPrefetcher)
}

/// Returns the accesses of a stream that a prefetcher at work hears of.
///
/// # Errors
/// A setting is wrong.
fn heard_with(
    stream: &[RecordedAccess],
    settings: &ReplaySettings,
    prefetcher: impl Prefetcher,
) -> Result<Vec<RecordedAccess>, InvalidSettings> {
    let mut listener = Listener { heard: Vec::new(), prefetcher };
    replay(stream, settings, &mut listener)?;
    // The accesses are a part of the stream, in its order.
    let mut heard = listener.heard.into_iter().peekable();
    Ok(stream.iter().filter(|recorded| heard.next_if_eq(&recorded.access).is_some()).copied().collect())
}

/// Notes what a prefetcher hears of.
struct Listener<P> {
    heard: Vec<PageAccess>,
    prefetcher: P,
}

impl<P: Prefetcher> Prefetcher for Listener<P> {
    fn observe(&mut self, access: &PageAccess, trigger: Trigger, candidates: &mut Candidates) {
        self.heard.push(*access);
        self.prefetcher.observe(access, trigger, candidates);
    }

    fn arrived(&mut self, page: u64, is_prefetched: bool) {
        self.prefetcher.arrived(page, is_prefetched);
    }

    fn bytes(&self) -> usize {
        size_of_val(&self.heard[..]) + self.prefetcher.bytes()
    }
}

/// Returns the accesses of a program that a prefetcher hears of, for several sizes of the pool, and with several prefetchers at
/// work: with a good one, most accesses are first uses of pages that it has brought.
///
/// # Errors
/// Never: the settings are right.
pub fn heard_in_use(stream: &[RecordedAccess]) -> Result<Vec<Vec<RecordedAccess>>, InvalidSettings> {
    let pages = footprint(stream);
    let mut all = Vec::new();
    for divisor in DIVISORS {
        let degree = kvrm_prefetch::Degree::new(DEGREE).unwrap_or(kvrm_prefetch::Degree::ONE);
        let settings = ReplaySettings { degree, ..ReplaySettings::new(pages.div_ceil(divisor).max(1)) };
        for prefetcher in POLICIES.iter().filter_map(|policy| policy.baseline()) {
            all.push(heard_with(stream, &settings, prefetcher)?);
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(pages: impl IntoIterator<Item = u64>) -> Vec<RecordedAccess> {
        let recorded = |(step, page)| RecordedAccess {
            access: PageAccess { page, step: 20_000 * step, size: 4, load: true, pc: 8 },
            ..RecordedAccess::default()
        };
        (0_u64..).zip(pages).map(recorded).collect()
    }

    fn pages(sequence: &[RecordedAccess]) -> Vec<u64> {
        sequence.iter().map(|recorded| recorded.access.page).collect()
    }

    #[test]
    fn first_uses_are_heard_while_a_prefetcher_is_at_work() {
        let heard = heard_in_use(&stream((0..200).map(|n| n % 100))).expect("the settings are right");
        assert_eq!(heard.len(), DIVISORS.len() * POLICIES.len(), "each pool with each prefetcher");
        let firsts: Vec<u64> = (0..100).collect();
        assert_eq!(pages(&heard[0]), firsts, "with room for all pages, each misses once");
        for heard in &heard[1..3] {
            assert_eq!(pages(&heard[..100]), firsts, "as a miss or as a first use");
        }
        assert!(heard[3..].iter().all(|heard| heard.len() > 150), "without room, nearly all are");
    }

    #[test]
    fn only_misses_are_heard() {
        let stream = stream([1, 2, 3, 1, 2, 3, 4, 1]);
        let heard =
            |capacity| heard(&stream, &ReplaySettings::new(capacity)).expect("the settings are right");
        assert_eq!(pages(&heard(4)), [1, 2, 3, 4], "the first access to each page");
        assert_eq!(pages(&heard(1)), [1, 2, 3, 1, 2, 3, 4, 1], "all accesses");
    }
}
