//! `kvrm vectors run`.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};
use kvrm::vectors::{open, run_all};

use crate::engine::{AdapterArgs, Name};
use crate::output::Output;

/// How many failures are shown in full.
const SHOWN: usize = 10;

/// What to do with vectors.
#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Runs the vectors of files and compares; exits with 1 if any fails.
    Run(Args),
}

/// Arguments of `kvrm vectors run`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Vector files: one JSON object a line; compressed if the name ends in .gz.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// The engine.
    #[arg(long, value_name = "ENGINE", default_value = "reference")]
    engine: Name,
    #[command(flatten)]
    adapter: AdapterArgs,
    /// Print one JSON object with all failures.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    // All files are read before any runs, so that a bad line is noticed at once.
    let (mut files, mut vectors) = (Vec::new(), Vec::new());
    for path in &args.files {
        let file = open(path)?;
        if file.is_empty() {
            bail!("no vectors in {}", path.display());
        }
        files.extend(file.iter().map(|_| path.display()));
        vectors.extend(file);
    }
    let engine = args.adapter.choose(args.engine)?;
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
