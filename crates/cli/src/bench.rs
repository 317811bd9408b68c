//! `kvrm bench`.

mod dispatch;
mod guest;
mod measure;
mod processes;

use std::io::Write as _;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use kvrm::{Factory, Machine};

use self::guest::Guest;
use self::measure::Measurement;
use crate::engine::EngineArgs;
use crate::number;
use crate::output::Output;

/// How often each measurement is repeated; the median counts.
const REPETITIONS: usize = 3;
/// The most 4 KiB pages a lane may write. What the device has room for ends a measurement earlier.
const FRAMES_MAX: usize = 1 << 12;
/// The longest measurement, in seconds.
const SECONDS_MAX: f64 = 3600.0;

/// What the help says at its end.
const HELP: &str = "\
MIPS are millions of steps a second of all lanes together: what the lanes have really retired, by the time the \
run took from its call to its return. Lanes are built, code is compiled and a first run is made before the clock \
starts. A guest that ends within a measurement begins again, which is not timed either.

The guests that come with the command are mix (a seed a lane, so that lanes part), sha256 (all lanes do the same) \
and sieve (all lanes do the same, mostly loads and stores). Files are run without arguments until they exit.";

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
}

/// What else can be measured.
#[derive(clap::Subcommand)]
enum Other {
    /// Measures what a network that chooses the class of each instruction costs, mode by mode, and proves it.
    Dispatch(dispatch::Args),
    /// Measures how many whole runs of a program there are in a second, from its start to its exit.
    Processes(Box<processes::Args>),
}

/// Parses a time.
pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    let seconds: Option<f64> = text.parse().ok().filter(|seconds| *seconds > 0.0 && *seconds <= SECONDS_MAX);
    seconds.ok_or_else(|| format!("expected a number of seconds above 0 and up to {SECONDS_MAX}"))
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    match &args.other {
        Some(Other::Dispatch(args)) => return dispatch::run(args),
        Some(Other::Processes(args)) => return processes::run(args),
        None => {}
    }
    // What is wrong with the arguments is said before anything is measured.
    let names =
        if args.guests.is_empty() { guest::NAMES.map(str::to_owned).to_vec() } else { args.guests.clone() };
    let guests: Vec<Guest> = names.iter().map(|name| guest::find(name)).collect::<Result<_>>()?;
    check_lanes(&args.lanes)?;
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
                    "dispatch": engine.dispatch.mode().name(), "guest": guest.name, "lanes": lanes,
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
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Refuses machines without lanes.
fn check_lanes(lanes: &[u64]) -> Result<()> {
    if lanes.contains(&0) {
        bail!("--lanes: a machine needs at least 1 lane, and 0 were asked for");
    }
    Ok(())
}

/// Measures a guest in so many lanes: the name of the engine, and the repetitions, the slowest first.
fn measured(
    engine: impl Factory,
    guest: &Guest,
    lanes: u64,
    seconds: f64,
) -> Result<(&'static str, Vec<Measurement>)> {
    let what = || format!("{} in {lanes} lanes", guest.name);
    let mut machine = Machine::builder(guest.program.clone())
        .engine(engine)
        .lanes(usize::try_from(lanes)?)
        .frames_max(FRAMES_MAX)
        .output_max(0)
        .arguments(|lane| guest.arguments(lane))
        .build()
        .with_context(what)?;
    let mut all = measure::measure(&mut machine, guest, seconds, REPETITIONS).with_context(what)?;
    all.sort_unstable_by(|a, b| a.mips().total_cmp(&b.mips()));
    Ok((machine.engine(), all))
}
