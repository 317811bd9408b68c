//! Comparison of a Debian system in KVRM with the same system in QEMU user mode: command lines of many programs, one in each
//! lane, must have the same outputs, files and exit status.

mod binaries;
mod lanes;
mod lines;
mod places;
mod qemu;
mod report;

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};
use rayon::prelude::*;

use self::lanes::Lanes;
use self::lines::Line;
use self::places::{Places, SOURCES};
use self::qemu::Qemu;
use self::report::{Expected, Report};
use super::commands::kvrm;
use super::programs::copy_files;
use crate::folders::{copy_folder, recreate};
use crate::root::root;
use crate::sysroot;

/// The engine whose steps the other engines must take.
const REFERENCE: &str = "reference";

#[derive(Clone, Debug, clap::Args)]
pub(super) struct Args {
    /// The engines to test. A GPU runs only the lines that the tables mark for it.
    #[arg(long, value_delimiter = ',', value_name = "ENGINE,...", default_value = REFERENCE)]
    engines: Vec<String>,
    /// Run only lines that contain this text, or whose program or awaited part of Linux has this name.
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// The number of lines that run in lanes of one machine.
    #[arg(long, default_value_t = 16)]
    lanes: usize,
    /// The number of lines that run in QEMU at the same time.
    #[arg(long, default_value_t = 1)]
    jobs: usize,
    /// The largest number of steps of each lane.
    #[arg(long, default_value_t = 5_000_000_000)]
    budget: u64,
    /// The `kvrm` to test, in place of an optimized one that is compiled first.
    #[arg(long, value_name = "FILE")]
    kvrm: Option<PathBuf>,
    /// Write the names of the system calls that the programs made, for the table of docs/linux.md.
    #[arg(long, conflicts_with = "only")]
    calls: bool,
    /// Run neither QEMU nor KVRM, but list the lines.
    #[arg(long)]
    list: bool,
}

pub(super) fn run(args: &Args) -> Result<()> {
    let is_wanted = |line: &Line| args.only.as_ref().is_none_or(|text| line.has(text));
    let mut lines = lines::read()?;
    lines.retain(is_wanted);
    ensure!(!lines.is_empty(), "no command line contains the text of --only");
    if args.list {
        return report::list(&lines);
    }
    let places = prepare()?;
    let kvrm = args.kvrm.clone().map_or_else(kvrm, |path| path.canonicalize().context("cannot find kvrm"))?;
    let qemu = Qemu::prepare(&places)?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(args.jobs).build()?;
    let mut report = Report::new(&places.work)?;
    for batch in lines.chunks(args.lanes.max(1)) {
        let run = |(number, line): (usize, &Line)| qemu.run(number, line);
        let judged: Vec<_> = batch.iter().enumerate().collect();
        let theirs = pool.install(|| judged.into_par_iter().map(run).collect::<Result<Vec<_>>>())?;
        for engine in &args.engines {
            let chosen: Vec<usize> =
                (0..batch.len()).filter(|&number| batch[number].gpu || !engine.starts_with("gpu")).collect();
            let chosen_lines: Vec<&Line> = chosen.iter().map(|&number| &batch[number]).collect();
            let run = |engine: &str| {
                let lanes = Lanes {
                    kvrm: &kvrm,
                    engine,
                    budget: args.budget,
                    places: &places,
                    has_trace: args.calls,
                };
                lanes.run(&chosen_lines)
            };
            // Other engines take the same steps as the reference, which runs the same lines in the same lanes. It runs first, because
            // the traces of the last run are read.
            let reference = if engine == REFERENCE { None } else { Some(run(REFERENCE)?) };
            let ours = run(engine)?;
            for (place, (number, ours)) in chosen.iter().zip(&ours).enumerate() {
                let steps = reference.as_ref().map_or(ours.steps, |runs| runs[place].steps);
                let expected = Expected { outcome: &theirs[*number], steps };
                report.add(engine, &batch[*number], ours, expected)?;
            }
        }
    }
    let differ = report.finish();
    let path = report.path().to_path_buf();
    // They are those of the runs that are the same.
    if args.calls {
        report.into_calls().write("programs")?;
    }
    if differ > 0 {
        bail!("{differ} runs differ; {} has their outputs", path.display());
    }
    Ok(())
}

/// Makes the system, our programs, and the files that lines read.
fn prepare() -> Result<Places> {
    let sysroot = sysroot::make()?;
    let binaries = binaries::make()?;
    let work = root().join("target/userland/work");
    recreate(&work)?;
    let files = work.join("files");
    copy_files(&files)?;
    copy_folder(&root().join(SOURCES).join("files"), &files)?;
    // The clock of lanes begins in 2020. Files are older, so that what lines write is newer on both sides.
    let status = Command::new("find")
        .arg(&files)
        .args(["-exec", "touch", "-d", "2019-01-01T00:00:00Z", "{}", "+"])
        .status();
    ensure!(status.context("cannot run find")?.success(), "the times of {} cannot be set", files.display());
    Ok(Places { sysroot, files, binaries, work })
}
