//! `kvrm bench programs`: eleven Linux programs in many lanes, each with an input of its own.

mod check;
mod fork;
mod measure;
mod processes;
mod qemu;
mod rows;
pub(super) mod workload;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use kvrm::Translation;
use kvrm_records::RecordArgs;

use self::measure::Measured;
use self::rows::Rows;
use super::arguments::seconds;
use crate::engine::{EngineArgs, OpenEngine};
use crate::output::Output;
use crate::{memory, number, record};

/// The text at the end of the help.
const HELP: &str = "\
The workloads are deflate, zstandard, json, regex (PCRE2), sqlite, lua, quickjs, sh, awk and sort of BusyBox, \
and doom. `cargo xtask guests --programs` makes the programs, and `cargo xtask guests --doom` doom; nothing but their \
directory is needed. Inputs differ from lane to lane, so lanes soon execute different parts of a program.

DOOM loads its level in one lane on the CPU, of which all lanes are forks. Each plays with random keys of its own: a step \
of the game lasts 4 tics, and draws a frame of 320x200 pixels.

MIPS are million steps per second of all lanes together. Each lane first takes two million steps, in which programs start. \
A snapshot follows. A repetition takes the same steps with and without translation: from the snapshot to as many steps \
later as take the time of --seconds without translation. Lanes that exit before wait for the others; only steps that \
they retired count. If all exit, or time is left, lanes start again from the snapshot, and this reset is not timed. \
On a GPU, translation has chosen how it runs the lanes before the clock starts. The CPU engines have no such choice and \
are measured once.

With --qemu, complete processes run at the same time, as many as the host has cores. Their steps are those that the JIT \
engine counts for the same inputs, and their outputs must be the same.";

/// Arguments of `kvrm bench programs`.
#[derive(clap::Args)]
#[command(after_help = format!("{HELP}\n\n{}", number::HELP))]
pub(super) struct Args {
    #[command(flatten)]
    engine: EngineArgs,
    /// The directory of the programs, which `cargo xtask guests --programs` makes.
    #[arg(long, value_name = "DIR", default_value = "target/programs")]
    programs: PathBuf,
    /// The number of lanes.
    #[arg(long, value_name = "N", default_value = "8192", value_parser = number::lanes)]
    lanes: u64,
    /// The approximate time of each of the three repetitions of a measurement without translation, in seconds.
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = seconds)]
    seconds: f64,
    /// Measure only this workload. May be repeated.
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Also measure this program: qemu-aarch64, or its path.
    #[arg(long, value_name = "PATH")]
    qemu: Option<PathBuf>,
    /// Measure nothing: run all lanes until they exit, and check that their outputs differ, and with --qemu that QEMU
    /// prints the same.
    #[arg(long, conflicts_with_all = ["record", "seconds"])]
    check: bool,
    /// Print one JSON object per measurement, one per line.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    record: RecordArgs,
}

pub(super) fn run(args: &Args) -> Result<ExitCode> {
    // Report all errors of the arguments before anything is measured.
    let workloads = workload::open(&args.programs, &args.only)?;
    let log = args.record.open(record::PROGRAM)?;
    let qemu = args.qemu.as_deref().map(qemu::find).transpose()?;
    let engine = args.engine.open()?;
    if !engine.is_gpu() {
        memory::check_lanes(args.lanes, true)?;
    }
    if !args.json {
        engine.announce();
    }
    let lanes = usize::try_from(args.lanes)?;
    let mut rows = Rows { out: Output::new(), log, is_json: args.json, engine: &engine, lanes };
    if args.check {
        for workload in &workloads {
            let report = check::run(workload, engine.clone(), lanes, qemu.as_deref())
                .with_context(|| workload.name.to_owned())?;
            rows.checked(workload, &report)?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let modes = modes(&engine);
    rows.head()?;
    // The ratios of the second mode to the first.
    let mut ratios = Vec::new();
    for workload in &workloads {
        let mut first: Option<Measured> = None;
        for &translation in &modes {
            let mode = engine.clone().with_translation(translation);
            let window = first.as_ref().map(|first| first.window);
            let measured = measure::measure(workload, mode, lanes, args.seconds, window)
                .with_context(|| format!("{} in {lanes} lanes", workload.name))?;
            ratios.extend(rows.lanes(workload, translation, &measured, first.as_ref())?);
            first.get_or_insert(measured);
        }
        if let Some(qemu) = &qemu {
            let measured = processes::measure(workload, qemu, args.seconds)
                .with_context(|| format!("{} in QEMU", workload.name))?;
            rows.qemu(workload, &measured)?;
        }
    }
    if let (false, Some(&last)) = (ratios.is_empty(), modes.last()) {
        rows.mean(&ratios, last)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the modes to compare: without translation first. The CPU has one only.
fn modes(engine: &OpenEngine) -> Vec<Translation> {
    match (engine.is_gpu(), engine.translation) {
        (true, Translation::Off) | (false, _) => vec![Translation::Off],
        (true, wanted) => vec![Translation::Off, wanted],
    }
}
