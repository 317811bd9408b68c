//! A linear layer.

use super::dot::{dot, dots};
use super::rows::Rows;

/// A linear layer: `weight` times the input, plus `bias`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Linear<'a> {
    /// The weights, `[out][in]`.
    pub(crate) weight: &'a [f32],
    /// The bias, `[out]`.
    pub(crate) bias: &'a [f32],
}

impl Linear<'_> {
    /// Writes the outputs for one input to `out`.
    pub(crate) fn apply(&self, input: &[f32], out: &mut [f32]) {
        let width = input.len();
        let mut outputs = out.chunks_exact_mut(4);
        let mut biases = self.bias.chunks_exact(4);
        let mut weights = self.weight.chunks_exact(4 * width);
        for ((out, bias), rows) in (&mut outputs).zip(&mut biases).zip(&mut weights) {
            let sums = dots(std::array::from_fn::<_, 4, _>(|row| &rows[row * width..][..width]), input);
            for index in 0..4 {
                out[index] = bias[index] + sums[index];
            }
        }
        let rows = weights.remainder().chunks_exact(width);
        for ((out, bias), row) in outputs.into_remainder().iter_mut().zip(biases.remainder()).zip(rows) {
            *out = bias + dot(row, input);
        }
    }

    /// Returns the outputs for one input.
    pub(crate) fn of(&self, input: &[f32]) -> Vec<f32> {
        let mut out = vec![0.0; self.bias.len()];
        self.apply(input, &mut out);
        out
    }

    /// Returns the outputs for each row.
    pub(crate) fn of_rows(&self, rows: &Rows) -> Rows {
        let mut out = Rows::zeros(rows.count(), self.bias.len());
        for (input, out) in rows.iter().zip(out.iter_mut()) {
            self.apply(input, out);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_output_has_its_own_row_and_bias() {
        for outputs in 1..=9 {
            // Row r is r, r + 1; the input selects one of the two columns.
            let weight: Vec<f32> = (0..outputs).flat_map(|row| [row as f32, row as f32 + 1.0]).collect();
            let bias: Vec<f32> = (0..outputs).map(|row| 10.0 * row as f32).collect();
            let linear = Linear { weight: &weight, bias: &bias };
            let rows = linear.of_rows(&Rows::of([[1.0, 0.0], [0.0, 1.0]]));
            for row in 0..outputs {
                let first = 11.0 * row as f32;
                assert_eq!(
                    (rows.row(0)[row], rows.row(1)[row]),
                    (first, first + 1.0),
                    "row {row} of {outputs}"
                );
            }
        }
    }
}
