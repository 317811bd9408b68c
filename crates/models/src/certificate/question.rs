//! What a network is asked.

/// What a kind of network is to answer.
pub(super) struct Question {
    pub(super) network: &'static str,
    /// By tuple.
    pub(super) labels: Vec<u8>,
    /// Of a word the table allocates.
    pub(super) of_op: fn(kvrm_arm64::Op) -> u8,
    /// Of a word by any other authority there is.
    pub(super) of_word: Option<fn(u32) -> u8>,
    /// Of tuples none of whose words the table allocates, where that alone decides.
    pub(super) unallocated: Option<u8>,
    pub(super) names: fn(u8) -> &'static str,
}
