//! Advice about which loops are worth the checker's time.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use super::claim::LoopClaim;

/// A loop in which lanes were found several times, for a [`LoopAdvisor`].
#[derive(Clone, Copy, Debug)]
pub struct LoopCandidate<'a> {
    /// The address of the first instruction.
    pub head: u64,
    /// The words from there to the branch back, both included.
    pub words: &'a [u32],
    /// x0 to x30 and the stack pointer of the lane that was found in it.
    pub registers: &'a [u64; 32],
}

/// An opinion about a loop, such as that of a neural network.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LoopOpinion {
    /// The name of the one that has the opinion, such as a network.
    pub source: Cow<'static, str>,
    /// The opinion.
    pub answer: Cow<'static, str>,
    /// How sure it is, from 0 to 1, if that is known.
    pub confidence: Option<f32>,
    /// The claim, which a proof may contradict.
    pub claim: LoopClaim,
}

impl LoopOpinion {
    /// Creates an opinion.
    #[must_use]
    pub const fn new(source: Cow<'static, str>, answer: Cow<'static, str>, confidence: Option<f32>) -> Self {
        Self { source, answer, confidence, claim: LoopClaim::NONE }
    }

    /// Sets the claim, which a proof may contradict.
    #[must_use]
    pub fn with_claim(self, claim: LoopClaim) -> Self {
        Self { claim, ..self }
    }
}

impl fmt::Display for LoopOpinion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.source, self.answer)?;
        self.confidence.map_or(Ok(()), |confidence| write!(f, " ({:.1} %)", 100.0 * confidence))
    }
}

/// The advice about a loop.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct LoopAdvice {
    /// Whether the checker is asked for a proof.
    pub proposes: bool,
    /// The opinions that led to it.
    pub opinions: Vec<LoopOpinion>,
}

impl LoopAdvice {
    /// Creates advice.
    #[must_use]
    pub const fn new(proposes: bool, opinions: Vec<LoopOpinion>) -> Self {
        Self { proposes, opinions }
    }
}

/// A loop that a lane is in, with the number of iterations that is proved to follow, for a [`LoopAdvisor`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopEntry<'a> {
    /// The address of the first instruction.
    pub head: u64,
    /// The words from there to the branch back, both included.
    pub words: &'a [u32],
    /// The difference of the two sides of the comparison of the exit that is reached first.
    pub distance: u64,
    /// The change of the difference in an iteration.
    pub step: u64,
    /// The number of iterations that follow, with the one that leaves the loop.
    pub iterations: u64,
}

/// Gives advice about loops. It decides nothing but which loops the checker looks at, so results do not depend on it.
pub trait LoopAdvisor: fmt::Debug + Send + Sync {
    /// Returns the advice about each loop, in the same order. It is asked once for each body; loops at several addresses with the
    /// same words are one body, and the candidate is the one that was found first.
    fn advise(&self, candidates: &[LoopCandidate<'_>]) -> Vec<LoopAdvice>;

    /// Returns the largest number of loops about which it should be asked at once: many if that takes little longer than one.
    fn batch_max(&self) -> usize {
        usize::MAX
    }

    /// Returns the number of steps that lanes take in a loop before the advisor is asked about it: those that take as long as the
    /// advice.
    fn steps_min(&self) -> u64 {
        0
    }

    /// Returns whether the advisor is told of entries of loops. Each engine asks once.
    fn hears(&self) -> bool {
        false
    }

    /// Hears that a lane is in a loop that it has proposed, whose number of iterations is proved. Lanes wait for its return.
    fn hear(&self, _: &LoopEntry<'_>) {}
}

impl<A: LoopAdvisor + ?Sized> LoopAdvisor for Arc<A> {
    fn advise(&self, candidates: &[LoopCandidate<'_>]) -> Vec<LoopAdvice> {
        (**self).advise(candidates)
    }

    fn batch_max(&self) -> usize {
        (**self).batch_max()
    }

    fn steps_min(&self) -> u64 {
        (**self).steps_min()
    }

    fn hears(&self) -> bool {
        (**self).hears()
    }

    fn hear(&self, entry: &LoopEntry<'_>) {
        (**self).hear(entry);
    }
}
