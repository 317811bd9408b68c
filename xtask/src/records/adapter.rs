//! The GPU adapter that benchmarks run on.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};
use kvrm_records::Adapter;
use serde::Deserialize;

use crate::oracle::kvrm;

/// Returns the adapter that benchmarks on a GPU use, according to `kvrm doctor`.
pub(crate) fn gpu_adapter() -> Result<Adapter> {
    gpu_adapter_of(&kvrm()?)
}

/// Returns the adapter that benchmarks of this `kvrm` use, according to its `doctor`.
pub(crate) fn gpu_adapter_of(kvrm: &Path) -> Result<Adapter> {
    #[derive(Deserialize)]
    struct Diagnosis {
        adapters: Vec<AdapterInfo>,
        chosen: Option<ChosenAdapter>,
    }
    #[derive(Deserialize)]
    struct ChosenAdapter {
        name: String,
    }
    #[derive(Deserialize)]
    struct AdapterInfo {
        name: String,
        kind: String,
        backend: String,
        driver: String,
    }
    let output = Command::new(kvrm).args(["doctor", "--json"]).output()?;
    let diagnosis: Diagnosis =
        serde_json::from_slice(&output.stdout).context("`kvrm doctor --json` did not print a diagnosis")?;
    let chosen = diagnosis.chosen.context("`kvrm doctor` found no usable GPU")?.name;
    let found = diagnosis.adapters.into_iter().find(|found| found.name == chosen);
    let AdapterInfo { name, kind, backend, driver } =
        found.context("the adapter that `kvrm doctor` chose is not in its list")?;
    Ok(Adapter { name, kind, backend, driver })
}
