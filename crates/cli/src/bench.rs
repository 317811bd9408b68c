//! `kvrm bench`.

mod arguments;
mod class_selection;
mod doom;
mod guest;
mod loops;
mod measure;
mod prefetch;
mod processes;
mod programs;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::ExitCode;

use anyhow::Result;
use kvrm_records::{Figure, Kind, MeasuredRow, RecordArgs};

pub(crate) use self::arguments::seconds;
use self::guest::Guest;
use self::measure::{Measurement, measure_guest};
use crate::engine::EngineArgs;
use crate::output::Output;
use crate::{memory, number, record};

/// The text at the end of the help.
const HELP: &str = "\
MIPS are million steps per second of all lanes together: the steps that the lanes have retired, divided by the time \
from the call of the run to its return. Building lanes, compiling code and a first run happen before the clock starts. \
A guest that exits during a measurement starts again, and the restart is not timed.

The guests that come with the command are mix (each lane has its own seed, so lanes diverge), render (lanes draw \
different pictures, so they diverge most), sha256 (all lanes do the same) and sieve (all lanes do the same, mostly loads \
and stores). Programs in files run without arguments until they \
exit.

With --record, each row is also appended to a file, with the minimum, the median and the maximum of its repetitions. \
The tables of docs/benchmarks.md are made from such files.";

/// Arguments of `kvrm bench`.
#[derive(clap::Args)]
#[command(after_help = format!("{HELP}\n\n{}", number::HELP), args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    subcommand: Option<Subcommand>,
    #[command(flatten)]
    engine: EngineArgs,
    /// The numbers of lanes to measure with, separated by commas.
    #[arg(
        long, value_name = "N", value_delimiter = ',', default_value = "1,128,1024", value_parser = number::lanes
    )]
    lanes: Vec<u64>,
    /// The guest to run: mix, render, sha256, sieve, or the file of a program. The default is all four. May be repeated.
    #[arg(long = "guest", value_name = "NAME|FILE", num_args = 1..)]
    guests: Vec<String>,
    /// The approximate time of each of the three repetitions of a measurement, in seconds.
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = seconds)]
    seconds: f64,
    /// Print one JSON object per measurement, one per line.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    record: RecordArgs,
}

/// Other measurements.
#[derive(clap::Subcommand)]
enum Subcommand {
    /// Verify the network for class selection, and measure the speed of each mode.
    ClassSelection(class_selection::Args),
    /// Measure DOOM as an environment: the steps a second of many lanes with random actions.
    Doom(Box<doom::Args>),
    /// Measure loops, stepped and with many iterations executed at once.
    Loops(Box<loops::Args>),
    /// Measure prefetchers, for programs with less memory on the GPU than they need.
    Prefetch(Box<prefetch::Args>),
    /// Measure how many complete runs of a program, from start to exit, finish per second.
    Processes(Box<processes::Args>),
    /// Measure eleven Linux programs, with an input of its own in each lane, with and without translation.
    Programs(Box<programs::Args>),
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    match &args.subcommand {
        Some(Subcommand::ClassSelection(args)) => return class_selection::run(args),
        Some(Subcommand::Doom(args)) => return doom::run(args),
        Some(Subcommand::Loops(args)) => return loops::run(args),
        Some(Subcommand::Prefetch(args)) => return prefetch::run(args),
        Some(Subcommand::Processes(args)) => return processes::run(args),
        Some(Subcommand::Programs(args)) => return programs::run(args),
        None => {}
    }
    // Report all errors of the arguments before anything is measured.
    let names =
        if args.guests.is_empty() { guest::NAMES.map(str::to_owned).to_vec() } else { args.guests.clone() };
    let guests: Vec<Guest> = names.iter().map(|name| guest::find(name)).collect::<Result<_>>()?;
    let mut log = args.record.open(record::PROGRAM)?;
    let engine = args.engine.open()?;
    if !engine.is_gpu() {
        let is_linux = guests.iter().any(|guest| guest.program.linux.is_some());
        args.lanes.iter().try_for_each(|&lanes| memory::check_lanes(lanes, is_linux))?;
    }
    if !args.json {
        engine.announce();
    }
    let mut out = Output::new();
    if !args.json {
        writeln!(
            out,
            "{:<16} {:>10} {:>12} {:>16} {:>10} {:>10}",
            "guest", "lanes", "MIPS", "steps", "seconds", "dispatches"
        )?;
        out.flush()?;
    }
    for guest in &guests {
        for &lanes in &args.lanes {
            let (name, all) = measure_guest(engine.clone(), guest, lanes, args.seconds)?;
            if args.json {
                let all_mips: Vec<f64> = all.iter().map(Measurement::mips).collect();
                let Measurement { steps, seconds, dispatches } = all[all.len() / 2];
                let line = serde_json::json!({
                    "engine": name, "device": engine.device(), "fallback": engine.fallback,
                    "translate": engine.translation.name(), "class_selection": engine.selection.mode().name(), "guest": guest.name, "lanes": lanes,
                    "steps": steps, "seconds": seconds,
                    "mips": all_mips[all_mips.len() / 2], "dispatches": dispatches,
                    "repetitions": all_mips.len(), "all_mips": all_mips,
                });
                writeln!(out, "{line}")?;
            } else {
                let median = &all[all.len() / 2];
                let Measurement { steps, seconds, dispatches } = median;
                writeln!(
                    out,
                    "{:<16} {lanes:>10} {:>12.1} {steps:>16} {seconds:>10.3} {dispatches:>10}",
                    guest.name,
                    median.mips()
                )?;
            }
            // Show each line at once, so that nothing is lost if the next measurement fails.
            out.flush()?;
            if let Some(log) = &mut log {
                log.append(MeasuredRow {
                    kind: Kind::Lanes,
                    adapter: engine.recorded_adapter(),
                    parameters: [
                        ("class_selection", engine.selection.mode().name().into()),
                        ("engine", record::engine(name, engine.translation).into()),
                        ("guest", guest.name.as_str().into()),
                        ("lanes", lanes.into()),
                    ]
                    .into_iter()
                    .chain(engine.recorded_gpus())
                    .collect(),
                    figures: figures(&all),
                })?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the figures of all repetitions of a measurement.
fn figures(all: &[Measurement]) -> BTreeMap<&'static str, Figure> {
    let of =
        |unit, value: fn(&Measurement) -> f64| Figure::of(unit, &all.iter().map(value).collect::<Vec<_>>());
    [
        ("dispatches", of("dispatches", |measured| measured.dispatches as f64)),
        ("mips", of("MIPS", Measurement::mips)),
        ("seconds", of("s", |measured| measured.seconds)),
        ("steps", of("steps", |measured| measured.steps as f64)),
    ]
    .into()
}
