//! Random weights, scaled so that activations stay near 1. `pytorch.py` makes the same ones.

use kvrm_models::Architecture;
use kvrm_testkit::random::Random;

/// Returns random weights in flat form.
pub(crate) fn random_weights(architecture: Architecture, random: &mut Random) -> Vec<f32> {
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
        flat.extend((0..tensor.len()).map(|_| unit(random.bits()) * scale + shift));
    }
    flat
}
