//! `kvrm bench`.

mod arguments;
mod class_selection;
mod guest;
mod measure;
mod processes;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::ExitCode;

use anyhow::Result;
use kvrm_records::{Figure, Kind, Measured, RecordArgs};

use self::arguments::check_lanes;
pub(crate) use self::arguments::seconds;
use self::guest::Guest;
use self::measure::{Measurement, measured};
use crate::engine::EngineArgs;
use crate::number;
use crate::output::Output;
use crate::record;

/// What the help says at its end.
const HELP: &str = "\
MIPS are millions of steps a second of all lanes together: what the lanes have really retired, by the time the \
run took from its call to its return. Lanes are built, code is compiled and a first run is made before the clock \
starts. A guest that ends within a measurement begins again, which is not timed either.

The guests that come with the command are mix (a seed a lane, so that lanes part), sha256 (all lanes do the same) \
and sieve (all lanes do the same, mostly loads and stores). Files are run without arguments until they exit.

With --record, each row is also appended to a file, with the least, the median and the greatest figure of its \
repetitions. The tables of docs/benchmarks.md are made from such files.";

/// Arguments of `kvrm bench`.
#[derive(clap::Args)]
#[command(after_help = format!("{HELP}\n\n{}", number::HELP), args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    other: Option<Other>,
    #[command(flatten)]
    engine: EngineArgs,
    /// The numbers of lanes to measure with.
    #[arg(
        long, value_name = "N", value_delimiter = ',', default_value = "1,128,1024", value_parser = number::count
    )]
    lanes: Vec<u64>,
    /// What to run: mix, sha256, sieve, or the file of a program; all three unless said. May be repeated.
    #[arg(long = "guest", value_name = "NAME|FILE", num_args = 1..)]
    guests: Vec<String>,
    /// About how long each of the three repetitions of a measurement takes.
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = seconds)]
    seconds: f64,
    /// Print one JSON object a measurement, one a line.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    record: RecordArgs,
}

/// What else can be measured.
#[derive(clap::Subcommand)]
enum Other {
    /// Measures what a network that chooses the class of each instruction costs, mode by mode, and proves it.
    ClassSelection(class_selection::Args),
    /// Measures how many whole runs of a program there are in a second, from its start to its exit.
    Processes(Box<processes::Args>),
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    match &args.other {
        Some(Other::ClassSelection(args)) => return class_selection::run(args),
        Some(Other::Processes(args)) => return processes::run(args),
        None => {}
    }
    // What is wrong with the arguments is said before anything is measured.
    let names =
        if args.guests.is_empty() { guest::NAMES.map(str::to_owned).to_vec() } else { args.guests.clone() };
    let guests: Vec<Guest> = names.iter().map(|name| guest::find(name)).collect::<Result<_>>()?;
    check_lanes(&args.lanes)?;
    let mut log = args.record.open(record::PROGRAM)?;
    let engine = args.engine.choose()?;
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
            let (name, all) = measured(engine.clone(), guest, lanes, args.seconds)?;
            if args.json {
                let all_mips: Vec<f64> = all.iter().map(Measurement::mips).collect();
                let Measurement { steps, seconds, dispatches } = all[all.len() / 2];
                let line = serde_json::json!({
                    "engine": name, "device": engine.device(), "fallback": engine.fallback,
                    "class_selection": engine.selection.mode().name(), "guest": guest.name, "lanes": lanes,
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
            // Each line is shown at once, so nothing is lost if the next measurement fails.
            out.flush()?;
            if let Some(log) = &mut log {
                log.append(Measured {
                    kind: Kind::Lanes,
                    adapter: engine.adapter().map(record::adapter),
                    parameters: [
                        ("class_selection", engine.selection.mode().name().into()),
                        ("engine", name.into()),
                        ("guest", guest.name.as_str().into()),
                        ("lanes", lanes.into()),
                    ]
                    .into(),
                    figures: figures(&all),
                })?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The figures of all repetitions of a measurement.
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
