//! `cargo xtask compare`: the networks of `kvrm spike bench` here and in simulators of others, on the same CPU in one run.
//!
//! NEST and Brian2 come from `PyPI` and run beside us; nothing links them.

use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;

use crate::oracle::kvrm;
use crate::system::python;

/// The versions that are compared with. Brian2 is not ready for newer versions of NumPy.
const PACKAGES: [&str; 5] = ["nest-simulator==3.10.0", "brian2==2.9.0", "cython", "numpy<2", "setuptools"];

/// Networks, and the scale at which each is small enough for all.
const NETWORKS: [(&str, &str); 2] = [("vogels-abbott", "1"), ("microcircuit", "0.1")];

const SIMULATORS: [&str; 2] = ["nest", "brian2"];

/// Arguments of `cargo xtask compare`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The networks: microcircuit, vogels-abbott, balanced; the first two unless said.
    networks: Vec<String>,
    /// How large they are, relative to their own size; 0.1 for the microcircuit and 1 for others unless said.
    #[arg(long, value_name = "FACTOR")]
    scale: Option<String>,
    /// Threads of each simulator; Brian2 has one.
    #[arg(long, value_name = "N", default_value_t = 2)]
    threads: u32,
    /// About how long each of three repetitions takes.
    #[arg(long, value_name = "SECONDS", default_value_t = 3.0)]
    seconds: f64,
}

/// What a simulator in Python says.
#[derive(Deserialize)]
struct Theirs {
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

/// What `kvrm spike bench` says.
#[derive(Deserialize)]
struct Ours {
    neurons: u64,
    dt: f64,
    build_seconds: f64,
    steps: u64,
    seconds: f64,
    spikes: u64,
}

/// A line of the table.
struct Row {
    simulator: String,
    threads: String,
    neurons: u64,
    build_seconds: f64,
    real_time_factor: f64,
    /// Spikes a second of a neuron.
    rate: f64,
}

impl Row {
    fn print(&self, network: &str, first: f64) {
        let Self { simulator, threads, neurons, build_seconds, real_time_factor, rate } = self;
        println!(
            "{network:<16} {simulator:<18} {threads:>8} {neurons:>9} {build_seconds:>8.2} {real_time_factor:>10.3} \
             {rate:>10.2} {:>9.2}",
            real_time_factor / first
        );
    }
}

pub(crate) fn run(args: &Args) -> Result<()> {
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
            let row = ours(engine, threads, Command::new(&kvrm).args(bench).args(options))?;
            row.print(network, *first.get_or_insert(row.real_time_factor));
        }
        for simulator in SIMULATORS {
            let script = crate::root().join("xtask/src/compare/simulators.py");
            let arguments = [simulator, network, scale, &threads, &seconds];
            match theirs(simulator, &threads, Command::new(&python).arg(script).args(arguments))? {
                Ok(row) => row.print(network, first.unwrap_or(1.0)),
                Err(reason) => println!("{network:<16} {simulator:<18} {reason}"),
            }
        }
    }
    Ok(())
}

fn ours(engine: &str, threads: &str, command: &mut Command) -> Result<Row> {
    let Ours { neurons, dt, build_seconds, steps, seconds, spikes } = answer(command)?;
    let time = steps as f64 * dt / 1000.0;
    Ok(Row {
        simulator: format!("kvrm {engine}"),
        threads: threads.to_owned(),
        neurons,
        build_seconds,
        real_time_factor: seconds / time,
        rate: spikes as f64 / neurons as f64 / time,
    })
}

/// A line, or why there is none.
fn theirs(simulator: &str, threads: &str, command: &mut Command) -> Result<Result<Row, String>> {
    let mut theirs: Theirs = answer(command)?;
    if let Some(reason) = theirs.skipped {
        return Ok(Err(reason));
    }
    theirs.all_seconds.sort_unstable_by(f64::total_cmp);
    let median = theirs.all_seconds.get(theirs.all_seconds.len() / 2).context("no repetition")?;
    Ok(Ok(Row {
        simulator: format!("{simulator} {}", theirs.version),
        threads: if simulator == "brian2" { "1".to_owned() } else { threads.to_owned() },
        neurons: theirs.neurons,
        build_seconds: theirs.build_seconds,
        real_time_factor: median / (theirs.ms / 1000.0),
        rate: theirs.rate,
    }))
}

/// The last line that a command prints, as JSON.
fn answer<T: serde::de::DeserializeOwned>(command: &mut Command) -> Result<T> {
    let output =
        command.stderr(Stdio::inherit()).output().with_context(|| format!("cannot run {command:?}"))?;
    ensure!(output.status.success(), "{command:?} failed; what it said is above");
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().last().with_context(|| format!("{command:?} printed nothing"))?;
    serde_json::from_str(line).with_context(|| format!("{command:?} printed {line}"))
}
