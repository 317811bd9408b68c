//! What networks have learned in a run.

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use kvrm::Learning;
use kvrm::models::Models;

use crate::output::note;

/// Checks before a run that weights can be saved into a folder after it.
pub(super) fn check(learning: Option<&Learning>, folder: Option<&Path>) -> Result<()> {
    let Some(folder) = folder else { return Ok(()) };
    let name = folder.display();
    if learning.is_none() {
        bail!("--save-weights '{name}': no network learns; add --prefetch oracle --learn");
    }
    if folder.exists() {
        bail!("--save-weights: '{name}' exists already; give the name of a new directory");
    }
    Ok(())
}

/// Saves the weights of all networks that have learned.
pub(super) fn save(learning: &Learning, folder: &Path) -> Result<()> {
    let mut models = Models::new();
    for weights in learning.weights()? {
        models.insert(weights);
    }
    let saved = models.save_dir(folder);
    saved.with_context(|| format!("--save-weights '{}'", folder.display()))?;
    Ok(())
}

/// Prints what networks have learned.
pub(super) fn report(learning: &Learning) {
    if let Some(learned) = learning.oracle() {
        note(format_args!("learning      memory oracle: {learned}"));
    }
}

/// Returns what networks have learned as JSON.
pub(super) fn to_json(learning: &Learning) -> Option<serde_json::Value> {
    let learned = learning.oracle()?;
    let [before, after] = learned.accuracies();
    let is_measured = !learned.history.is_empty();
    Some(serde_json::json!({
        "memory_oracle": {
            "accesses": learned.accesses,
            "rounds": learned.rounds,
            "steps": learned.steps,
            "adopted": learned.adopted,
            "dropped": learned.dropped,
            "windows": after.windows,
            "used_share": is_measured.then(|| after.used_share()),
            "used_share_without_learning": is_measured.then(|| before.used_share()),
        }
    }))
}
