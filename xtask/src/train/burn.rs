//! Training of the networks that look at loops and of the memory oracle, by the package in `training/`. It uses burn, so it is no
//! part of the workspace, and only this task compiles it.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use kvrm_models::{Architecture, Dtype, Entry, Weights, sha256_of};

use super::recipe::recipe;
use crate::root::root;

/// A network to train.
pub(super) struct Job<'a> {
    pub(super) name: &'a str,
    pub(super) architecture: Architecture,
    pub(super) seed: u64,
    pub(super) steps: Option<u32>,
    /// The log of loops, or the folder of streams.
    pub(super) data: &'a Path,
    /// The command that makes the data.
    pub(super) maker: &'static str,
    pub(super) out: &'a Path,
}

/// Trains a network.
pub(super) fn train(Job { name, seed, steps, data, maker, out, .. }: &Job<'_>) -> Result<()> {
    ensure!(data.exists(), "{} does not exist; run `{maker}` first", data.display());
    let mut command = Command::new("cargo");
    command
        .args(["run", "--release", "--locked", "--manifest-path"])
        .arg(root().join("training/Cargo.toml"))
        .arg("--target-dir")
        .arg(root().join("target/training"))
        .arg("--")
        .arg(name)
        .arg(data)
        .arg(seed.to_string())
        .arg(out)
        .args(steps.map(|steps| steps.to_string()))
        // The order of additions may depend on the number of threads.
        .env("RAYON_NUM_THREADS", "1");
    let status = command.status().context("cannot run cargo")?;
    ensure!(status.success(), "the training of {name} failed");
    Ok(())
}

/// Writes the recipe into the file of a trained network, and returns its entry of the manifest.
pub(super) fn entry(Job { name, architecture, seed, steps, out, .. }: &Job<'_>) -> Result<Entry> {
    let file = out.file_name().and_then(|name| name.to_str()).context("the file needs a name in UTF-8")?;
    let recipe = recipe(name, *seed) + &steps.map_or(String::new(), |steps| format!(" --steps {steps}"));
    let mut weights = Weights::load(out)?;
    ensure!(
        weights.architecture() == *architecture && weights.metadata.seed == Some(*seed),
        "{} has weights of {} with the seed {:?}; expected {architecture} with the seed {seed}",
        out.display(),
        weights.architecture(),
        weights.metadata.seed
    );
    weights.metadata.recipe = Some(recipe.clone());
    weights.save(out, Dtype::F16)?;
    let bytes = fs::read(out).with_context(|| format!("cannot read {}", out.display()))?;
    let mut entry = Entry::new(file, *architecture, &bytes);
    entry.weights_sha256 = Some(sha256_of(weights.values()));
    entry.recipe = recipe;
    entry.seed = Some(*seed);
    let metric = |metric: &str| {
        let found = weights.metadata.metrics.get(metric).copied();
        found.with_context(|| format!("{} has no metric {metric}", out.display()))
    };
    let percent = |name: &str| Ok::<_, anyhow::Error>(format!("{:.1} %", 100.0 * metric(name)?));
    entry.result = match architecture {
        Architecture::LoopDetector => format!(
            "on held-out programs {} of kinds and {} of counters right",
            percent("programs_kind_accuracy")?,
            percent("programs_counter_accuracy")?
        ),
        Architecture::PatternRecogniser => format!(
            "on held-out programs macro F1 {:.3}, {} of patterns right",
            metric("programs_macro_f1")?,
            percent("programs_accuracy")?
        ),
        Architecture::MemoryOracle => format!(
            "on held-out programs {} of the next pages right, {} of the named pages used soon, calibration error {}",
            percent("programs_first_delta_accuracy")?,
            percent("programs_used_share")?,
            percent("programs_calibration_error")?
        ),
        _ => format!(
            "on held-out programs median error {} of countable loops, {} within a factor of 2",
            percent("programs_median_error")?,
            percent("programs_within_2")?
        ),
    };
    Ok(entry)
}

/// Puts the facts about a file into the table of its card, if it has a card.
pub(super) fn update_card(entry: &Entry, out: &Path) -> Result<()> {
    let path = out.with_extension("md");
    let Ok(card) = fs::read_to_string(&path) else { return Ok(()) };
    let weights = entry.weights_sha256.clone().unwrap_or_default();
    let rows = [
        ("| result |", entry.result.clone()),
        ("| SHA-256 of the weights |", format!("`{weights}`")),
        ("| SHA-256 of the file |", format!("`{}`", entry.sha256)),
    ];
    let lines = card.lines().map(|line| {
        let row = rows.iter().find(|(begin, _)| line.starts_with(begin));
        row.map_or_else(|| line.to_owned(), |(begin, fact)| format!("{begin} {fact} |")) + "\n"
    });
    fs::write(&path, lines.collect::<String>()).with_context(|| format!("cannot write {}", path.display()))
}
