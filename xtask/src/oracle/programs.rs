//! Comparison of third-party programs with QEMU user mode: outputs, files and exit status have to be the same.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};

use kvrm_records::{Adapter, Figure, Kind, Log, MeasuredRow, RecordArgs};

use super::commands::{QEMU_CPU, kvrm};
use super::outcome::Outcome;
use super::program_runs::{PREPARED, RUNS, Run};
use crate::folders::{copy_folder, recreate, tree};
use crate::records::{PROGRAM, gpu_adapter};
use crate::root::root;
use crate::system::ensure_program;
use crate::third_party;
use crate::{doom, programs};

/// The number of steps below which a run is too short to measure its speed.
const STEPS_MIN: u64 = 1_000_000;
/// The name of the engine whose records state the adapter.
const GPU: &str = "gpu";

#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// The engines to test.
    #[arg(long, value_delimiter = ',', value_name = "ENGINE,...", default_value = "reference")]
    engines: Vec<String>,
    /// Run only command lines that contain this text.
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    #[command(flatten)]
    record: RecordArgs,
}

/// The measured cost of a run on an engine of KVRM.
struct Cost {
    steps: u64,
    seconds: f64,
    /// The numbers of unknown system calls, with their counts, as JSON; empty if there were none.
    unknown: String,
}

impl Cost {
    /// Returns millions of steps per second, if the run has at least [`STEPS_MIN`] steps.
    fn mips(&self) -> Option<f64> {
        (self.steps >= STEPS_MIN).then(|| self.steps as f64 / self.seconds.max(1e-9) / 1e6)
    }
}

pub(super) fn run(args: &Args) -> Result<()> {
    ensure_program("qemu-aarch64", "qemu-user")?;
    programs::run()?;
    if args.only.is_none() {
        // It is a workload.
        doom::run()?;
    }
    let mut log = args.record.open(PROGRAM)?;
    let kvrm = kvrm()?;
    let has_gpu = args.engines.iter().any(|engine| engine == GPU);
    let adapter = (log.is_some() && has_gpu).then(gpu_adapter).transpose()?;
    let work = third_party::folder()?.join("work");
    let files = prepare(&work)?;
    let wanted = |run: &&Run| args.only.as_ref().is_none_or(|text| run.command().contains(&text[..]));
    let mut rows = Vec::new();
    let mut differ = 0;
    for run in RUNS.iter().filter(wanted) {
        // Programs change files of a copy.
        let copy = work.join("copy");
        recreate(&copy)?;
        copy_folder(&files, &copy)?;
        let theirs = run_in_qemu(run, &copy)?;
        let mut costs = Vec::new();
        for engine in &args.engines {
            let (ours, cost) = run_in_kvrm(&kvrm, engine, run, &files)?;
            let same = ours == theirs;
            differ += usize::from(!same);
            let mips = cost.mips().map_or(String::new(), |mips| format!("{mips:.0}"));
            println!(
                "{} {engine:<9} {:>13} {mips:>6} {}",
                if same { "same  " } else { "DIFFER" },
                cost.steps,
                run.command()
            );
            if !same {
                println!("  qemu {}\n  kvrm {}", theirs.describe(&ours), ours.describe(&theirs));
            }
            if !cost.unknown.is_empty() {
                println!("  unknown system calls: {}", cost.unknown);
            }
            costs.push(cost);
        }
        rows.push((run, costs));
    }
    ensure!(!rows.is_empty(), "no command line contains the text of --only");
    if differ > 0 {
        bail!("{differ} runs differ");
    }
    if args.only.is_none() {
        args.engines.iter().try_for_each(|engine| check_workloads(&kvrm, engine))?;
    }
    // Nothing is recorded if a run differs.
    log.as_mut().map_or(Ok(()), |log| record(log, &args.engines, adapter.as_ref(), &rows))
}

/// Compares two lanes of each workload of `kvrm bench programs`.
fn check_workloads(kvrm: &Path, engine: &str) -> Result<()> {
    let status = Command::new(kvrm)
        .args(["bench", "programs", "--check", "--lanes", "2", "--qemu", "qemu-aarch64", "--engine", engine])
        .arg("--programs")
        .arg(third_party::folder()?)
        .status()
        .context("cannot run kvrm")?;
    ensure!(status.success(), "the workloads of kvrm bench programs fail with the engine {engine}");
    Ok(())
}

