//! Samples: what the oracle sees, and what it should have said.

use kvrm_models::AccessPattern;
use kvrm_models::inputs::Access;
use kvrm_prefetch::RecordedAccess;

use super::sequences::inputs;
use super::window::{Window, are_used};

/// The largest number of accesses of a sample: as many as the windows of the prefetcher have.
pub const SAMPLE_ACCESSES: usize = 24;
/// The number of accesses before the first prediction of a sample that begins in the middle of a sequence.
const UNSEEN: usize = 8;

/// Accesses of a sequence, with labels of the windows that end at each of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The accesses, as the network sees them.
    pub inputs: Vec<Access>,
    /// The label of the window that ends at each access; `None` where nothing is predicted.
    pub labels: Vec<Option<Label>>,
}

/// What comes after a window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The page of the last access.
    pub page: u64,
    /// The distances to the next different pages, as [`Window::deltas`].
    pub deltas: Vec<i64>,
    /// The next different pages, as [`Window::next_pages`].
    pub next_pages: Vec<u64>,
    /// The pattern.
    pub pattern: AccessPattern,
}

impl Sample {
    /// Takes the last accesses up to a position of a sequence, as many as a sample has at most. The addresses of instructions are
    /// changed by `mask`, with which a training hides where its programs are.
    #[must_use]
    pub fn new(sequence: &[RecordedAccess], position: usize, mask: u64) -> Self {
        let from = (position + 1).saturating_sub(SAMPLE_ACCESSES);
        let mut inputs = inputs(sequence, from, position + 1 - from);
        inputs.iter_mut().for_each(|access| access.pc ^= mask);
        let label = |at: usize| {
            // In use, windows are only short at the beginning of a sequence.
            let window = Window::at(sequence, at).filter(|_| from == 0 || at >= from + UNSEEN)?;
            let (page, deltas) = (sequence[at].access.page, window.deltas());
            Some(Label { page, deltas, pattern: window.pattern, next_pages: window.next_pages })
        };
        let labels = (from..from + inputs.len()).map(label).collect();
        Self { inputs, labels }
    }

    /// Returns the number of windows with a label.
    #[must_use]
    pub fn windows(&self) -> usize {
        self.labels.iter().flatten().count()
    }
}

impl Label {
    /// Returns whether each page that predicted deltas name is used soon, as [`Window::are_used`].
    #[must_use]
    pub fn are_used(&self, deltas: &[i64]) -> Vec<bool> {
        are_used(self.page, &self.next_pages, deltas)
    }
}

#[cfg(test)]
mod tests {
    use kvrm_prefetch::PageAccess;

    use super::*;

    fn sequence(accesses: u64) -> Vec<RecordedAccess> {
        let access = |n| PageAccess { page: 500 + 2 * n, pc: 0x40, ..PageAccess::default() };
        (0..accesses).map(|n| RecordedAccess { access: access(n), ..RecordedAccess::default() }).collect()
    }

    #[test]
    fn windows_have_labels_where_the_prefetcher_would_ask() {
        let sequence = sequence(100);
        let labelled = |position| -> Vec<bool> {
            Sample::new(&sequence, position, 0).labels.iter().map(Option::is_some).collect()
        };
        assert_eq!(labelled(23), [true; 24], "a sequence that begins");
        assert_eq!(labelled(50), [[false; 8], [true; 8], [true; 8]].concat(), "in the middle of one");
        assert_eq!(labelled(99).last(), Some(&false), "nothing follows the last access");
        assert_eq!(labelled(5).len(), 6, "a short sequence");
    }

    #[test]
    fn labels_are_those_of_the_window_at_the_access() {
        let sample = Sample::new(&sequence(100), 50, 0x0c);
        let label = sample.labels[23].as_ref().expect("the sequence goes on");
        assert_eq!((label.page, &label.deltas[..]), (600, &[2; 8][..]), "at the last access");
        assert_eq!(label.are_used(&[2, 1]), [true, false], "602 and 603");
        assert!(sample.inputs.iter().all(|input| input.pc == 0x4c && input.delta == 2), "{sample:?}");
    }
}
