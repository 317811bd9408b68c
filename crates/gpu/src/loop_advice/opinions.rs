//! The opinions of networks, as reports show them.

use kvrm_machine::{CounterClaim, LoopClaim, LoopOpinion};
use kvrm_models::inputs::BODY_WORDS_MAX;
use kvrm_models::{LoopKind, LoopPattern, LoopProposal, PatternMatch, exp};

/// Returns the probability of each output.
pub(super) fn probabilities<const N: usize>(logits: &[f32; N]) -> [f32; N] {
    let greatest = logits.iter().copied().fold(f32::MIN, f32::max);
    let powers = logits.map(|logit| exp(logit - greatest));
    let sum: f32 = powers.iter().sum();
    powers.map(|power| power / sum)
}

/// Returns the opinion of the loop detector.
pub(super) fn of_detector(proposal: &LoopProposal) -> LoopOpinion {
    let (kind, register) = (proposal.kind(), proposal.counter_register() as u32);
    let confidence = probabilities(&proposal.kind_logits)[kind as usize];
    about_kind(kind, register, confidence)
}

/// Returns the opinion that a loop is of a kind, with a counter.
pub(super) fn about_kind(kind: LoopKind, register: u32, confidence: f32) -> LoopOpinion {
    let counter = |rises| Some(CounterClaim { register, rises });
    let claim = match kind {
        LoopKind::None => LoopClaim::NONE,
        LoopKind::Countdown => LoopClaim::new(None, None, counter(Some(false))),
        LoopKind::CountUp => LoopClaim::new(None, None, counter(Some(true))),
        LoopKind::MemoryFill => LoopClaim::new(Some(false), Some(true), counter(None)),
    };
    let name = if register == 31 { "sp".to_owned() } else { format!("x{register}") };
    let answer = match kind {
        LoopKind::None => kind.name().into(),
        _ => format!("{} with {name}", kind.name()).into(),
    };
    LoopOpinion::new("loop detector".into(), answer, Some(confidence)).with_claim(claim)
}

/// Returns the opinion of the pattern recogniser.
pub(super) fn of_recogniser(matched: &PatternMatch) -> LoopOpinion {
    let pattern = matched.pattern();
    about_pattern(pattern, probabilities(&matched.logits)[pattern as usize])
}

/// Returns the opinion that a loop has a pattern.
pub(super) fn about_pattern(pattern: LoopPattern, confidence: f32) -> LoopOpinion {
    let claim = match pattern {
        LoopPattern::Memset => LoopClaim::new(Some(false), Some(true), None),
        LoopPattern::Memcpy | LoopPattern::BubbleSort => LoopClaim::new(Some(true), Some(true), None),
        LoopPattern::Strlen | LoopPattern::Polling => LoopClaim::new(Some(true), Some(false), None),
        LoopPattern::Unknown => LoopClaim::NONE,
    };
    LoopOpinion::new("pattern recogniser".into(), pattern.name().into(), Some(confidence)).with_claim(claim)
}

/// Returns the opinion of the iteration predictor.
pub(super) fn of_predictor(iterations: f32) -> LoopOpinion {
    LoopOpinion::new("iteration predictor".into(), format!("about {iterations:.0} iterations").into(), None)
}

/// Returns the opinion about bodies that are too long for the networks.
pub(super) fn about_length(words: usize) -> LoopOpinion {
    let answer = format!("no opinion about more than {BODY_WORDS_MAX} words; there are {words}");
    LoopOpinion::new("networks".into(), answer.into(), None)
}

/// Returns the conclusion of the opinions.
pub(super) fn about_proposal(proposes: bool) -> LoopOpinion {
    let answer = if proposes { "proposed" } else { "not proposed" };
    LoopOpinion::new("networks".into(), answer.into(), None)
}
