//! Multi-head attention.

use super::activation::softmax;
use super::dot::dot;
use super::linear::Linear;
use super::rows::Rows;

/// Multi-head attention of width d. Each of the heads sees d / heads of the columns.
///
/// The bias of the keys adds the same to all scores of a query, so softmax removes it. It is the middle third of
/// PyTorch's `in_proj_bias`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Attention<'a> {
    pub(super) query: Linear<'a>,
    pub(super) key: Linear<'a>,
    pub(super) value: Linear<'a>,
    pub(super) out: Linear<'a>,
    pub(super) heads: usize,
}

impl Attention<'_> {
    /// Returns the outputs for each row of `queries`. The rows of `tokens` are both keys and values.
    pub(crate) fn of_rows(&self, queries: &Rows, tokens: &Rows) -> Rows {
        let query = self.query.of_rows(queries);
        let (keys, values) = (self.key.of_rows(tokens), self.value.of_rows(tokens));
        let width = query.width() / self.heads;
        let scale = 1.0 / (width as f32).sqrt();
        let mut mixed = Rows::zeros(query.count(), query.width());
        let mut scores = vec![0.0; keys.count()];
        for (query, out) in query.iter().zip(mixed.iter_mut()) {
            let heads = query.chunks_exact(width).zip(out.chunks_exact_mut(width));
            for (head, (query, out)) in heads.enumerate() {
                let columns = head * width..(head + 1) * width;
                for (score, key) in scores.iter_mut().zip(keys.iter()) {
                    *score = dot(query, &key[columns.clone()]) * scale;
                }
                softmax(&mut scores);
                for (score, value) in scores.iter().zip(values.iter()) {
                    for (sum, value) in out.iter_mut().zip(&value[columns.clone()]) {
                        *sum += score * value;
                    }
                }
            }
        }
        self.out.of_rows(&mixed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_head_finds_its_own_token() {
        // Two heads of one column each, and the identity for all products.
        let identity = Linear { weight: &[1.0, 0.0, 0.0, 1.0], bias: &[0.0, 0.0] };
        let attention =
            Attention { query: identity, key: identity, value: identity, out: identity, heads: 2 };
        let tokens = Rows::of([[1.0, -1.0], [-1.0, 1.0]]);
        let out = attention.of_rows(&Rows::of([[80.0, 80.0], [0.0, -80.0]]), &tokens);
        assert_eq!(out, Rows::of([[1.0, 1.0], [0.0, -1.0]]), "the best token of each head, or the mean");
    }
}
