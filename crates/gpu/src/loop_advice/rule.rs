//! The rule by which loops are proposed.

use kvrm_arm64::Features;
use kvrm_arm64::lowering::lower;
use kvrm_loops::branch_target;
use kvrm_models::{LoopKind, LoopPattern};

use super::look::Seen;
use super::opinions::probabilities;

/// The least probability that a body is a loop of some kind, or has some pattern, for which it is proposed.
///
/// It is this small because a proposal costs the checker microseconds, and a loop that is not proposed is stepped for ever. In 19
/// programs of the training (251 candidates), a bound of one half saves 86 % of the checker's calls and loses 11 of 37 loops that
/// are proved. This bound saves 78 %, loses 3 of them, and none of the steps that are executed at once.
const PROBABILITY_MIN: f32 = 0.001;
/// The least number of iterations for which a loop is proposed.
///
/// One iteration is always stepped, so fewer than two never pay. The predictor sees one entry, and others may have more iterations:
/// a bound of 16 loses most of the loops that pay in other entries.
const ITERATIONS_MIN: f32 = 2.0;
/// Whether bodies that are too long for the networks are proposed. In the same programs these are 73 candidates, and none is proved.
pub(super) const PROPOSES_LONG: bool = false;

/// Returns whether a body has a loop within it. Such bodies are proposed whatever the networks say: these have learnt to recognise
/// innermost loops.
pub(super) fn has_inner_loop(words: &[u32]) -> bool {
    (0..).zip(words).take(words.len().saturating_sub(1)).any(|(place, word)| {
        let pc = 4 * place;
        branch_target(lower(*word, Features::BASE), pc).is_some_and(|target| target <= pc)
    })
}

/// Returns whether a body looks like a loop.
pub(super) fn is_loop(seen: &Seen) -> bool {
    let none = probabilities(&seen.proposal.kind_logits)[LoopKind::None as usize];
    let unknown = probabilities(&seen.matched.logits)[LoopPattern::Unknown as usize];
    none.min(unknown) <= 1.0 - PROBABILITY_MIN
}

/// Returns whether a body is more likely a loop of some kind, or with some pattern, than none.
pub(super) fn is_likely_loop(seen: &Seen) -> bool {
    seen.proposal.kind() != LoopKind::None || seen.matched.pattern() != LoopPattern::Unknown
}

/// Returns whether so many iterations are worth a proposal.
pub(super) const fn pays(iterations: f32) -> bool {
    iterations >= ITERATIONS_MIN
}
