//! `kvrm bench programs`: ten Linux programs in many lanes, each with an input of its own.

mod check;
mod measure;
mod processes;
mod qemu;
mod workload;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use kvrm::Translation;
use kvrm_records::{Figure, Kind, MeasuredRow, RecordArgs};
use serde_json::json;

use self::measure::Measured;
use self::workload::Workload;
use super::arguments::seconds;
use crate::engine::{EngineArgs, OpenEngine};
use crate::output::Output;
use crate::{memory, number, record};

/// The text at the end of the help.
const HELP: &str = "\
The workloads are deflate, zstandard, json, regex (PCRE2), sqlite, lua, quickjs, and sh, awk and sort of BusyBox. \
`cargo xtask guests --programs` makes the programs; nothing but their directory is needed. Inputs differ from lane to \
lane, so lanes soon execute different parts of a program.

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
    let mut log = args.record.open(record::PROGRAM)?;
    if let Some(qemu) = &args.qemu {
        qemu::check(qemu)?;
    }
    let engine = args.engine.open()?;
    if !engine.is_gpu() {
        memory::check_lanes(args.lanes, true)?;
    }
    if !args.json {
        engine.announce();
    }
    let lanes = usize::try_from(args.lanes)?;
    let mut out = Output::new();
    if args.check {
        for workload in &workloads {
            let report = check::run(workload, engine.clone(), lanes, args.qemu.as_deref())
                .with_context(|| workload.name.to_owned())?;
            let mean = |sum: u64| sum as f64 / lanes as f64;
            let (steps, pages, calls) =
                (mean(report.steps), mean(report.frames as u64), mean(report.services));
            if args.json {
                let program = workload.name;
                writeln!(
                    out,
                    "{}",
                    json!({
                        "program": program, "lanes": lanes, "steps_a_lane": steps, "pages_a_lane": pages, "calls_a_lane": calls,
                    })
                )?;
            } else {
                let name = workload.name;
                writeln!(
                    out,
                    "{name:<10} all lanes right; on average {steps:.0} steps, {pages:.0} pages, {calls:.0} calls"
                )?;
            }
            out.flush()?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let modes = modes(&engine);
    if !args.json {
        writeln!(
            out,
            "{:<10} {:<14} {:>12} {:>8} {:>12} {:>8} {:>12}  way",
            "program", "engine", "MIPS", "of first", "steps a lane", "pages", "calls/M"
        )?;
        out.flush()?;
    }
    // The ratios of the second mode to the first.
    let mut ratios = Vec::new();
    for workload in &workloads {
        let mut first: Option<Measured> = None;
        for &translation in &modes {
            let mode = engine.clone().with_translation(translation);
            let window = first.as_ref().map(|first| first.window);
            let measured = measure::measure(workload, mode, lanes, args.seconds, window)
                .with_context(|| format!("{} in {lanes} lanes", workload.name))?;
            let name = record::engine(engine.name(), translation);
            let ratio = first.as_ref().map(|first| measured.mips() / first.mips());
            ratios.extend(ratio);
            if args.json {
                writeln!(
                    out,
                    "{}",
                    json!({
                        "program": workload.name, "engine": name, "device": engine.device(), "fallback": engine.fallback,
                        "lanes": lanes, "mips": measured.mips(), "all_mips": measured.all_mips(), "of_first": ratio,
                        "window": measured.window, "pages_a_lane": measured.pages, "calls_a_million_steps": measured.calls,
                        "translation": measured.translation,
                    })
                )?;
            } else {
                writeln!(
                    out,
                    "{:<10} {name:<14} {:>12.1} {:>8} {:>12} {:>8.0} {:>12.2}  {}",
                    workload.name,
                    measured.mips(),
                    ratio.map_or_else(String::new, |ratio| format!("{ratio:.2}")),
                    measured.window,
                    measured.pages,
                    measured.calls,
                    measured.way(),
                )?;
            }
            out.flush()?;
            if let Some(log) = &mut log {
                log.append(MeasuredRow {
                    kind: Kind::ProgramLanes,
                    adapter: engine.adapter().map(record::adapter),
                    parameters: parameters(workload, &name, lanes as u64),
                    figures: figures(&measured, first.as_ref()),
                })?;
            }
            first.get_or_insert(measured);
        }
        if let Some(qemu) = &args.qemu {
            let measured = processes::measure(workload, qemu, args.seconds)
                .with_context(|| format!("{} in QEMU", workload.name))?;
            if args.json {
                writeln!(
                    out,
                    "{}",
                    json!({
                        "program": workload.name, "engine": "qemu-aarch64", "processes": measured.processes,
                        "mips": measured.mips(), "all_mips": measured.all,
                    })
                )?;
            } else {
                let (name, processes) = ("qemu-aarch64", measured.processes);
                writeln!(
                    out,
                    "{:<10} {name:<14} {:>12.1}  {processes} processes at a time",
                    workload.name,
                    measured.mips()
                )?;
            }
            out.flush()?;
            if let Some(log) = &mut log {
                log.append(MeasuredRow {
                    kind: Kind::ProgramLanes,
                    adapter: None,
                    parameters: [
                        ("program", workload.name.into()),
                        ("engine", "qemu-aarch64".into()),
                        ("processes", (measured.processes as u64).into()),
                    ]
                    .into(),
                    figures: [("mips", Figure::of("MIPS", &measured.all))].into(),
                })?;
            }
        }
    }
    let mean = (!ratios.is_empty())
        .then(|| (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp());
    if let Some(mean) = mean {
        if args.json {
            writeln!(out, "{}", json!({ "programs": ratios.len(), "geometric_mean": mean }))?;
        } else {
            writeln!(out, "geometric mean of {} ratios: {mean:.3}", ratios.len())?;
        }
    }
    if let (Some(log), Some(mean), Some(&last)) = (&mut log, mean, modes.last()) {
        log.append(MeasuredRow {
            kind: Kind::ProgramLanes,
            adapter: engine.adapter().map(record::adapter),
            parameters: [
                ("program", "geometric mean".into()),
                ("programs", (ratios.len() as u64).into()),
                ("engine", record::engine(engine.name(), last).into()),
                ("lanes", (lanes as u64).into()),
            ]
            .into(),
            figures: [("of_first", Figure::once("", mean))].into(),
        })?;
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

fn parameters(workload: &Workload, engine: &str, lanes: u64) -> BTreeMap<&'static str, kvrm_records::Value> {
    [("program", workload.name.into()), ("engine", engine.into()), ("lanes", lanes.into())].into()
}

/// Returns the figures of a measurement. Shares of the first measurement are of its median.
fn figures(measured: &Measured, first: Option<&Measured>) -> BTreeMap<&'static str, Figure> {
    let all = measured.all_mips();
    let ratios = first.map(|first| all.iter().map(|mips| mips / first.mips()).collect::<Vec<_>>());
    let ratios = ratios.map(|ratios| ("of_first", Figure::of("", &ratios)));
    let once = [
        ("mips", Figure::of("MIPS", &all)),
        ("pages_a_lane", Figure::once("pages", measured.pages)),
        ("calls_a_million_steps", Figure::once("calls", measured.calls)),
        ("window", Figure::once("steps", measured.window as f64)),
    ];
    once.into_iter().chain(ratios).collect()
}
