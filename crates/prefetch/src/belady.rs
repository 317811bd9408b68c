//! The least number of misses that any eviction can have.

use std::collections::BTreeSet;

use crate::future::Future;
use crate::recorded::RecordedAccess;
use crate::settings::{InvalidSettings, ReplaySettings, Start};

/// Returns the least number of misses without prefetching: that of the eviction of the page whose next use is farthest
/// in the future (L. A. Belady, "A study of replacement algorithms for a virtual-storage computer", IBM Systems
/// Journal, 1966; R. L. Mattson et al. proved in 1970 that it is optimal).
///
/// No prefetcher moves fewer pages in than that either: each of its moves could wait until the page is used. Only the number of pages and the
/// start of the settings matter.
///
/// ```
/// use kvrm_prefetch::{PageAccess, RecordedAccess, ReplaySettings, belady};
///
/// let accesses: Vec<_> = [1, 2, 3, 1, 2, 4, 1, 2]
///     .map(|page| RecordedAccess { access: PageAccess { page, ..PageAccess::default() }, ..RecordedAccess::default() })
///     .into();
/// assert_eq!(belady(&accesses, &ReplaySettings::new(3))?, 4, "one for each page");
/// assert_eq!(belady(&accesses, &ReplaySettings::new(2))?, 6);
/// # Ok::<(), kvrm_prefetch::InvalidSettings>(())
/// ```
///
/// # Errors
/// A setting is wrong.
pub fn belady(accesses: &[RecordedAccess], settings: &ReplaySettings) -> Result<u64, InvalidSettings> {
    settings.check()?;
    let future = Future::new(accesses);
    // The pages in the pool, by their next uses.
    let mut pool = BTreeSet::new();
    let mut misses = 0;
    for (position, (page, next)) in future.pages.iter().zip(&future.next).enumerate() {
        if !pool.remove(&(position, *page)) {
            misses += 1;
            if pool.len() == settings.pages {
                pool.pop_last();
            }
        }
        pool.insert((*next, *page));
    }
    Ok(match settings.start {
        Start::Away => misses,
        Start::Fresh => misses - future.page_count as u64,
    })
}

/// Returns a number of steps for which a lane has to wait at least, with any prefetching and any eviction.
///
/// At least as many pages as [`belady`] returns have to be moved in. No more than a batch of them are on their way at a time, each for the
/// latency, so their transfers take a certain time, of which the lane can spend no more on steps than it has.
///
/// # Errors
/// A setting is wrong.
pub fn least_stall(accesses: &[RecordedAccess], settings: &ReplaySettings) -> Result<u64, InvalidSettings> {
    let moves = belady(accesses, settings)?;
    let step = |recorded: Option<&RecordedAccess>| recorded.map_or(0, |recorded| recorded.access.step);
    let steps = step(accesses.last()).saturating_sub(step(accesses.first()));
    let transfer = u128::from(moves) * u128::from(settings.latency) / settings.batch as u128;
    let transfer = u64::try_from(transfer).unwrap_or(u64::MAX);
    // The first page that is moved has to be waited for if nothing precedes it.
    let first = if settings.start == Start::Away && moves > 0 { settings.latency } else { 0 };
    Ok(transfer.saturating_sub(steps).max(first))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorded::paced;

    fn misses(pages: &[u64], capacity: usize, start: Start) -> u64 {
        let settings = ReplaySettings { start, ..ReplaySettings::new(capacity) };
        belady(&paced(0, 1, pages), &settings).expect("the settings are right")
    }

    #[test]
    fn a_loop_that_does_not_fit_keeps_a_part() {
        // The example of many textbooks.
        let pages = [7, 0, 1, 2, 0, 3, 0, 4, 2, 3, 0, 3, 2, 1, 2, 0, 1, 7, 0, 1];
        assert_eq!(misses(&pages, 3, Start::Away), 9, "three frames");
        assert_eq!(misses(&pages, 4, Start::Away), 8, "four frames");
        assert_eq!(misses(&pages, 6, Start::Away), 6, "one miss for each page");
        assert_eq!(misses(&pages, 6, Start::Fresh), 0, "no page comes back");
        assert_eq!(misses(&pages, 3, Start::Fresh), 3, "without the first six");
        assert_eq!(misses(&pages, 1, Start::Away), 20, "each access");
    }

    #[test]
    fn a_lane_waits_at_least_for_transfers_that_take_longer_than_its_steps() {
        let pages: Vec<u64> = (0..100).collect();
        let settings = ReplaySettings { latency: 1000, batch: 10, ..ReplaySettings::new(5) };
        let stall = |gap, settings| least_stall(&paced(0, gap, &pages), &settings).expect("right settings");
        assert_eq!(stall(10, settings), 10_000 - 990, "ten batches of 1000 steps, and 990 steps");
        assert_eq!(stall(1000, settings), 1000, "only the first page");
        assert_eq!(stall(10, ReplaySettings { start: Start::Fresh, ..settings }), 0, "nothing is moved in");
    }
}
