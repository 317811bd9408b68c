//! The pattern of the accesses around a position of a stream.

use kvrm_models::AccessPattern;
use kvrm_prefetch::RecordedAccess;

/// The number of accesses before one among which its neighbours and its predecessors are sought.
const LOOK_BACK: usize = 32;
/// The number of accesses up to a position, and of those after it, whose kinds decide.
const COUNTED: usize = 8;
/// The number of accesses before one among which the page before or behind is sought.
const NEIGHBOURS: usize = 8;

/// Returns the pattern at a position of a stream; random, if the stream ends before it.
///
/// An access is *sequential* if one of the eight accesses before it is to the next page or to the page before. Otherwise it is
/// *strided* if the last two accesses by its instruction, among the 32 before it, and the access itself are at equal distances that are not
/// 0. Otherwise it is a *pointer chase* if it is [pointed to](kvrm_prefetch::StreamBuilder): this is what can be seen of pointers, because the
/// stream has no values. All others are *random*.
///
/// The pattern at a position is the most frequent one of the last eight accesses, the one at the position included, and the
/// next eight; the first in the order of [`AccessPattern::ALL`], if several are.
#[must_use]
pub fn pattern_at(accesses: &[RecordedAccess], position: usize) -> AccessPattern {
    let end = (position + 1 + COUNTED).min(accesses.len());
    let mut counts = [0; AccessPattern::ALL.len()];
    for counted in (position + 1).saturating_sub(COUNTED)..end {
        counts[pattern_of(accesses, counted) as usize] += 1;
    }
    let most = counts.iter().max().copied().unwrap_or(0);
    AccessPattern::ALL
        .into_iter()
        .find(|pattern| counts[*pattern as usize] == most && most > 0)
        .unwrap_or(AccessPattern::Random)
}

/// Returns the pattern of a single access.
fn pattern_of(accesses: &[RecordedAccess], position: usize) -> AccessPattern {
    let RecordedAccess { access, is_pointed_to, .. } = accesses[position];
    let before = &accesses[position.saturating_sub(LOOK_BACK)..position];
    let distance = |recorded: &RecordedAccess| access.page.wrapping_sub(recorded.access.page).cast_signed();
    if before.iter().rev().take(NEIGHBOURS).any(|recorded| distance(recorded).unsigned_abs() == 1) {
        return AccessPattern::Sequential;
    }
    let mut same = before.iter().rev().filter(|recorded| recorded.access.pc == access.pc).map(distance);
    if let (Some(last), Some(second)) = (same.next(), same.next())
        && last != 0
        && second == 2 * last
    {
        return AccessPattern::Strided;
    }
    if is_pointed_to { AccessPattern::PointerChase } else { AccessPattern::Random }
}

#[cfg(test)]
mod tests {
    use kvrm_prefetch::PageAccess;

    use super::*;
    use crate::Random;

    /// Returns accesses by instructions to pages.
    fn stream(accesses: impl IntoIterator<Item = (u64, u64)>) -> Vec<RecordedAccess> {
        let recorded = |(pc, page)| RecordedAccess {
            access: PageAccess { page, pc, ..PageAccess::default() },
            ..RecordedAccess::default()
        };
        accesses.into_iter().map(recorded).collect()
    }

    /// Returns the patterns at all positions but the first and the last few.
    fn inner(stream: &[RecordedAccess]) -> Vec<AccessPattern> {
        (16..stream.len() - 16).map(|position| pattern_at(stream, position)).collect()
    }

    fn random_pages(count: u64) -> Vec<RecordedAccess> {
        let mut random = Random::new(1);
        stream((0..count).map(|_| (4, random.below(1 << 30) as u64)))
    }

    #[test]
    fn streams_have_the_pattern_of_their_rule() {
        let forwards = stream((0..60).map(|n| (4, n)));
        let backwards = stream((0..60).map(|n| (4, 1000 - n)));
        // Three arrays at once.
        let triad = stream((0..60).map(|n| (4 * (n % 3), 5000 * (n % 3) + n / 3)));
        for sequential in [forwards, backwards, triad] {
            assert!(
                inner(&sequential).iter().all(|found| *found == AccessPattern::Sequential),
                "{sequential:?}"
            );
        }
        let columns = stream((0..60).map(|n| (4, 3 * n)));
        let two = stream((0..60).map(|n| (4 * (n % 2), if n % 2 == 0 { 7 * n } else { 90_000 - 5 * n })));
        for strided in [columns, two] {
            assert!(inner(&strided).iter().all(|found| *found == AccessPattern::Strided), "{strided:?}");
        }
        let mut random = random_pages(60);
        assert!(inner(&random).iter().all(|found| *found == AccessPattern::Random), "{random:?}");
        random.iter_mut().for_each(|recorded| recorded.is_pointed_to = true);
        assert!(inner(&random).iter().all(|found| *found == AccessPattern::PointerChase), "{random:?}");
    }

    #[test]
    fn the_more_frequent_pattern_wins_and_the_first_one_if_they_are_equal() {
        // Sixteen accesses are counted: eight random ones, of which some are pointed to, and eight sequential ones.
        let mut accesses = random_pages(40);
        accesses.extend(stream((0..8).map(|n| (8, (1 << 35) + n))));
        accesses[33..40].iter_mut().for_each(|recorded| recorded.is_pointed_to = true);
        // The first sequential page has no neighbour yet.
        assert_eq!(
            pattern_at(&accesses, 39),
            AccessPattern::Sequential,
            "seven of both, and two random ones"
        );
        accesses[32].is_pointed_to = true;
        assert_eq!(pattern_at(&accesses, 39), AccessPattern::PointerChase, "eight and seven");
        assert_eq!(pattern_at(&accesses, 1000), AccessPattern::Random, "behind the end");
    }

    #[test]
    fn a_stride_of_no_page_is_none() {
        let same = stream((0..60).map(|n| if n % 6 == 0 { (4, 10) } else { (8, 1000 * n * n) }));
        assert!(inner(&same).iter().all(|found| *found == AccessPattern::Random), "{same:?}");
    }
}
