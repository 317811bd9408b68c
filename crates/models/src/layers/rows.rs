//! A matrix of activations: one row for each token of a sequence.

/// A matrix in row-major order. It has at least one row, of at least one value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Rows {
    values: Vec<f32>,
    width: usize,
}

impl Rows {
    /// Returns `count` rows of `width` zeros.
    pub(crate) fn zeros(count: usize, width: usize) -> Self {
        Self { values: vec![0.0; count * width], width }
    }

    /// Returns a matrix of the given rows.
    pub(crate) fn of<const W: usize>(rows: impl IntoIterator<Item = [f32; W]>) -> Self {
        Self { values: rows.into_iter().flatten().collect(), width: W }
    }

    /// Returns the number of rows.
    pub(crate) fn count(&self) -> usize {
        self.values.len() / self.width
    }

    /// Returns the number of values in a row.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    pub(crate) fn row(&self, index: usize) -> &[f32] {
        &self.values[index * self.width..][..self.width]
    }

    pub(crate) fn row_mut(&mut self, index: usize) -> &mut [f32] {
        &mut self.values[index * self.width..][..self.width]
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &[f32]> {
        self.values.chunks_exact(self.width)
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut [f32]> {
        self.values.chunks_exact_mut(self.width)
    }

    /// Returns all values, row by row.
    pub(crate) fn values_mut(&mut self) -> &mut [f32] {
        &mut self.values
    }

    /// Adds another matrix of the same shape.
    pub(crate) fn add(&mut self, other: &Self) {
        for (sum, value) in self.values.iter_mut().zip(&other.values) {
            *sum += value;
        }
    }

    /// Sets the values to zero where those of another matrix of the same shape are zero: the gradient of a ReLU, given its outputs.
    pub(crate) fn clear_where_zero(&mut self, other: &Self) {
        for (value, other) in self.values.iter_mut().zip(&other.values) {
            if *other == 0.0 {
                *value = 0.0;
            }
        }
    }

    /// Returns the mean of the rows.
    pub(crate) fn mean(&self) -> Vec<f32> {
        let mut mean = vec![0.0; self.width];
        for row in self.iter() {
            for (sum, value) in mean.iter_mut().zip(row) {
                *sum += value;
            }
        }
        let scale = 1.0 / self.count() as f32;
        mean.iter_mut().for_each(|sum| *sum *= scale);
        mean
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_is_that_of_each_column() {
        let mut rows = Rows::of([[1.0, 2.0], [5.0, -2.0]]);
        assert_eq!((rows.count(), rows.width(), rows.mean()), (2, 2, vec![3.0, 0.0]), "of two rows");
        rows.add(&rows.clone());
        assert_eq!(rows, Rows::of([[2.0, 4.0], [10.0, -4.0]]), "twice");
    }
}
