//! `cargo xtask compare`: measures the networks of `kvrm spike bench` in KVRM and in other simulators, on the same CPU
//! in one run. `compare doom` does so for DOOM ([`mod@doom`]).
//!
//! NEST and Brian2 come from `PyPI` and run in processes of their own; KVRM does not link them.

mod answer;
mod doom;

use std::process::Command;

use anyhow::{Result, ensure};
use kvrm_records::{Figure, Kind, Log, MeasuredRow, RecordArgs};
use serde::Deserialize;

use self::answer::answer;
use crate::oracle::kvrm;
use crate::records::PROGRAM;
use crate::system::python;

/// The versions of the simulators. Brian2 does not support newer versions of NumPy.
const PACKAGES: [&str; 5] = ["nest-simulator==3.10.0", "brian2==2.9.0", "cython", "numpy<2", "setuptools"];

/// The default networks, and the scale at which each is small enough for all simulators.
const NETWORKS: [(&str, &str); 2] = [("vogels-abbott", "1"), ("microcircuit", "0.1")];

const SIMULATORS: [&str; 2] = ["nest", "brian2"];

/// Arguments of `cargo xtask compare`.
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    subcommand: Option<Subcommand>,
    /// The networks to measure: microcircuit, vogels-abbott, balanced [default: vogels-abbott and microcircuit].
    networks: Vec<String>,
    /// The size of the networks relative to their full size [default: 0.1 for the microcircuit, 1 for others].
    #[arg(long, value_name = "FACTOR")]
    scale: Option<String>,
    /// The number of threads of each simulator; Brian2 always uses one.
    #[arg(long, value_name = "N", default_value_t = 2)]
    threads: u32,
    /// The approximate duration of each of three repetitions.
    #[arg(long, value_name = "SECONDS", default_value_t = 3.0)]
    seconds: f64,
    #[command(flatten)]
    record: RecordArgs,
}

/// Other comparisons.
#[derive(clap::Subcommand)]
enum Subcommand {
    /// Measures DOOM as an environment in KVRM and in ViZDoom, on all cores of this host, and on its GPU.
    Doom(Box<doom::Args>),
}

/// The output of `simulators.py`.
#[derive(Deserialize)]
struct SimulatorOutput {
    skipped: Option<String>,
    #[serde(default)]
    version: String,
    #[serde(default)]
    neurons: u64,
    #[serde(default)]
    build_seconds: f64,
    #[serde(default)]
    all_seconds: Vec<f64>,
    #[serde(default)]
    ms: f64,
    #[serde(default)]
    rate: f64,
}

/// The output of `kvrm spike bench --json`.
#[derive(Deserialize)]
struct BenchOutput {
    neurons: u64,
    dt: f64,
    build_seconds: f64,
    steps: u64,
    all_seconds: Vec<f64>,
    spikes: u64,
}

/// A line of the printed table.
struct Row {
    simulator: String,
    /// The version of the simulator; empty for KVRM.
    version: String,
    threads: String,
    neurons: u64,
    build_seconds: f64,
    /// The real-time factor: seconds of computation per second of simulated time.
    real_time_factor: Figure,
    /// The mean number of spikes per neuron and second of simulated time.
    rate: f64,
}

impl Row {
    /// Prints the line, and appends it to the records. `first` is the real-time factor of the first line.
    fn show(&self, network: &str, first: f64, log: Option<&mut Log>) -> Result<()> {
        let Self { simulator, version, threads, neurons, build_seconds, real_time_factor: factor, rate } =
            self;
        let name = format!("{simulator} {version}");
        let median = factor.median;
        println!(
            "{network:<16} {name:<18} {threads:>8} {neurons:>9} {build_seconds:>8.2} {median:>10.3} \
             {rate:>10.2} {:>9.2}",
            median / first
        );
        let Some(log) = log else { return Ok(()) };
        let to_first = [factor.min, Some(median), factor.max].map(|value| value.unwrap_or(median) / first);
        log.append(MeasuredRow {
            kind: Kind::Simulators,
            adapter: None,
            parameters: [
                ("network", network.into()),
                ("neurons", (*neurons).into()),
                ("simulator", simulator.as_str().into()),
                ("threads", threads.parse::<u64>()?.into()),
                ("version", version.as_str().into()),
            ]
            .into(),
            figures: [
                ("build_seconds", Figure::once("s", *build_seconds)),
                ("rate", Figure::once("spikes/s", *rate)),
                ("real_time_factor", factor.clone()),
                ("to_first", Figure { repetitions: factor.repetitions, ..Figure::of("", &to_first) }),
            ]
            .into(),
        })?;
        Ok(())
    }
}

