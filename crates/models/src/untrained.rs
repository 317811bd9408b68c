//! Random weights, for comparisons and measurements of networks that have no trained ones.

use crate::Architecture;

/// Returns random weights in flat form, scaled so that activations stay near 1. `bits` returns 64 random bits.
///
/// Weights of a layer of n inputs are between ±1.5 / √n; factors of layer norms and temperatures are around 1.
///
/// ```
/// use kvrm_models::{Architecture, IterationPredictor, untrained_weights};
///
/// let flat = untrained_weights(Architecture::IterationPredictor, &mut || 0);
/// assert!(IterationPredictor::from_flat(&flat)?.log10_iterations(&[0.0; 131]).is_finite());
/// # Ok::<(), kvrm_models::WeightsError>(())
/// ```
pub fn untrained_weights(architecture: Architecture, bits: &mut dyn FnMut() -> u64) -> Vec<f32> {
    let mut flat = Vec::with_capacity(architecture.parameters());
    for tensor in architecture.tensors() {
        let inputs = if tensor.dims.len() == 2 { tensor.dims[1] } else { 16 };
        let scale = (1.5 / (inputs as f64).sqrt()) as f32;
        let is_factor = tensor.name == "temperature"
            || tensor.name.ends_with("norm.weight")
            || tensor.name.ends_with("embed.1.weight");
        let shift = if is_factor { 1.0 } else { 0.0 };
        // From -1 to 1, in steps of 2^-23.
        let unit = |bits: u64| (bits >> 40) as f32 / 8_388_608.0 - 1.0;
        flat.extend((0..tensor.len()).map(|_| unit(bits()) * scale + shift));
    }
    flat
}
