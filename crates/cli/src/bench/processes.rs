//! `kvrm bench processes`: how many whole runs of a program there are in a second.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Result, bail};
use kvrm::{Machine, Register, Stop};
use kvrm_records::{Figure, Kind, Measured, RecordArgs};
use serde_json::json;

use super::arguments::{check_lanes, seconds};
use super::measure::REPETITIONS;
use crate::engine::EngineArgs;
use crate::number;
use crate::output::Output;
use crate::program::MachineArgs;
use crate::record;

/// What the help says at its end.
const HELP: &str = "\
A run begins with the program as it was loaded and ends when all lanes have exited. What is timed is everything in \
between: taking the lanes back to the beginning, running them, and serving their calls. Lanes are built, and code is \
compiled, before. A lane that never exits is waited for.";

/// Arguments of `kvrm bench processes`.
#[derive(clap::Args)]
#[command(after_help = format!("{HELP}\n\n{}", number::HELP))]
pub(super) struct Args {
    #[command(flatten)]
    machine: MachineArgs,
    #[command(flatten)]
    engine: EngineArgs,
    /// The numbers of lanes to measure with.
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "1,1024", value_parser = number::count)]
    lanes: Vec<u64>,
    /// About how long each of the three repetitions of a measurement takes.
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = seconds)]
    seconds: f64,
    /// Print one JSON object a measurement, one a line.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    record: RecordArgs,
}

/// A repetition of a measurement.
struct Repetition {
    runs: u64,
    steps: u64,
    services: u64,
    seconds: f64,
}

impl Repetition {
    fn runs_a_second(&self) -> f64 {
        self.runs as f64 / self.seconds
    }

    /// Millions of steps a second.
    fn mips(&self) -> f64 {
        self.steps as f64 / self.seconds / 1e6
    }
}

pub(super) fn run(args: &Args) -> Result<ExitCode> {
    // What is wrong with the arguments is said before anything is measured.
    let program = args.machine.load.load()?;
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
            "{:>10} {:>14} {:>12} {:>14} {:>14}",
            "lanes", "runs a second", "MIPS", "steps a run", "calls a run"
        )?;
        out.flush()?;
    }
    for &lanes in &args.lanes {
        let count = usize::try_from(lanes)?;
        let features = args.machine.features(&program);
        let builder = args.machine.builder(program.clone(), features, count)?;
        let mut machine = builder.engine(engine.clone()).lanes(count).output_max(0).build()?;
        let mut all = measure(&mut machine, args.seconds)?;
        all.sort_unstable_by(|a, b| a.runs_a_second().total_cmp(&b.runs_a_second()));
        let median = &all[all.len() / 2];
        let mips = median.mips();
        if args.json {
            let runs: Vec<f64> = all.iter().map(Repetition::runs_a_second).collect();
            writeln!(
                out,
                "{}",
                json!({
                    "engine": machine.engine(), "device": engine.device(), "fallback": engine.fallback,
                    "lanes": lanes, "runs_a_second": median.runs_a_second(), "mips": mips,
                    "runs": median.runs, "steps": median.steps, "services": median.services,
                    "seconds": median.seconds, "repetitions": all.len(), "all_runs_a_second": runs,
                })
            )?;
        } else {
            writeln!(
                out,
                "{lanes:>10} {:>14.0} {mips:>12.1} {:>14.0} {:>14.1}",
                median.runs_a_second(),
                median.steps as f64 / median.runs as f64,
                median.services as f64 / median.runs as f64,
            )?;
        }
        out.flush()?;
        if let Some(log) = &mut log {
            log.append(Measured {
                kind: Kind::Processes,
                adapter: engine.adapter().map(record::adapter),
                parameters: [
                    ("engine", machine.engine().into()),
                    ("lanes", lanes.into()),
                    ("program", args.machine.command().into()),
                ]
                .into(),
                figures: figures(&all),
            })?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The figures of all repetitions of a measurement.
fn figures(all: &[Repetition]) -> BTreeMap<&'static str, Figure> {
    let of =
        |unit, value: fn(&Repetition) -> f64| Figure::of(unit, &all.iter().map(value).collect::<Vec<_>>());
    [
        ("calls_a_run", of("calls", |measured| measured.services as f64 / measured.runs as f64)),
        ("mips", of("MIPS", Repetition::mips)),
        ("runs_a_second", of("runs/s", Repetition::runs_a_second)),
        ("steps_a_run", of("steps", |measured| measured.steps as f64 / measured.runs as f64)),
    ]
    .into()
}

/// Measures a machine that was just built.
fn measure(machine: &mut Machine, seconds: f64) -> Result<Vec<Repetition>> {
    machine.snapshot()?;
    let lanes: Vec<usize> = (0..machine.lanes()).collect();
    let mut all = Vec::with_capacity(1 + REPETITIONS);
    // The first repetition is a rehearsal: memory has been handed out after it.
    for _ in 0..=REPETITIONS {
        let mut sum = Repetition { runs: 0, steps: 0, services: 0, seconds: 0.0 };
        let begin = Instant::now();
        while sum.seconds < seconds {
            machine.reset(&lanes)?;
            let report = machine.run(u64::MAX)?;
            // A device may not be done with everything yet.
            machine.registers(Register::Steps)?;
            sum.runs += lanes.len() as u64;
            sum.steps += report.steps;
            sum.services += report.services;
            sum.seconds = begin.elapsed().as_secs_f64();
        }
        for (lane, stop) in machine.stops()?.into_iter().enumerate() {
            match stop {
                Some(Stop::Exit { .. }) => {}
                Some(stop) => bail!("lane {lane} does not exit, but stops: {stop}"),
                None => bail!("lane {lane} does not exit"),
            }
        }
        all.push(sum);
    }
    Ok(all.split_off(1))
}
