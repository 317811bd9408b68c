//! The iteration predictor, which estimates the number of iterations of a loop.

mod trace;

pub use self::trace::IterationTrace;
use crate::Architecture;
use crate::elementary::{exp10, gelu};
use crate::error::{WeightsError, check};
use crate::half_precision::rounded_to_half;
use crate::inputs::ITERATION_INPUTS;
use crate::layers::Parts;

/// A network that estimates the number of iterations of a loop; 25,473 parameters.
///
/// [`iteration_input`](crate::inputs::iteration_input) `[131]` → Linear (`fc1`), layer norm (`norm`), GELU `[128]` →
/// Linear (`fc2`), GELU `[64]` → Linear (`fc3`) `[1]`: the decimal logarithm of the number of iterations.
///
/// ```
/// use kvrm_models::IterationPredictor;
///
/// let mut flat = vec![0.0; IterationPredictor::PARAMETERS];
/// flat[IterationPredictor::PARAMETERS - 1] = 3.0; // The bias of `fc3`.
/// let predictor = IterationPredictor::from_flat(&flat)?;
/// assert_eq!(predictor.log10_iterations(&[0.0; 131]), 3.0);
/// assert!((predictor.iterations(&[0.0; 131]) - 1_000.0).abs() < 1e-2);
/// # Ok::<(), kvrm_models::WeightsError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct IterationPredictor {
    flat: Box<[f32]>,
}

impl IterationPredictor {
    /// The number of weights.
    pub const PARAMETERS: usize = Architecture::IterationPredictor.parameters();

    /// Builds a network from its flat weights, in the order of [`Architecture::tensors`].
    ///
    /// # Errors
    ///
    /// If there are not [`Self::PARAMETERS`] weights, or one is not finite.
    pub fn from_flat(flat: &[f32]) -> Result<Self, WeightsError> {
        check("iteration predictor", flat, Self::PARAMETERS)?;
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

    /// Returns the decimal logarithm of the number of iterations.
    #[must_use]
    pub fn log10_iterations(&self, input: &[f32; ITERATION_INPUTS]) -> f32 {
        let parts = self.parts();
        let activate = |values: &mut [f32]| values.iter_mut().for_each(|value| *value = gelu(*value));
        let mut first = parts.linear("fc1").of(input);
        parts.norm("norm").apply(&mut first);
        activate(&mut first);
        let mut second = parts.linear("fc2").of(&first);
        activate(&mut second);
        let mut out = [0.0];
        parts.linear("fc3").apply(&second, &mut out);
        out[0]
    }

    /// Returns the number of iterations, at most 6e37.
    #[must_use]
    pub fn iterations(&self, input: &[f32; ITERATION_INPUTS]) -> f32 {
        exp10(self.log10_iterations(input))
    }

    fn parts(&self) -> Parts<'_> {
        Parts::new(Architecture::IterationPredictor, &self.flat)
    }
}
