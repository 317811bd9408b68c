//! Advice about which loops are worth the checker's time.

use std::borrow::Cow;
use std::fmt;

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
    /// The name of the one whose opinion it is.
    pub source: Cow<'static, str>,
    /// The opinion.
    pub answer: Cow<'static, str>,
    /// How sure it is, from 0 to 1, if that is known.
    pub confidence: Option<f32>,
}

impl LoopOpinion {
    /// Creates an opinion.
    #[must_use]
    pub const fn new(source: Cow<'static, str>, answer: Cow<'static, str>, confidence: Option<f32>) -> Self {
        Self { source, answer, confidence }
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

/// Gives advice about loops. It decides nothing but which loops the checker looks at, so results do not depend on it.
pub trait LoopAdvisor: fmt::Debug + Send + Sync {
    /// Returns the advice about a loop. It is asked once for each body at an address.
    fn advise(&self, candidate: LoopCandidate<'_>) -> LoopAdvice;
}
