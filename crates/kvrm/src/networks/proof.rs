//! Whether the answers of a network are proved, or checked one by one.

use std::fmt;

use kvrm_models::{
    Architecture, Certificate, DecoderNetwork, DispatchNetwork, Weights, WeightsError, certify_decoder,
    certify_dispatch,
};

/// The reason for which the answers of a network cannot make a result wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProofState {
    /// The network can be proved right on all words, and nobody has asked for it: [`Networks::prove`](crate::Networks::prove).
    Unproved,
    /// A certificate proves that the network is right on all words.
    Proved,
    /// The proof failed, for this reason. Engines check the answers of these networks, too, so results are still right.
    Failed(String),
    /// There is no proof. Each answer is checked, or decides nothing that a guest can see, as this text says.
    Checked(&'static str),
}

impl ProofState {
    /// Returns the state of a network that nobody has asked to prove.
    pub(super) const fn of(architecture: Architecture) -> Self {
        match architecture {
            Architecture::Dispatch | Architecture::Decoder => Self::Unproved,
            Architecture::SmallDispatch => Self::Checked("the instruction has to have a row in the class"),
            Architecture::LoopDetector
            | Architecture::PatternRecogniser
            | Architecture::IterationPredictor => Self::Checked("the checker has to prove the loop"),
            Architecture::MemoryOracle => Self::Checked("pages come early or late, with the same contents"),
            _ => Self::Checked("engines use no answer of it"),
        }
    }

    /// Proves a network, if there are certificates of its architecture. `expected` is the SHA-256 that its weights should have.
    /// `progress` is called with the number of top bytes that are done, up to 256.
    pub(super) fn prove(
        weights: &Weights,
        expected: Option<&str>,
        progress: &(dyn Fn(u32) + Sync),
    ) -> Result<Self, WeightsError> {
        let certificate = match weights.architecture() {
            Architecture::Dispatch => {
                certify_dispatch(&DispatchNetwork::from_flat(weights.values())?, expected, progress)
            }
            Architecture::Decoder => {
                certify_decoder(&DecoderNetwork::from_flat(weights.values())?, expected, progress)
            }
            other => return Ok(Self::of(other)),
        };
        Ok(Self::certified(&certificate))
    }

    fn certified(certificate: &Certificate) -> Self {
        if certificate.holds() {
            return Self::Proved;
        }
        let reasons: Vec<String> = certificate.failures.iter().map(ToString::to_string).collect();
        Self::Failed(reasons.join("; "))
    }

    /// Returns the name of the state in reports: `unproved`, `proved`, `failed` or `checked`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Unproved => "unproved",
            Self::Proved => "proved",
            Self::Failed(_) => "failed",
            Self::Checked(_) => "checked",
        }
    }

    /// Returns the reason for which a proof failed, or the check that stands behind each answer.
    #[must_use]
    pub fn detail(&self) -> Option<&str> {
        match self {
            Self::Unproved | Self::Proved => None,
            Self::Failed(reason) => Some(reason),
            Self::Checked(check) => Some(check),
        }
    }
}

impl fmt::Display for ProofState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.detail() {
            Some(detail) => write!(f, "{}: {detail}", self.name()),
            None => f.write_str(self.name()),
        }
    }
}
