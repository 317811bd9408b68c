//! One of the networks that are loaded.

use kvrm_models::{Architecture, Cost, Weights};

use super::proof::ProofState;
use super::source::Source;

/// The facts about a network beside its weights.
#[derive(Clone, Debug)]
pub(super) struct Facts {
    pub(super) source: Source,
    /// The SHA-256 of the flat form.
    pub(super) sha256: String,
    /// The SHA-256 that the flat form should have, if it is known.
    pub(super) expected: Option<String>,
    pub(super) proof: ProofState,
}

/// One of the [`Networks`](crate::Networks) that are loaded.
#[derive(Clone, Copy, Debug)]
pub struct Network<'a> {
    weights: &'a Weights,
    facts: &'a Facts,
}

impl<'a> Network<'a> {
    pub(super) const fn new(weights: &'a Weights, facts: &'a Facts) -> Self {
        Self { weights, facts }
    }

    /// Returns the architecture, of which at most one network is loaded.
    #[must_use]
    pub fn architecture(self) -> Architecture {
        self.weights.architecture()
    }

    /// Returns the weights.
    #[must_use]
    pub const fn weights(self) -> &'a Weights {
        self.weights
    }

    /// Returns the origin of the weights.
    #[must_use]
    pub const fn source(self) -> &'a Source {
        &self.facts.source
    }

    /// Returns the SHA-256 of the weights as little-endian `f32` in flat form, in hexadecimal. It does not depend on the
    /// format of the file.
    #[must_use]
    pub fn sha256(self) -> &'a str {
        &self.facts.sha256
    }

    /// Returns the number of weights.
    #[must_use]
    pub fn parameters(self) -> usize {
        self.architecture().parameters()
    }

    /// Returns the number of bytes of the weights on a device. The networks that name classes and categories compute with
    /// the exact `f32` weights, so these take four bytes each; the weights of the others are rounded to half precision and
    /// take two.
    #[must_use]
    pub fn device_bytes(self) -> usize {
        let bytes = match self.architecture() {
            Architecture::Dispatch | Architecture::SmallDispatch | Architecture::Decoder => 4,
            _ => 2,
        };
        bytes * self.parameters()
    }

    /// Returns the multiply-adds of one evaluation.
    #[must_use]
    pub fn cost(self) -> Cost {
        self.architecture().cost()
    }

    /// Returns the reason for which no answer can make a result wrong.
    #[must_use]
    pub const fn proof(self) -> &'a ProofState {
        &self.facts.proof
    }
}
