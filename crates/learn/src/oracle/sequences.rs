//! Sequences of accesses, as the memory oracle sees them.

use kvrm_models::inputs::Access;
use kvrm_prefetch::{GROUPS, Groups, RecordedAccess};

/// Divides accesses of a lane into their [`Groups`], each in its order, as they come.
///
/// ```
/// use kvrm_learn::oracle::Sequences;
/// use kvrm_prefetch::{PageAccess, RecordedAccess};
///
/// let mut sequences = Sequences::default();
/// for page in [10, 5000, 11, 5001, 12] {
///     let access = PageAccess { page, ..PageAccess::default() };
///     sequences.hear(RecordedAccess { access, ..RecordedAccess::default() });
/// }
/// let lengths: Vec<usize> = sequences.finish().map(|sequence| sequence.len()).collect();
/// assert_eq!(lengths, [3, 2]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Sequences {
    groups: Groups,
    open: [Vec<RecordedAccess>; GROUPS],
}

impl Sequences {
    /// Hears of the next access. Returns the sequence that it continues, and the one that it has ended.
    pub fn hear(
        &mut self,
        recorded: RecordedAccess,
    ) -> (&mut Vec<RecordedAccess>, Option<Vec<RecordedAccess>>) {
        let place = self.groups.place(&recorded.access);
        let sequence = &mut self.open[place.group];
        let has_ended = place.delta.is_none() && !sequence.is_empty();
        let ended = has_ended.then(|| std::mem::take(sequence));
        sequence.push(recorded);
        (sequence, ended)
    }

    /// Returns the sequences that have not ended.
    pub fn finish(self) -> impl Iterator<Item = Vec<RecordedAccess>> {
        self.open.into_iter().filter(|sequence| !sequence.is_empty())
    }
}

/// Divides accesses that a prefetcher hears of into their [`Groups`], each in its order.
#[must_use]
pub fn sequences(heard: &[RecordedAccess]) -> Vec<Vec<RecordedAccess>> {
    let mut sequences = Sequences::default();
    let mut done: Vec<_> = heard.iter().filter_map(|recorded| sequences.hear(*recorded).1).collect();
    done.extend(sequences.finish());
    done
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
