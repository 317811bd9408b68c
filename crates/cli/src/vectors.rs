//! `kvrm vectors run`.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};
use kvrm::vectors::{open, run_all};

use crate::engine::{GpuArgs, Name};
use crate::output::Output;

/// The number of failures that are shown in full.
const SHOWN: usize = 10;

/// The subcommands of `kvrm vectors`.
#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Run the test vectors of files and compare the results. The exit status is 1 if any vector fails.
    Run(Args),
}

/// Arguments of `kvrm vectors run`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The files of test vectors, with one JSON object per line (docs/vectors.md). Files named .gz are compressed.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// The engine that runs the vectors.
    #[arg(long, value_name = "ENGINE", default_value = "reference")]
    engine: Name,
    #[command(flatten)]
    gpus: GpuArgs,
    /// Print one JSON object with all failures. By default the first 10 are shown.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    // Read all files before anything runs, so that a broken line is reported at once.
    let (mut files, mut vectors) = (Vec::new(), Vec::new());
    for path in &args.files {
        let file = open(path)?;
        if file.is_empty() {
            bail!("no vectors in {}: expected at least one line", path.display());
        }
        files.extend(file.iter().map(|_| path.display()));
        vectors.extend(file);
    }
    let engine = args.gpus.open(args.engine)?;
    if !args.json {
        engine.announce();
    }
    let results = run_all(&vectors, &engine)?;
    let failures =
        || files.iter().zip(&vectors).zip(&results).filter(|(_, mismatches)| !mismatches.is_empty());
    let failed = failures().count();
    let mut out = Output::new();
    if args.json {
        let list: Vec<_> = failures()
            .map(|((file, vector), mismatches)| {
                let mismatches: Vec<_> = mismatches
                    .iter()
                    .map(|m| serde_json::json!({ "what": m.what, "expected": m.expected, "got": m.got }))
                    .collect();
                serde_json::json!({ "file": file.to_string(), "name": vector.name, "mismatches": mismatches })
            })
            .collect();
        let passed = vectors.len() - failed;
        let json = serde_json::json!({
            "engine": engine.name(), "device": engine.device(),
            "passed": passed, "failed": failed, "failures": list,
        });
        writeln!(out, "{json}")?;
    } else {
        for ((file, vector), mismatches) in failures().take(SHOWN) {
            writeln!(out, "FAILED in {file}: {}", vector.describe(mismatches))?;
        }
        writeln!(out, "{} passed, {failed} failed", vectors.len() - failed)?;
    }
    out.flush()?;
    Ok(ExitCode::from(u8::from(failed > 0)))
}
