//! The question that a network answers, with the right answers.

/// The question that a kind of network answers. Answers are numbers of classes or categories.
pub(super) struct Question {
    /// The name of the network.
    pub(super) network: &'static str,
    /// The right answer of each tuple, indexed by tuple.
    pub(super) labels: Vec<u8>,
    /// Returns the right answer for a word with this encoding.
    pub(super) of_op: fn(kvrm_arm64::Op) -> u8,
    /// Returns the right answer for any word, if there is a rule besides the instruction table.
    pub(super) of_word: Option<fn(u32) -> u8>,
    /// The answer for tuples without an allocated word, if those tuples and no others have it.
    pub(super) unallocated: Option<u8>,
    /// Returns the name of an answer.
    pub(super) names: fn(u8) -> &'static str,
}
