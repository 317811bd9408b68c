//! The networks that are compared on host and device, with their weights.

use std::path::PathBuf;

use anyhow::{Result, bail};
use kvrm::models::{Architecture, Weights, untrained_weights};

use super::random::Random;

/// A network and the origin of its weights.
pub(super) struct Network {
    pub(super) architecture: Architecture,
    pub(super) origin: String,
}

/// Returns the networks of these architectures, and the weights of each: those of a file, or those that come with KVRM, or
/// random ones.
pub(super) fn load<const N: usize>(
    files: &[PathBuf],
    architectures: [Architecture; N],
    seed: u64,
) -> Result<([Network; N], [Vec<f32>; N])> {
    let mut given: [Option<(String, Vec<f32>)>; N] = [const { None }; N];
    for path in files {
        let (file, weights) = (path.display().to_string(), Weights::load(path)?);
        let found = weights.architecture();
        let Some(index) = architectures.iter().position(|architecture| *architecture == found) else {
            let expected = architectures.map(Architecture::name).join(", ");
            bail!("{file}: expected the weights of one of {expected}, found a {found} network");
        };
        if let Some((other, _)) = given[index].replace((file.clone(), weights.into_values())) {
            bail!("{file}: expected one file for each network, but {other} is also a {found} network");
        }
    }
    let mut random = Random::new(seed);
    let mut networks = architectures.map(|architecture| Network { architecture, origin: String::new() });
    let mut flat = [const { Vec::new() }; N];
    for (index, architecture) in architectures.into_iter().enumerate() {
        // The random numbers of a network do not depend on the weights of the others.
        let mut random = random.split();
        (networks[index].origin, flat[index]) = match (given[index].take(), Weights::builtin(architecture)?) {
            (Some(given), _) => given,
            (None, Some((weights, digest))) => (format!("built in, SHA-256 {digest}"), weights.into_values()),
            (None, None) => {
                let weights = untrained_weights(architecture, &mut || random.bits());
                (format!("random, seed {seed}"), weights)
            }
        };
    }
    Ok((networks, flat))
}
