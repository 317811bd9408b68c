//! The numbers that the host shares with the kernels of the burst engine.
//!
//! `cargo xtask codegen` writes `spiking/layout.wgsl` from this file.

constants! {
    /// The invocations of a workgroup of the kernels whose workgroups have a fixed size.
    MEMBERS = 256;
    /// The most workgroups in the first dimension of a dispatch of `neurons`.
    ROW = 32768;
    /// The most steps of a batch: the bits of a word.
    BATCH_MAX = 32;
    /// The most neurons of a network that the kernel `single` runs.
    SINGLE_MAX = 32768;
    /// The most neurons of a block, which a workgroup of the kernel `fused` owns.
    BLOCK_MAX = 8192;
    /// The most neurons that a workgroup of the kernel `fused` queues in a window. It lists others at once.
    QUEUE = 64;
    /// The number of low bits of a counter of staged segments that count their quads. The bits above count the segments.
    STAGED_QUADS_BITS = 21;
    /// The number of low bits of the beginning of a block that are the index of a quad. The bits above number the binding.
    BLOCK_QUAD_BITS = 28;
    /// The number of quads of a line, which is an aligned range of 64 bytes.
    LINE_QUADS = 4;
    /// The binary logarithm of the number of invocations that share a row when the kernel `settle` delivers it.
    SETTLE_TEAM_BITS = 5;

    // Plasticity rules, in the tables of a network.

    /// The words of a population in the directory of rules: the index of its first rule, and the number of its rules.
    RULES_WORDS = 2;
    /// Word of a rule: the first target.
    RULE_TARGET = 0;
    /// Word of a rule: the end of the targets.
    RULE_TARGET_END = 1;
    /// Word of a rule: the lowest weight.
    RULE_LOW = 2;
    /// Word of a rule: the highest weight.
    RULE_HIGH = 3;
    /// Word of a rule: the number of steps of its window, or 0 for a rule for pairs.
    RULE_STEPS = 4;
    /// Word of a rule: the amount of potentiation or, for pairs, the index of the first of 64 amounts.
    RULE_MORE = 5;
    /// Word of a rule: the amount of depression or, for pairs, the index of the first of 64 amounts.
    RULE_LESS = 6;
    /// The number of words of a rule.
    RULE_WORDS = 8;
}
