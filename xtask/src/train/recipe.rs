//! The command that trains a network again.

/// Returns the command for a network and a seed.
pub(super) fn recipe(name: &str, seed: u64) -> String {
    format!("cargo xtask train {name} --seed {seed}")
}
