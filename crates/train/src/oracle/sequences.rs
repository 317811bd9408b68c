//! Sequences of accesses, as the memory oracle sees them.

use kvrm_models::inputs::Access;
use kvrm_prefetch::{GROUPS, Groups, InvalidSettings, Policy, RecordedAccess, ReplaySettings, footprint};

use super::window::heard_with;

/// The parts of the pages of a program that a pool holds, as divisors.
const DIVISORS: [usize; 4] = [1, 2, 5, 10];
/// The prefetchers that run while the accesses are heard.
const POLICIES: [Policy; 3] = [Policy::None, Policy::Next, Policy::Stride];
/// The degree of these prefetchers.
const DEGREE: usize = 4;

/// Divides accesses that a prefetcher hears of into their [`Groups`], each in its order.
#[must_use]
pub fn sequences(heard: &[RecordedAccess]) -> Vec<Vec<RecordedAccess>> {
    let mut groups = Groups::default();
    let mut open: [Vec<RecordedAccess>; GROUPS] = std::array::from_fn(|_| Vec::new());
    let mut done = Vec::new();
    for recorded in heard {
        let place = groups.place(&recorded.access);
        let sequence = &mut open[place.group];
        if place.delta.is_none() && !sequence.is_empty() {
            done.push(std::mem::take(sequence));
        }
        sequence.push(*recorded);
    }
    done.extend(open.into_iter().filter(|sequence| !sequence.is_empty()));
    done
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

/// Returns what the oracle sees of the accesses of a sequence, from a position on.
#[must_use]
pub fn inputs(sequence: &[RecordedAccess], from: usize, count: usize) -> Vec<Access> {
    let page = |position: usize| sequence[position].access.page;
    let input = |position: usize| {
        let access = sequence[position].access;
        let before = position.checked_sub(1).map_or(access.page, page);
        Access {
            delta: access.page.wrapping_sub(before).cast_signed(),
            size: access.size.into(),
            is_load: access.load,
            pc: access.pc,
        }
    };
    (from..sequence.len().min(from + count)).map(input).collect()
}

#[cfg(test)]
mod tests {
    use kvrm_prefetch::PageAccess;

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
    fn arrays_become_sequences_and_all_accesses_remain() {
        let stream = stream((0..40).map(|n| 10_000 * (n % 2) + n / 2));
        let found: Vec<Vec<u64>> = sequences(&stream).iter().map(|sequence| pages(sequence)).collect();
        assert_eq!(found, [(0..20).collect::<Vec<_>>(), (10_000..10_020).collect()], "two arrays");
        // Groups that are given up end their sequences.
        let stream = self::stream((0..40).map(|n| 1000 * n * n));
        let found = sequences(&stream);
        assert_eq!((found.len(), found.iter().map(Vec::len).sum::<usize>()), (40, 40), "no access is lost");
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
    fn inputs_have_the_distances_of_the_sequence() {
        let sequence = stream([10, 12, 9]);
        let deltas =
            |from| -> Vec<i64> { inputs(&sequence, from, 2).iter().map(|access| access.delta).collect() };
        assert_eq!(
            [deltas(0), deltas(1), deltas(2)],
            [vec![0, 2], vec![2, -3], vec![-3]],
            "from each position"
        );
        let expected = Access { delta: 2, size: 4, is_load: true, pc: 8 };
        assert_eq!(inputs(&sequence, 1, 1), [expected], "all fields");
    }
}