pub(crate) fn run(args: &Args) -> Result<()> {
    if let Some(Subcommand::Doom(args)) = &args.subcommand {
        return doom::run(args);
    }
    let mut log = args.record.open(PROGRAM)?;
    let kvrm = kvrm()?;
    let python = python("compare", "nest, brian2", &PACKAGES)?;
    let (threads, seconds) = (args.threads.to_string(), args.seconds.to_string());
    let usual = NETWORKS.map(|(name, _)| name.to_owned());
    println!(
        "{:<16} {:<18} {:>8} {:>9} {:>8} {:>10} {:>10} {:>9}",
        "network", "simulator", "threads", "neurons", "build s", "real time", "spikes/s", "to first"
    );
    for network in if args.networks.is_empty() { &usual[..] } else { &args.networks } {
        let known = NETWORKS.iter().find(|(name, _)| name == network).map_or("1", |(_, scale)| scale);
        let scale = args.scale.as_deref().unwrap_or(known);
        let mut first = None;
        for (engine, threads) in [("parallel", &*threads), ("reference", "1")] {
            let bench = ["spike", "bench", network, "--engine", engine, "--json", "--scale", scale];
            let options = ["--threads", threads, "--seconds", &seconds];
            let row = measure_kvrm(engine, threads, Command::new(&kvrm).args(bench).args(options))?;
            row.show(network, *first.get_or_insert(row.real_time_factor.median), log.as_mut())?;
        }
        for simulator in SIMULATORS {
            let script = crate::root::root().join("xtask/src/compare/simulators.py");
            let arguments = [simulator, network, scale, &threads, &seconds];
            match measure_simulator(simulator, &threads, Command::new(&python).arg(script).args(arguments))? {
                Ok(row) => row.show(network, first.unwrap_or(1.0), log.as_mut())?,
                Err(reason) => println!("{network:<16} {simulator:<18} {reason}"),
            }
        }
    }
    Ok(())
}

/// Measures KVRM with the command of `kvrm spike bench`.
fn measure_kvrm(engine: &str, threads: &str, command: &mut Command) -> Result<Row> {
    let BenchOutput { neurons, dt, build_seconds, steps, all_seconds, spikes } = answer(command)?;
    let time = steps as f64 * dt / 1000.0;
    Ok(Row {
        simulator: format!("kvrm {engine}"),
        version: String::new(),
        threads: threads.to_owned(),
        neurons,
        build_seconds,
        real_time_factor: factor(&all_seconds, time)?,
        rate: spikes as f64 / neurons as f64 / time,
    })
}

/// Measures a simulator with the command of `simulators.py`. Returns a reason if the simulator lacks the network.
fn measure_simulator(simulator: &str, threads: &str, command: &mut Command) -> Result<Result<Row, String>> {
    let output: SimulatorOutput = answer(command)?;
    if let Some(reason) = output.skipped {
        return Ok(Err(reason));
    }
    Ok(Ok(Row {
        simulator: simulator.to_owned(),
        version: output.version,
        threads: if simulator == "brian2" { "1".to_owned() } else { threads.to_owned() },
        neurons: output.neurons,
        build_seconds: output.build_seconds,
        real_time_factor: factor(&output.all_seconds, output.ms / 1000.0)?,
        rate: output.rate,
    }))
}

/// Returns the real-time factor of repetitions that each simulate `time` seconds.
fn factor(all_seconds: &[f64], time: f64) -> Result<Figure> {
    ensure!(!all_seconds.is_empty(), "the simulator reported no repetitions");
    Ok(Figure::of("", &all_seconds.iter().map(|seconds| seconds / time).collect::<Vec<_>>()))
}
