//! The order and the size of the sequences of a batch.

use std::cmp::Reverse;

use kvrm_shaders::interface::networks::TokenSequence;
use kvrm_shaders::layout;

use super::arena::Size;

/// Returns the indices of those of `count` sequences that have tokens, and not too many of them: longest first.
///
/// Sequences of a workgroup of an LSTM wait for the longest of them, so those of similar lengths have to stay together.
pub(crate) fn longest_first(count: usize, length: impl Fn(usize) -> usize) -> Vec<usize> {
    let fits = |index: &usize| (1..=layout::SEQUENCE_TOKENS as usize).contains(&length(*index));
    let mut order: Vec<usize> = (0..count).filter(fits).collect();
    order.sort_by_key(|index| Reverse(length(*index)));
    order
}

/// Returns the size of a batch.
pub(crate) fn size_of_batch(sequences: &[TokenSequence]) -> Size {
    let tokens = sequences.iter().map(|sequence| sequence.tokens).sum();
    Size { sequences: sequences.len() as u32, tokens }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_are_sorted_by_length_and_then_by_index() {
        let lengths = [2, 0, 32, 33, 1, 32];
        assert_eq!(longest_first(lengths.len(), |index| lengths[index]), [2, 5, 0, 4], "without 0 and 33");
        let sequences = [TokenSequence { first: 0, tokens: 3 }, TokenSequence { first: 3, tokens: 2 }];
        assert_eq!(size_of_batch(&sequences), Size { sequences: 2, tokens: 5 }, "all tokens");
    }
}
