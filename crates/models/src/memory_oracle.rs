//! The memory oracle, which predicts the next accesses to memory of a lane.

mod trace;

pub use self::trace::{OracleTrace, OutputGradient};
use crate::Architecture;
use crate::elementary::sigmoid;
use crate::error::{WeightsError, check};
use crate::half_precision::rounded_to_half;
use crate::inputs::{Access, access_features, decoded_delta, is_window_length};
use crate::layers::{LstmState, Parts, relu};
use crate::tuple_network::argmax;

/// The number of deltas that are predicted.
const DELTAS: usize = MemoryOracle::DELTAS;
/// The layers of the heads of deltas, confidences and patterns.
const HEADS: [[&str; 2]; 3] = [
    ["delta_head.0", "delta_head.3"],
    ["confidence_head.0", "confidence_head.2"],
    ["pattern_head.0", "pattern_head.2"],
];

/// A network that predicts the next eight accesses to memory from a window of the last ones; 271,124 parameters.
///
/// For a window of T accesses, in the names of the tensors:
///
/// | step | shape |
/// | --- | --- |
/// | [`access_features`] of each access | T × 10 |
/// | tokens: Linear, ReLU, Linear (`feature_encoder`) of the features | T × 64 |
/// | sequence: LSTM of two layers (`lstm`) over the tokens, with a state of zero before the first | T × 128 |
/// | state: the last row of the sequence | 128 |
/// | deltas: Linear, ReLU, Linear (`delta_head`) of the state | 8 |
/// | confidences: Linear, ReLU, Linear (`confidence_head`) of the state, sigmoid | 8 |
/// | pattern: Linear, ReLU, Linear (`pattern_head`) of the state | 4 |
///
/// Nothing is kept from one window to the next, so the windows of many lanes can be evaluated together.
///
/// A prediction is a guess. It may decide which memory is brought near early, and never what an access reads.
///
/// ```
/// use kvrm_models::inputs::Access;
/// use kvrm_models::{AccessPattern, MemoryOracle};
///
/// let mut flat = vec![0.0; MemoryOracle::PARAMETERS];
/// flat[MemoryOracle::PARAMETERS - 3] = 1.0; // The bias of the logit of `Strided`.
/// let oracle = MemoryOracle::from_flat(&flat)?;
/// let access = Access { delta: 2, size: 8, is_load: true, pc: 0x40_0000 };
/// let prediction = oracle.predict(&[access; 3]).expect("one to 32 accesses");
/// assert_eq!((prediction.pattern(), prediction.deltas()), (AccessPattern::Strided, [0; 8]));
/// assert_eq!(prediction.confidences, [0.5; 8]);
/// assert!(oracle.predict(&[access; 33]).is_none());
/// # Ok::<(), kvrm_models::WeightsError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryOracle {
    flat: Box<[f32]>,
}

impl MemoryOracle {
    /// The number of weights.
    pub const PARAMETERS: usize = Architecture::MemoryOracle.parameters();

    /// The number of deltas that it predicts.
    pub const DELTAS: usize = 8;

    /// Builds a network from its flat weights, in the order of [`Architecture::tensors`].
    ///
    /// # Errors
    ///
    /// If there are not [`Self::PARAMETERS`] weights, or one is not finite.
    pub fn from_flat(flat: &[f32]) -> Result<Self, WeightsError> {
        check("memory oracle", flat, Self::PARAMETERS)?;
        Ok(Self { flat: flat.into() })
    }

    /// Returns the flat weights.
    #[must_use]
    pub fn flat(&self) -> &[f32] {
        &self.flat
    }

    /// Returns the network with its weights rounded to half precision, as devices store them.
    ///
    /// # Errors
    ///
    /// If a weight is too large for half precision.
    pub fn rounded_to_half(&self) -> Result<Self, WeightsError> {
        Ok(Self { flat: rounded_to_half(&self.flat)?.into() })
    }

    /// Returns the prediction for a window of accesses, oldest first.
    ///
    /// Returns `None` if the window has no accesses, or more than
    /// [`WINDOW_ACCESSES_MAX`](crate::inputs::WINDOW_ACCESSES_MAX).
    #[must_use]
    pub fn predict(&self, window: &[Access]) -> Option<AccessPrediction> {
        if !is_window_length(window.len()) {
            return None;
        }
        let mut progress = self.begin();
        window.iter().for_each(|access| self.advance(&mut progress, access));
        self.answer(&progress)
    }

    /// Begins a window.
    #[must_use]
    pub fn begin(&self) -> OracleProgress {
        OracleProgress { accesses: 0, states: self.parts().lstm("lstm").states() }
    }

