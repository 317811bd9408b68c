//! What a memory oracle has learned so far.

use std::fmt;

use super::accuracy::Accuracy;

/// What a memory oracle has learned so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Learned {
    /// The number of accesses of which the learner has heard.
    pub accesses: u64,
    /// The number of rounds that have ended.
    pub rounds: u64,
    /// The number of steps of the optimizer.
    pub steps: u64,
    /// The number of rounds whose network was better than the one in use, and has replaced it.
    pub adopted: u64,
    /// The number of rounds after which the network without learning was better than the one in use, and has replaced it.
    pub dropped: u64,
    /// For each round but the first, on its new windows: the accuracies of the network without learning, and of the one that was in
    /// use. None of these networks had learned from the windows.
    pub history: Vec<[Accuracy; 2]>,
}

impl Learned {
    /// Returns the accuracies without learning, and of the networks in use, on all windows since the first round.
    #[must_use]
    pub fn accuracies(&self) -> [Accuracy; 2] {
        self.of_last(self.history.len())
    }

    /// Returns the accuracies without learning, and of the networks in use, in the last rounds.
    #[must_use]
    pub fn of_last(&self, rounds: usize) -> [Accuracy; 2] {
        let last = &self.history[self.history.len().saturating_sub(rounds)..];
        [0, 1].map(|network| last.iter().map(|round| round[network]).sum())
    }
}

impl fmt::Display for Learned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { accesses, rounds, adopted, dropped, .. } = self;
        write!(f, "{accesses} accesses, {rounds} rounds, {adopted} better networks, {dropped} given up; ")?;
        if self.history.is_empty() {
            return f.write_str("too few to compare networks");
        }
        let [before, after] = self.accuracies().map(|accuracy| 100.0 * accuracy.used_share());
        write!(f, "{after:.1} % of the predicted pages were used soon, {before:.1} % without learning")
    }
}
