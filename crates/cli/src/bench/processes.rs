//! `kvrm bench processes`: the number of complete runs of a program per second.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Result, bail};
use kvrm::{Machine, Register, Stop};
use kvrm_records::{Figure, Kind, MeasuredRow, RecordArgs};
use serde_json::json;

use super::arguments::seconds;
use super::measure::REPETITIONS;
use crate::engine::EngineArgs;
use crate::output::Output;
use crate::program::MachineArgs;
use crate::{memory, number, record};

/// The text at the end of the help.
const HELP: &str = "\
A run starts from the loaded program and ends when all lanes have exited. The time includes the reset of the lanes, their \
execution, and serving their calls. Building lanes and compiling code happen before the clock starts. If a lane never \
exits, the measurement does not end.";

/// Arguments of `kvrm bench processes`.
#[derive(clap::Args)]
#[command(after_help = format!("{HELP}\n\n{}", number::HELP))]
pub(super) struct Args {
    #[command(flatten)]
    machine: MachineArgs,
    #[command(flatten)]
    engine: EngineArgs,
    /// The numbers of lanes to measure with, separated by commas.
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "1,1024", value_parser = number::lanes)]
    lanes: Vec<u64>,
    /// The approximate time of each of the three repetitions of a measurement, in seconds.
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = seconds)]
    seconds: f64,
    /// Print one JSON object per measurement, one per line.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    record: RecordArgs,
}

/// The counts of one repetition of a measurement.
struct Repetition {
    runs: u64,
    steps: u64,
    services: u64,
    seconds: f64,
}

impl Repetition {
    /// Returns complete runs per second, of all lanes together.
    fn runs_a_second(&self) -> f64 {
        self.runs as f64 / self.seconds
    }

    /// Returns million steps per second.
    fn mips(&self) -> f64 {
        self.steps as f64 / self.seconds / 1e6
    }
}

pub(super) fn run(args: &Args) -> Result<ExitCode> {
    // Report all errors of the arguments before anything is measured.
    let program = args.machine.load.load()?;
    let mut log = args.record.open(record::PROGRAM)?;
    let engine = args.engine.open()?;
    if !engine.is_gpu() {
        let is_linux = program.linux.is_some();
        args.lanes.iter().try_for_each(|&lanes| memory::check_lanes(lanes, is_linux))?;
    }
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
            log.append(MeasuredRow {
                kind: Kind::Processes,
                adapter: engine.recorded_adapter(),
                parameters: [
                    ("engine", machine.engine().into()),
                    ("lanes", lanes.into()),
                    ("program", args.machine.command().into()),
                ]
                .into_iter()
                .chain(engine.recorded_gpus())
                .collect(),
                figures: figures(&all),
            })?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the figures of all repetitions of a measurement.
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

/// Measures a machine that was just built, for about `seconds` per repetition.
fn measure(machine: &mut Machine, seconds: f64) -> Result<Vec<Repetition>> {
    machine.snapshot()?;
    let lanes: Vec<usize> = (0..machine.lanes()).collect();
    let mut all = Vec::with_capacity(1 + REPETITIONS);
    // The first repetition is a warm-up, in which the engine allocates memory.
    for _ in 0..=REPETITIONS {
        let mut sum = Repetition { runs: 0, steps: 0, services: 0, seconds: 0.0 };
        let begin = Instant::now();
        while sum.seconds < seconds {
            machine.reset(&lanes)?;
            let report = machine.run(u64::MAX)?;
            // A GPU may still be working. Reading waits for it.
            machine.registers(Register::Steps)?;
            sum.runs += lanes.len() as u64;
            sum.steps += report.steps;
            sum.services += report.services;
            sum.seconds = begin.elapsed().as_secs_f64();
        }
        for (lane, stop) in machine.stops()?.into_iter().enumerate() {
            match stop {
                Some(Stop::Exit { .. }) => {}
                Some(stop) => {
                    bail!("lane {lane} stopped before its exit: {stop}; measured programs have to exit")
                }
                None => bail!("lane {lane} has not exited; measured programs have to exit"),
            }
        }
        all.push(sum);
    }
    Ok(all.split_off(1))
}
