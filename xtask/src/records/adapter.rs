//! The GPU that benchmarks run on.

use std::process::Command;

use anyhow::{Context as _, Result};
use kvrm_records::Adapter;
use serde::Deserialize;

use crate::oracle::kvrm;

/// The adapter that benchmarks on a GPU take, which the command line of KVRM knows.
pub(crate) fn gpu_adapter() -> Result<Adapter> {
    #[derive(Deserialize)]
    struct Diagnosis {
        adapters: Vec<Found>,
        chosen: Option<Chosen>,
    }
    #[derive(Deserialize)]
    struct Chosen {
        name: String,
    }
    #[derive(Deserialize)]
    struct Found {
        name: String,
        kind: String,
        backend: String,
        driver: String,
    }
    let output = Command::new(kvrm()?).args(["doctor", "--json"]).output()?;
    let diagnosis: Diagnosis =
        serde_json::from_slice(&output.stdout).context("`kvrm doctor --json` did not print a diagnosis")?;
    let chosen = diagnosis.chosen.context("`kvrm doctor` found no GPU that can be used")?.name;
    let found = diagnosis.adapters.into_iter().find(|found| found.name == chosen);
    let Found { name, kind, backend, driver } =
        found.context("`kvrm doctor` chose no adapter of its list")?;
    Ok(Adapter { name, kind, backend, driver })
}
