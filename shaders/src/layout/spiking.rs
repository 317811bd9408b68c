//! Numbers that the host shares with the kernels of the burst engine.
//!
//! `spiking/layout.wgsl` is written from here by `cargo xtask codegen`.

constants! {
    /// Invocations of a workgroup of the kernels whose workgroups all have the same size.
    MEMBERS = 256;
    /// The most workgroups in a row of `neurons`.
    ROW = 32768;
    /// The most steps of a batch: bits of a word.
    BATCH_MAX = 32;
    /// The most neurons that a single workgroup runs.
    SINGLE_MAX = 32768;
    /// Sums that a workgroup keeps for its partition: one for each port and neuron of it.
    SUMS = 4096;

    // Rules of learning, in the tables of a network.

    /// Words of a population in front of the rules: where its rules begin, and how many there are.
    RULES_WORDS = 2;
    /// Word of a rule: the first target.
    RULE_TARGET = 0;
    /// Word of a rule: the end of the targets.
    RULE_TARGET_END = 1;
    /// Word of a rule: the lowest weight.
    RULE_LOW = 2;
    /// Word of a rule: the highest weight.
    RULE_HIGH = 3;
    /// Word of a rule: the steps of its window, or 0 for pairs.
    RULE_STEPS = 4;
    /// Word of a rule: what is added, or where the 64 amounts for it begin.
    RULE_MORE = 5;
    /// Word of a rule: what is taken away, or where the 64 amounts for it begin.
    RULE_LESS = 6;
    /// Words of a rule.
    RULE_WORDS = 8;
}
