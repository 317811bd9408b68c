//! Measures of the memory oracle on windows.

use kvrm_learn::oracle::{DELTAS, Window, inputs};
use kvrm_models::{MemoryOracle, inputs::decoded_delta};
use kvrm_prefetch::RecordedAccess;

/// The number of bins of confidences.
const BINS: usize = 10;

/// The measures of a memory oracle.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OracleScores {
    /// The number of windows with a label, for each of the deltas.
    pub labels: [u32; DELTAS],
    /// The number of deltas that are exactly their labels.
    pub exact: [u32; DELTAS],
    /// The number of windows.
    pub windows: u32,
    /// The number of named pages that are used soon, by [`Window::are_used`].
    pub used: u32,
    /// The number of patterns that are right.
    pub patterns: u32,
    /// The number of confidences of each tenth from 0 to 1, their sum, and the number of their pages that are used soon.
    pub bins: [(u32, f64, u32); BINS],
}

impl OracleScores {
    /// Measures a network on the windows at positions of sequences.
    #[must_use]
    pub fn new<'a>(
        network: &MemoryOracle,
        places: impl IntoIterator<Item = (&'a [RecordedAccess], usize)>,
    ) -> Self {
        let mut scores = Self::default();
        for (sequence, position) in places {
            scores.add(network, sequence, position);
        }
        scores
    }

    fn add(&mut self, network: &MemoryOracle, sequence: &[RecordedAccess], position: usize) {
        let Some(window) = Window::at(sequence, position) else { return };
        let count = window.accesses.len();
        let inputs = inputs(sequence, position + 1 - count, count);
        let Some(prediction) = network.predict(&inputs) else { return };
        let deltas = prediction.encoded_deltas.map(decoded_delta);
        self.windows += 1;
        for (place, (label, delta)) in window.deltas().iter().zip(deltas).enumerate() {
            self.labels[place] += 1;
            self.exact[place] += u32::from(*label == delta);
        }
        for (is_used, confidence) in window.are_used(&deltas).into_iter().zip(prediction.confidences) {
            self.used += u32::from(is_used);
            let bin = &mut self.bins[((confidence * BINS as f32) as usize).min(BINS - 1)];
            bin.0 += 1;
            bin.1 += f64::from(confidence);
            bin.2 += u32::from(is_used);
        }
        self.patterns += u32::from(prediction.pattern() as usize == window.pattern as usize);
    }

    /// Returns the share of deltas that are exact, at a place of the prediction.
    #[must_use]
    pub fn accuracy(&self, place: usize) -> f64 {
        f64::from(self.exact[place]) / f64::from(self.labels[place].max(1))
    }

    /// Returns the share of named pages that are used soon.
    #[must_use]
    pub fn used_share(&self) -> f64 {
        f64::from(self.used) / f64::from((self.windows * DELTAS as u32).max(1))
    }

    /// Returns the share of patterns that are right.
    #[must_use]
    pub fn pattern_accuracy(&self) -> f64 {
        f64::from(self.patterns) / f64::from(self.windows.max(1))
    }

    /// Returns the expected calibration error: the mean difference between the confidences of a bin and the share of its pages that
    /// are used, weighted by their numbers.
    #[must_use]
    pub fn calibration_error(&self) -> f64 {
        let sum: f64 = self.bins.iter().map(|(_, sum, used)| (sum - f64::from(*used)).abs()).sum();
        sum / f64::from((self.windows * DELTAS as u32).max(1))
    }
}

#[cfg(test)]
mod tests {
    use kvrm_prefetch::PageAccess;

    use super::*;

    #[test]
    fn measures_of_a_network_that_always_answers_the_same() {
        // All deltas are 3, all confidences 0.5, the pattern is the first one.
        let mut flat = vec![0.0; MemoryOracle::PARAMETERS];
        let deltas = kvrm_models::Architecture::MemoryOracle.tensor("delta_head.3.bias").expect("a tensor");
        flat[deltas.offset..][..DELTAS].fill(kvrm_models::inputs::encoded_delta(3));
        let network = MemoryOracle::from_flat(&flat).expect("as many weights as it has");
        let stream = |step: u64| -> Vec<RecordedAccess> {
            let access = |n| PageAccess { page: 1000 + step * n, ..PageAccess::default() };
            (0..40).map(|n| RecordedAccess { access: access(n), ..RecordedAccess::default() }).collect()
        };
        let (threes, ones) = (stream(3), stream(1));
        let scores = OracleScores::new(&network, [(&threes[..], 10), (&ones[..], 10), (&ones[..], 39)]);
        assert_eq!(
            (scores.windows, scores.labels, scores.exact),
            (2, [2; DELTAS], [1; DELTAS]),
            "the stream has ended"
        );
        // 3, 6, 9, 12 and 15 pages behind, of eight.
        assert_eq!((scores.used, scores.patterns), (8 + 5, 1), "one strided, one sequential");
        let shares =
            [scores.accuracy(7), scores.used_share(), scores.pattern_accuracy(), scores.calibration_error()];
        assert_eq!(shares, [0.5, 13.0 / 16.0, 0.5, 5.0 / 16.0], "of two windows");
    }
}
