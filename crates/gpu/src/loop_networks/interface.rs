//! The networks that are evaluated, their inputs and their answers.

use kvrm_models::inputs::REGISTERS;
use kvrm_models::{IterationPredictor, LoopDetector, LoopProposal, PatternMatch, PatternRecogniser};

/// The networks to evaluate; those that are `None` are left out.
#[derive(Clone, Copy, Debug, Default)]
pub struct LoopModels<'a> {
    /// The network that proposes kind, counter and iterations.
    pub detector: Option<&'a LoopDetector>,
    /// The network that names known patterns.
    pub recogniser: Option<&'a PatternRecogniser>,
    /// The network that estimates iterations from the recogniser's embedding.
    pub predictor: Option<&'a IterationPredictor>,
}

/// A loop that networks look at, and its registers before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopCandidate<'a> {
    /// The words of the body, from the target of the backward branch to the branch.
    pub body: &'a [u32],
    /// The values of x0 to x30 and the stack pointer.
    pub registers: [u64; REGISTERS],
    /// The distance from the exit, as in [`iteration_input`](kvrm_models::inputs::iteration_input). Only the iteration
    /// predictor sees it, and the step.
    pub distance: u64,
    /// The change of the distance in an iteration.
    pub step: u64,
    /// The address of the first word of the body.
    pub pc: u64,
}

/// The answers of networks about a loop: `None` from a network that is left out, or if the body has no words or more than
/// [`BODY_WORDS_MAX`](kvrm_models::inputs::BODY_WORDS_MAX).
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct LoopAnswer {
    /// The answer of the loop detector.
    pub proposal: Option<LoopProposal>,
    /// The answer of the pattern recogniser.
    pub matched: Option<PatternMatch>,
    /// The answer of the iteration predictor: the decimal logarithm of the number of iterations.
    pub log10_iterations: Option<f32>,
}
