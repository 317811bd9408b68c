//! How often a memory oracle is right.

use std::iter::Sum;

use kvrm_models::MemoryOracle;

use super::sample::Sample;
use super::window::DELTAS;
use crate::score::Score;

/// How often a memory oracle is right on windows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accuracy {
    /// The number of windows.
    pub windows: u64,
    /// The number of predicted pages that are used soon, of eight for each window, as
    /// [`Window::are_used`](super::Window::are_used) says.
    pub used: u64,
    /// The number of windows whose next different page is the first predicted one.
    pub next: u64,
}

impl Accuracy {
    /// Measures a network on the windows of a sample.
    #[must_use]
    pub fn of(network: &MemoryOracle, sample: &Sample) -> Self {
        let mut accuracy = Self::default();
        let Some(trace) = network.trace(&sample.inputs) else { return accuracy };
        for (prediction, label) in trace.predictions().iter().zip(&sample.labels) {
            let Some(label) = label else { continue };
            let deltas = prediction.deltas();
            accuracy.windows += 1;
            accuracy.used += label.are_used(&deltas).into_iter().filter(|is_used| *is_used).count() as u64;
            accuracy.next += u64::from(label.deltas.first() == Some(&deltas[0]));
        }
        accuracy
    }

    /// Returns the share of predicted pages that are used soon, from 0 to 1.
    #[must_use]
    pub fn used_share(&self) -> f64 {
        self.used as f64 / (self.windows * DELTAS as u64).max(1) as f64
    }

    /// Returns the share of windows whose next page is predicted first, from 0 to 1.
    #[must_use]
    pub fn next_share(&self) -> f64 {
        self.next as f64 / self.windows.max(1) as f64
    }
}

impl Sum for Accuracy {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, accuracy| Self {
            windows: sum.windows + accuracy.windows,
            used: sum.used + accuracy.used,
            next: sum.next + accuracy.next,
        })
    }
}

impl Score for Accuracy {
    const HEARD: &'static str = "accesses";
    const METRIC: &'static str = "used_share";

    fn is_better_than(&self, other: &Self) -> bool {
        self.used > other.used
    }

    fn value(&self) -> f64 {
        self.used_share()
    }

    fn compared_with(&self, without_learning: &Self) -> String {
        let [before, after] = [without_learning, self].map(|accuracy| 100.0 * accuracy.used_share());
        format!("{after:.1} % of the predicted pages were used soon, {before:.1} % without learning")
    }
}

#[cfg(test)]
mod tests {
    use kvrm_models::{Architecture, inputs::encoded_delta};
    use kvrm_prefetch::{PageAccess, RecordedAccess};

    use super::*;

    #[test]
    fn a_network_that_always_answers_the_same_is_right_where_that_is_so() {
        let mut flat = vec![0.0; MemoryOracle::PARAMETERS];
        let deltas = Architecture::MemoryOracle.tensor("delta_head.3.bias").expect("a tensor");
        flat[deltas.offset..][..DELTAS].fill(encoded_delta(3));
        let network = MemoryOracle::from_flat(&flat).expect("as many weights as it has");
        let sample = |step: u64| {
            let access = |n| PageAccess { page: 1000 + step * n, ..PageAccess::default() };
            let sequence: Vec<_> =
                (0..60).map(|n| RecordedAccess { access: access(n), ..RecordedAccess::default() }).collect();
            Sample::new(&sequence, 30, 0)
        };
        let accuracy: Accuracy =
            [sample(3), sample(1)].iter().map(|sample| Accuracy::of(&network, sample)).sum();
        // 3, 6, 9, 12 and 15 pages behind each access are used soon if all pages are.
        assert_eq!(accuracy, Accuracy { windows: 32, used: 16 * (8 + 5), next: 16 }, "of 16 windows each");
        assert_eq!((accuracy.used_share(), accuracy.next_share()), (13.0 / 16.0, 0.5), "as shares");
    }
}
