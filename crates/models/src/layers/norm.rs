//! A layer normalisation.

use super::dot::dot;
use super::gradient::WeightAndBias;
use super::rows::Rows;

/// The number added to the variance, as PyTorch does by default.
const EPSILON: f32 = 1e-5;

/// A layer normalisation: each row is shifted and scaled to mean 0 and variance 1, then multiplied with `weight`, and
/// `bias` is added. The variance is that of the row itself (divided by the width).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Norm<'a> {
    pub(crate) weight: &'a [f32],
    pub(crate) bias: &'a [f32],
}

impl Norm<'_> {
    /// Normalises one row.
    pub(crate) fn apply(&self, row: &mut [f32]) {
        let (mean, factor) = mean_and_factor(row);
        for ((value, weight), bias) in row.iter_mut().zip(self.weight).zip(self.bias) {
            *value = (*value - mean) * factor * weight + bias;
        }
    }

    /// Adds to the gradient of the weights what follows from the gradient of the outputs for an input. Returns the gradient of the
    /// input.
    pub(crate) fn backward(&self, input: &[f32], outputs: &[f32], of: WeightAndBias<'_>) -> Vec<f32> {
        let (mean, factor) = mean_and_factor(input);
        let normal: Vec<f32> = input.iter().map(|value| (value - mean) * factor).collect();
        let scaled: Vec<f32> =
            outputs.iter().zip(self.weight).map(|(output, weight)| output * weight).collect();
        for (sum, (output, normal)) in of.weight.iter_mut().zip(outputs.iter().zip(&normal)) {
            *sum += output * normal;
        }
        of.bias.iter_mut().zip(outputs).for_each(|(sum, output)| *sum += output);
        let scale = 1.0 / input.len() as f32;
        let of_mean = scaled.iter().sum::<f32>() * scale;
        let of_spread = dot(&scaled, &normal) * scale;
        scaled
            .iter()
            .zip(&normal)
            .map(|(scaled, normal)| factor * (scaled - of_mean - normal * of_spread))
            .collect()
    }

    /// Normalises each row.
    pub(crate) fn apply_to_rows(&self, rows: &mut Rows) {
        rows.iter_mut().for_each(|row| self.apply(row));
    }
}

/// Returns the mean of a row, and the factor that gives it the variance 1.
fn mean_and_factor(row: &[f32]) -> (f32, f32) {
    let scale = 1.0 / row.len() as f32;
    let mean = row.iter().sum::<f32>() * scale;
    let variance = row.iter().map(|value| (value - mean) * (value - mean)).sum::<f32>() * scale;
    (mean, 1.0 / (variance + EPSILON).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_gets_the_wanted_mean_and_spread() {
        let norm = Norm { weight: &[2.0, 2.0, 2.0, 0.0], bias: &[0.0, 0.0, 0.0, 7.0] };
        let mut rows = Rows::of([[9.0, 11.0, 9.0, 11.0], [5.0; 4]]);
        norm.apply_to_rows(&mut rows);
        for (value, right) in rows.row(0).iter().zip([-2.0, 2.0, -2.0, 7.0]) {
            assert!((value - right).abs() < 2e-5, "{value} instead of {right}");
        }
        assert_eq!(rows.row(1), [0.0, 0.0, 0.0, 7.0], "equal values have no spread");
    }
}
