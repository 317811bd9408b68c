//! Random weights. `pytorch.py` makes the same ones.

use kvrm_models::{Architecture, untrained_weights};
use kvrm_testkit::random::Random;

/// Returns random weights in flat form.
pub(crate) fn random_weights(architecture: Architecture, random: &mut Random) -> Vec<f32> {
    untrained_weights(architecture, &mut || random.bits())
}
