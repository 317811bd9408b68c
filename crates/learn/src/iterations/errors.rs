//! How wrong an iteration predictor is.

use std::iter::Sum;

use kvrm_models::IterationPredictor;

use super::entry::Entry;
use crate::score::Score;

/// How wrong an iteration predictor is about entries of loops.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Errors {
    /// The number of entries.
    pub entries: u64,
    /// The sum of the errors of the decimal logarithms, without their signs.
    pub log10: f64,
    /// The number of entries whose number of iterations is predicted within a factor of 2.
    pub within_2: u64,
}

impl Errors {
    /// Measures a network on an entry.
    #[must_use]
    pub fn of(network: &IterationPredictor, entry: &Entry) -> Self {
        let error = (network.log10_iterations(&entry.input) - entry.log10_iterations()).abs();
        let is_within_2 = error <= std::f32::consts::LOG10_2;
        Self { entries: 1, log10: error.into(), within_2: is_within_2.into() }
    }

    /// Returns the mean error of the decimal logarithm.
    #[must_use]
    pub fn mean_log10(&self) -> f64 {
        self.log10 / self.entries.max(1) as f64
    }

    /// Returns the share of entries that are predicted within a factor of 2, from 0 to 1.
    #[must_use]
    pub fn share_within_2(&self) -> f64 {
        self.within_2 as f64 / self.entries.max(1) as f64
    }
}

impl Sum for Errors {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, errors| Self {
            entries: sum.entries + errors.entries,
            log10: sum.log10 + errors.log10,
            within_2: sum.within_2 + errors.within_2,
        })
    }
}

impl Score for Errors {
    const HEARD: &'static str = "entries";
    const METRIC: &'static str = "log10_error";

    fn is_better_than(&self, other: &Self) -> bool {
        self.log10 < other.log10
    }

    fn value(&self) -> f64 {
        self.mean_log10()
    }

    fn compared_with(&self, without_learning: &Self) -> String {
        let [before, after] = [without_learning, self].map(|errors| 10_f64.powf(errors.mean_log10()));
        let [less, more] = [without_learning, self].map(|errors| 100.0 * errors.share_within_2());
        format!(
            "predictions were wrong by a factor of {after:.2}, {before:.2} without learning; {more:.1} % were within a factor of \
             2, {less:.1} % without learning"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_a_network_that_always_answers_a_thousand() {
        let mut flat = vec![0.0; IterationPredictor::PARAMETERS];
        flat[IterationPredictor::PARAMETERS - 1] = 3.0; // The bias of `fc3`.
        let network = IterationPredictor::from_flat(&flat).expect("as many weights as it has");
        let entry = |iterations| Entry { input: [0.5; 131], iterations };
        let errors: Errors =
            [1000, 600, 100_000].iter().map(|count| Errors::of(&network, &entry(*count))).sum();
        assert_eq!((errors.entries, errors.within_2), (3, 2), "of 1,000, 600 and 100,000");
        let mean = (1000_f64 / 600.0).log10().midpoint(2.0) * 2.0 / 3.0;
        assert!((errors.mean_log10() - mean).abs() < 1e-5, "{errors:?}");
        let better = Errors { log10: errors.log10 - 0.1, ..errors };
        assert!(
            better.is_better_than(&errors) && !errors.is_better_than(&errors),
            "only if it is less wrong"
        );
        let text = better.compared_with(&errors);
        assert!(text.contains("66.7 % were within a factor of 2"), "{text}");
    }
}
