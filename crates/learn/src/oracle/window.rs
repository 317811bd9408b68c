//! Windows of a stream, with what comes after them.

use kvrm_models::AccessPattern;
use kvrm_prefetch::RecordedAccess;

use super::pattern::pattern_at;

/// The largest number of accesses of a window.
pub const WINDOW_ACCESSES: usize = 32;
/// The number of deltas that the oracle predicts.
pub const DELTAS: usize = kvrm_models::MemoryOracle::DELTAS;
/// The number of different pages among which a page that the oracle names has to be.
pub const HORIZON: usize = 16;
/// The number of accesses among which these pages are sought.
const LOOK_AHEAD: usize = 256;

/// The last accesses of a lane at a time, and what comes after them: a sample of the oracle.
///
/// ```
/// use kvrm_prefetch::{PageAccess, RecordedAccess};
/// use kvrm_learn::oracle::Window;
/// use kvrm_models::AccessPattern;
///
/// let stream: Vec<_> = (0..50)
///     .map(|n| PageAccess { page: 1000 + 3 * n, pc: 0x400, ..PageAccess::default() })
///     .map(|access| RecordedAccess { access, ..RecordedAccess::default() })
///     .collect();
/// let window = Window::at(&stream, 40).expect("the stream goes on");
/// assert_eq!((window.accesses.len(), window.pattern), (32, AccessPattern::Strided));
/// assert_eq!(window.deltas(), [3; 8]);
/// // Of these, 1123 comes next, 1126 and 1120 + 27 do later, and 1124 does not.
/// assert_eq!(window.are_used(&[3, 3, -2, 23]), [true, true, false, true]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window<'a> {
    /// The last accesses, at most [`WINDOW_ACCESSES`], the current one last.
    pub accesses: &'a [RecordedAccess],
    /// The next different pages, without the current one, in the order of their first accesses: at most [`HORIZON`], from the
    /// next 256 accesses.
    pub next_pages: Vec<u64>,
    /// The pattern at the current access.
    pub pattern: AccessPattern,
}

impl<'a> Window<'a> {
    /// Returns the window at a position of a stream, unless no other page follows.
    #[must_use]
    pub fn at(stream: &'a [RecordedAccess], position: usize) -> Option<Self> {
        let current = stream.get(position)?.access.page;
        let mut next_pages = Vec::new();
        for recorded in stream[position + 1..].iter().take(LOOK_AHEAD) {
            let page = recorded.access.page;
            if page != current && !next_pages.contains(&page) {
                next_pages.push(page);
                if next_pages.len() == HORIZON {
                    break;
                }
            }
        }
        let accesses = &stream[(position + 1).saturating_sub(WINDOW_ACCESSES)..=position];
        let pattern = pattern_at(stream, position);
        (!next_pages.is_empty()).then_some(Self { accesses, next_pages, pattern })
    }

    /// Returns the labels of the deltas: the distances to the next different pages, each from the page before it. There are fewer
    /// than [`DELTAS`] at the end of a stream.
    #[must_use]
    pub fn deltas(&self) -> Vec<i64> {
        let mut last = self.page();
        let next = self.next_pages.iter().take(DELTAS);
        next.map(|page| page.wrapping_sub(std::mem::replace(&mut last, *page)).cast_signed()).collect()
    }

    /// Returns the targets of the confidences for predicted deltas, each from the page before it: whether the page that a delta
    /// names is one of the next different pages, and no delta before has named it.
    #[must_use]
    pub fn are_used(&self, deltas: &[i64]) -> Vec<bool> {
        are_used(self.page(), &self.next_pages, deltas)
    }

    fn page(&self) -> u64 {
        self.accesses.last().map_or(0, |recorded| recorded.access.page)
    }
}

/// Returns [`Window::are_used`] of a window whose current page and next different pages are given.
#[must_use]
pub fn are_used(mut page: u64, next_pages: &[u64], deltas: &[i64]) -> Vec<bool> {
    let mut named = Vec::new();
    let is_used = |delta: &i64| {
        page = page.wrapping_add_signed(*delta);
        let is_used = next_pages.contains(&page) && !named.contains(&page);
        named.push(page);
        is_used
    };
    deltas.iter().map(is_used).collect()
}

#[cfg(test)]
mod tests {
    use kvrm_prefetch::PageAccess;

    use super::*;

    fn stream(pages: impl IntoIterator<Item = u64>) -> Vec<RecordedAccess> {
        let recorded = |(step, page)| RecordedAccess {
            access: PageAccess { page, step, ..PageAccess::default() },
            ..RecordedAccess::default()
        };
        (0..).zip(pages).map(recorded).collect()
    }

    #[test]
    fn labels_are_the_next_different_pages() {
        let stream = stream([50, 7, 50, 9, 7, 9, 3, 50, 1, 2]);
        let window = Window::at(&stream, 0).expect("pages follow");
        assert_eq!(window.next_pages, [7, 9, 3, 1, 2], "without the current page, and each once");
        assert_eq!(window.deltas(), [7 - 50, 2, -6, -2, 1], "each from the one before");
        assert_eq!(window.accesses.len(), 1, "nothing is before the first access");
        let window = Window::at(&stream, 6).expect("pages follow");
        assert_eq!((window.next_pages.as_slice(), window.accesses.len()), (&[50, 1, 2][..], 7), "at page 3");
        assert_eq!(Window::at(&stream, 9), None, "nothing follows");
        assert_eq!(Window::at(&stream, 10), None, "behind the end");
    }

    #[test]
    fn windows_and_labels_have_their_largest_sizes() {
        let stream = stream(0..1000);
        let window = Window::at(&stream, 500).expect("pages follow");
        let sizes = (window.accesses.len(), window.next_pages.len(), window.deltas().len());
        assert_eq!(sizes, (WINDOW_ACCESSES, HORIZON, DELTAS), "all are full");
        assert_eq!(
            (window.accesses[0].access.page, window.accesses[31].access.page),
            (469, 500),
            "the last ones"
        );
    }

    #[test]
    fn only_some_accesses_are_looked_at() {
        let stream = stream(std::iter::repeat_n(5, LOOK_AHEAD + 1).chain([6]));
        assert_eq!(Window::at(&stream, 0), None, "another page comes too late");
        assert!(Window::at(&stream, 1).is_some(), "the last one that counts");
    }

    #[test]
    fn confidences_are_targets_of_new_pages_that_come_soon() {
        let stream = stream((0..40).map(|n| 100 + n));
        let window = Window::at(&stream, 10).expect("pages follow");
        assert_eq!(
            window.are_used(&[1, 1, -1, 15, 1]),
            [true, true, false, true, false],
            "111, 112, 111, 126, 127"
        );
        assert_eq!(
            window.are_used(&[0, -1, i64::MIN]),
            [false; 3],
            "the current page, past ones, none at all"
        );
    }
}
