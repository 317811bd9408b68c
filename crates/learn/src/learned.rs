//! What a network has learned so far.

use std::fmt;

use crate::score::Score;

/// What a network has learned so far.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Learned<S> {
    /// The number of accesses, or of entries of loops, of which the learner has heard.
    pub heard: u64,
    /// The number of rounds that have ended.
    pub rounds: u64,
    /// The number of steps of the optimizer.
    pub steps: u64,
    /// The number of rounds whose network was better than the one in use, and has replaced it.
    pub adopted: u64,
    /// The number of rounds after which the network without learning was better than the one in use, and has replaced it.
    pub dropped: u64,
    /// For each round but the first, on its new samples: the measures of the network without learning, and of the one that was in
    /// use. None of these networks had learned from the samples.
    pub history: Vec<[S; 2]>,
}

impl<S: Score> Learned<S> {
    /// Returns the measures without learning, and of the networks in use, on all samples since the first round.
    #[must_use]
    pub fn scores(&self) -> [S; 2] {
        self.of_last(self.history.len())
    }

    /// Returns the measures without learning, and of the networks in use, in the last rounds.
    #[must_use]
    pub fn of_last(&self, rounds: usize) -> [S; 2] {
        let last = &self.history[self.history.len().saturating_sub(rounds)..];
        [0, 1].map(|network| last.iter().map(|round| round[network]).sum())
    }
}

impl<S> Default for Learned<S> {
    fn default() -> Self {
        Self { heard: 0, rounds: 0, steps: 0, adopted: 0, dropped: 0, history: Vec::new() }
    }
}

impl<S: Score> fmt::Display for Learned<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { heard, rounds, adopted, dropped, .. } = self;
        write!(f, "{heard} {}, {rounds} rounds, {adopted} better networks, ", S::HEARD)?;
        write!(f, "{dropped} given up; ")?;
        if self.history.is_empty() {
            return f.write_str("too few to compare networks");
        }
        let [before, after] = self.scores();
        f.write_str(&after.compared_with(&before))
    }
}