/// Records all runs. Runs that are too short to measure their speed have only their steps.
fn record(
    log: &mut Log,
    engines: &[String],
    adapter: Option<&Adapter>,
    rows: &[(&Run, Vec<Cost>)],
) -> Result<()> {
    for (run, costs) in rows {
        for (engine, cost) in engines.iter().zip(costs) {
            let mips = cost.mips().map(|mips| ("mips", Figure::once("MIPS", mips)));
            let steps = ("steps", Figure::once("steps", cost.steps as f64));
            log.append(MeasuredRow {
                kind: Kind::Programs,
                adapter: adapter.filter(|_| engine == GPU).cloned(),
                parameters: [("engine", engine.as_str().into()), ("program", run.command().into())].into(),
                figures: mips.into_iter().chain([steps]).collect(),
            })?;
        }
    }
    Ok(())
}

/// Creates a folder with the files that programs read, and returns its path.
fn prepare(work: &Path) -> Result<PathBuf> {
    let files = work.join("files");
    copy_files(&files)?;
    for (run, name) in PREPARED {
        fs::write(files.join(name), run_in_qemu(run, &files)?.output)?;
    }
    Ok(files)
}

/// Creates a folder with the files that programs read, except those that other programs write.
pub(crate) fn copy_files(files: &Path) -> Result<()> {
    recreate(files)?;
    fs::create_dir_all(files.join("tree/branch/twig"))?;
    for (from, to) in [
        ("LICENSE-APACHE", "license"),
        ("LICENSE-MIT", "mit"),
        ("guests/sha256.c", "sha256.c"),
        ("guests/programs/text.h", "tree/branch/twig/leaf.h"),
        ("guests/programs/suite.lua", "suite.lua"),
        ("guests/programs/session.sql", "session.sql"),
        ("guests/programs/workload.lua", "workload.lua"),
        ("guests/programs/workload.sql", "workload.sql"),
        ("crates/cli/src/bench/programs/lanes.js", "lanes.js"),
        ("crates/cli/src/bench/programs/lanes.lua", "lanes.lua"),
    ] {
        fs::copy(root().join(from), files.join(to)).with_context(|| format!("cannot copy {from}"))?;
    }
    fs::write(files.join("empty"), "").context("cannot write an empty file")
}

fn input(run: &Run, folder: &Path) -> Result<Stdio> {
    let Some(name) = run.input else { return Ok(Stdio::null()) };
    Ok(File::open(folder.join(name)).with_context(|| format!("cannot open the input {name}"))?.into())
}

fn run_in_qemu(run: &Run, folder: &Path) -> Result<Outcome> {
    let mut command = Command::new("qemu-aarch64");
    command
        .args(QEMU_CPU)
        .args(["-0", run.program])
        .arg(third_party::folder()?.join(run.program))
        .args(run.arguments);
    let output = command.env_clear().current_dir(folder).stdin(input(run, folder)?).output()?;
    Outcome::of_process(output, tree(folder)?)
}

fn run_in_kvrm(kvrm: &Path, engine: &str, run: &Run, files: &Path) -> Result<(Outcome, Cost)> {
    let saved = files.with_file_name("saved");
    recreate(&saved)?;
    fs::remove_dir(&saved)?;
    let mut command = Command::new(kvrm);
    command.args(["run", "--json", "--engine", engine, "--cwd", "/data", "--copy"]);
    command.arg(format!("{}:/data", files.display()));
    command.arg("--save").arg(format!("/data:{}", saved.display()));
    if let Some(name) = run.input {
        command.arg("--stdin").arg(files.join(name));
    }
    let answer =
        command.arg(third_party::folder()?.join(run.program)).arg("--").args(run.arguments).output()?;
    let json: serde_json::Value = serde_json::from_slice(&answer.stdout)
        .with_context(|| format!("kvrm run: {}", String::from_utf8_lossy(&answer.stderr)))?;
    let lane = &json["lanes"][0];
    let cost = Cost {
        steps: json["steps"].as_u64().unwrap_or_default(),
        seconds: json["wall_seconds"].as_f64().unwrap_or_default(),
        unknown: json.get("unknown_calls").map_or(String::new(), ToString::to_string),
    };
    Ok((Outcome::of_lane(lane, tree(&saved)?), cost))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn runs_cover_all_programs_without_duplicates() {
        let run: BTreeSet<_> = RUNS.iter().map(|run| run.program).collect();
        assert_eq!(run, programs::names().collect(), "the programs");
        let commands: BTreeSet<_> = RUNS.iter().map(Run::command).collect();
        assert_eq!(commands.len(), RUNS.len(), "the command lines");
    }
}