    /// Adds an access to a window that has been begun. This takes as long for each access, however many there are before it, so
    /// the predictions for a window that grows cost no more than that for the whole window.
    ///
    /// ```
    /// use kvrm_models::MemoryOracle;
    /// use kvrm_models::inputs::Access;
    ///
    /// let oracle = MemoryOracle::from_flat(&vec![0.01; MemoryOracle::PARAMETERS])?;
    /// let window = [1, 2, 3].map(|delta| Access { delta, ..Access::default() });
    /// let mut progress = oracle.begin();
    /// assert_eq!(oracle.answer(&progress), None, "of no access");
    /// for accesses in 1..=3 {
    ///     oracle.advance(&mut progress, &window[accesses - 1]);
    ///     assert_eq!(oracle.answer(&progress), oracle.predict(&window[..accesses]));
    /// }
    /// # Ok::<(), kvrm_models::WeightsError>(())
    /// ```
    pub fn advance(&self, progress: &mut OracleProgress, access: &Access) {
        let parts = self.parts();
        let mut hidden = parts.linear("feature_encoder.0").of(&access_features(access));
        relu(&mut hidden);
        let token = parts.linear("feature_encoder.2").of(&hidden);
        parts.lstm("lstm").step(&mut progress.states, &token);
        progress.accesses += 1;
    }

    /// Returns the prediction for a window that has been begun, as [`Self::predict`] does for the same accesses.
    #[must_use]
    pub fn answer(&self, progress: &OracleProgress) -> Option<AccessPrediction> {
        let state = progress.states.last().filter(|_| is_window_length(progress.accesses))?.output();
        let parts = self.parts();
        let [deltas, confidences, patterns] = HEADS;
        Some(AccessPrediction::new(
            head(parts, deltas, state),
            head(parts, confidences, state).map(sigmoid),
            head(parts, patterns, state),
        ))
    }

    fn parts(&self) -> Parts<'_> {
        Parts::new(Architecture::MemoryOracle, &self.flat)
    }
}

/// A window of a [`MemoryOracle`] to which accesses are added one by one.
#[derive(Clone, Debug, PartialEq)]
pub struct OracleProgress {
    accesses: usize,
    /// The states of the layers of the LSTM.
    states: Vec<LstmState>,
}

impl OracleProgress {
    /// Returns the number of accesses of the window.
    #[must_use]
    pub const fn accesses(&self) -> usize {
        self.accesses
    }

    /// Returns the number of bytes of the progress, those on the heap included.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let of_state = |state: &LstmState| size_of::<LstmState>() + state.bytes();
        size_of::<Self>() + self.states.iter().map(of_state).sum::<usize>()
    }
}

/// Applies two linear layers with a ReLU between them.
fn head<const N: usize>(parts: Parts<'_>, [first, second]: [&str; 2], state: &[f32]) -> [f32; N] {
    let mut hidden = parts.linear(first).of(state);
    relu(&mut hidden);
    let mut outputs = [0.0; N];
    parts.linear(second).apply(&hidden, &mut outputs);
    outputs
}

/// The pattern of the accesses of a window, in the order of the oracle's outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum AccessPattern {
    /// Each access follows the one before.
    Sequential,
    /// Accesses have the same distance.
    Strided,
    /// The value of an access is the address of a later one.
    PointerChase,
    /// None of these.
    Random,
}

impl AccessPattern {
    /// All patterns, in the order of their numbers.
    pub const ALL: [Self; 4] = [Self::Sequential, Self::Strided, Self::PointerChase, Self::Random];

    /// Returns the name used in documents and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sequential => "sequential",
            Self::Strided => "strided",
            Self::PointerChase => "pointer-chase",
            Self::Random => "random",
        }
    }
}

/// The outputs of a [`MemoryOracle`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct AccessPrediction {
    /// The deltas of the next accesses, each relative to the access before it, as
    /// [`encoded_delta`](crate::inputs::encoded_delta) encodes them.
    pub encoded_deltas: [f32; DELTAS],
    /// The confidence in each delta, between 0 and 1.
    pub confidences: [f32; DELTAS],
    /// The logits of the patterns, in the order of [`AccessPattern::ALL`].
    pub pattern_logits: [f32; AccessPattern::ALL.len()],
}

impl AccessPrediction {
    /// Returns the prediction with these outputs of an oracle.
    #[must_use]
    pub const fn new(
        encoded_deltas: [f32; DELTAS],
        confidences: [f32; DELTAS],
        pattern_logits: [f32; AccessPattern::ALL.len()],
    ) -> Self {
        Self { encoded_deltas, confidences, pattern_logits }
    }

    /// Returns the deltas of the next accesses, each relative to the access before it, in the unit of the window.
    #[must_use]
    pub fn deltas(&self) -> [i64; DELTAS] {
        self.encoded_deltas.map(decoded_delta)
    }

    /// Returns the most likely pattern.
    #[must_use]
    pub fn pattern(&self) -> AccessPattern {
        AccessPattern::ALL[argmax(&self.pattern_logits)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::encoded_delta;

    #[test]
    fn the_answers_are_decoded_deltas_and_the_greatest_logit() {
        let deltas = [1, -1, 0, 8, -4_096, 77_777, 3, 2];
        let prediction =
            AccessPrediction::new(deltas.map(encoded_delta), [0.25; DELTAS], [0.0, -1.0, 2.0, 1.0]);
        assert_eq!(
            (prediction.deltas(), prediction.pattern()),
            (deltas, AccessPattern::PointerChase),
            "both"
        );
        assert_eq!(
            AccessPattern::ALL.map(|pattern| AccessPattern::ALL[pattern as usize]),
            AccessPattern::ALL,
            "in order"
        );
    }
}
