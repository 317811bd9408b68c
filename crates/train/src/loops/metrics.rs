//! Measures of predictions.

/// The counts of labels and predictions of some classes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Confusion<const N: usize> {
    /// The counts, by label and by prediction.
    pub counts: [[u32; N]; N],
}

impl<const N: usize> Default for Confusion<N> {
    fn default() -> Self {
        Self { counts: [[0; N]; N] }
    }
}

impl<const N: usize> Confusion<N> {
    /// Counts a prediction.
    pub const fn add(&mut self, label: usize, prediction: usize) {
        self.counts[label][prediction] += 1;
    }

    /// Returns the number of predictions.
    #[must_use]
    pub fn total(&self) -> u32 {
        self.counts.iter().flatten().sum()
    }

    /// Returns the share of right predictions.
    #[must_use]
    pub fn accuracy(&self) -> f64 {
        let right: u32 = (0..N).map(|class| self.counts[class][class]).sum();
        f64::from(right) / f64::from(self.total().max(1))
    }

    /// Returns the F1 score of a class, or `None` if it is neither a label nor a prediction.
    #[must_use]
    pub fn f1(&self, class: usize) -> Option<f64> {
        let right = self.counts[class][class];
        let labels: u32 = self.counts[class].iter().sum();
        let predictions: u32 = self.counts.iter().map(|row| row[class]).sum();
        (labels + predictions > 0).then(|| 2.0 * f64::from(right) / f64::from(labels + predictions))
    }

    /// Returns the mean of the F1 scores of the classes that have labels.
    #[must_use]
    pub fn macro_f1(&self) -> f64 {
        let classes = (0..N).filter(|class| self.counts[*class].iter().any(|count| *count > 0));
        let scores: Vec<f64> = classes.filter_map(|class| self.f1(class)).collect();
        scores.iter().sum::<f64>() / (scores.len().max(1)) as f64
    }
}

/// The relative errors of predicted numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Errors {
    /// `|prediction / label - 1|`.
    errors: Vec<f64>,
    /// `max(prediction / label, label / prediction)`.
    factors: Vec<f64>,
}

impl Errors {
    /// Counts a prediction of a number, which is at least 1. A prediction below 1 counts as 1.
    pub fn add(&mut self, label: f64, prediction: f64) {
        let ratio = prediction.max(1.0) / label;
        self.errors.push((ratio - 1.0).abs());
        self.factors.push(ratio.max(1.0 / ratio));
    }

    /// Returns the number of predictions.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.errors.len()
    }

    /// Returns the median of the relative errors, or 0 if there are none.
    #[must_use]
    pub fn median(&self) -> f64 {
        let mut errors = self.errors.clone();
        errors.sort_by(f64::total_cmp);
        errors.get(errors.len() / 2).copied().unwrap_or(0.0)
    }

    /// Returns the share of predictions that are wrong by at most a factor.
    #[must_use]
    pub fn within_factor(&self, factor: f64) -> f64 {
        let count = self.factors.iter().filter(|error| **error <= factor).count();
        count as f64 / self.factors.len().max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_those_of_the_counts() {
        let mut confusion = Confusion::<3>::default();
        for (label, prediction) in [(0, 0), (0, 0), (0, 1), (1, 1)] {
            confusion.add(label, prediction);
        }
        assert_eq!((confusion.total(), confusion.accuracy()), (4, 0.75), "three of four");
        assert_eq!([0, 1, 2].map(|class| confusion.f1(class)), [Some(0.8), Some(2.0 / 3.0), None], "F1");
        assert!((confusion.macro_f1() - (0.8 + 2.0 / 3.0) / 2.0).abs() < 1e-12, "of classes with labels");
    }

    #[test]
    fn errors_are_relative() {
        let mut errors = Errors::default();
        [(10.0, 11.0), (10.0, 10.0), (10.0, 30.0), (4.0, 0.1), (1.0, 0.1)]
            .iter()
            .for_each(|(label, prediction)| errors.add(*label, *prediction));
        assert!((errors.median() - 0.1).abs() < 1e-12, "{errors:?}");
        assert_eq!(
            (errors.count(), errors.within_factor(2.0), errors.within_factor(4.0)),
            (5, 0.6, 1.0),
            "factors"
        );
    }
}
