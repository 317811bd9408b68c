//! What networks have learned in a run.

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use kvrm::Learning;
use kvrm::learn::iterations::Errors;
use kvrm::learn::oracle::Accuracy;
use kvrm::learn::{Learned, Score};
use kvrm::models::Models;
use serde_json::Value;

use crate::output::note;

/// Checks before a run that weights can be saved into a folder after it.
pub(super) fn check(learning: Option<&Learning>, folder: Option<&Path>) -> Result<()> {
    let Some(folder) = folder else { return Ok(()) };
    let name = folder.display();
    if learning.is_none() {
        bail!("--save-weights '{name}': no network learns; add --learn");
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
    if let Some(learned) = learning.iterations() {
        note(format_args!("learning      iteration predictor: {learned}"));
    }
}

/// Returns what networks have learned as JSON.
pub(super) fn to_json(learning: &Learning) -> Value {
    let mut json = serde_json::Map::new();
    if let Some(learned) = learning.oracle() {
        let of_score = |score: &Accuracy| {
            vec![("windows", score.windows.into()), ("used_share", score.used_share().into())]
        };
        json.insert("memory_oracle".to_owned(), network(&learned, of_score));
    }
    if let Some(learned) = learning.iterations() {
        let of_score = |score: &Errors| {
            vec![
                ("compared", score.entries.into()),
                ("log10_error", score.mean_log10().into()),
                ("within_2_share", score.share_within_2().into()),
            ]
        };
        json.insert("iteration_predictor".to_owned(), network(&learned, of_score));
    }
    json.into()
}

/// Returns what a network has learned as JSON, with the measures that `of_score` returns. The first of them is a number of samples,
/// and the others are null if there are none.
fn network<S: Score>(learned: &Learned<S>, of_score: impl Fn(&S) -> Vec<(&'static str, Value)>) -> Value {
    let mut json = serde_json::json!({
        "rounds": learned.rounds,
        "steps": learned.steps,
        "adopted": learned.adopted,
        "dropped": learned.dropped,
    });
    json[S::HEARD] = learned.heard.into();
    let is_measured = !learned.history.is_empty();
    let [before, after] = learned.scores().map(|score| of_score(&score));
    for (place, ((name, after), (_, before))) in after.into_iter().zip(before).enumerate() {
        if place == 0 {
            json[name] = after;
        } else {
            json[name] = if is_measured { after } else { Value::Null };
            json[format!("{name}_without_learning")] = if is_measured { before } else { Value::Null };
        }
    }
    json
}
