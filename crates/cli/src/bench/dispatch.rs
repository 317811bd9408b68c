//! `kvrm bench dispatch`: what is proved of a network that chooses classes, and what each mode costs.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use indicatif::ProgressBar;
use kvrm::models::{
    Architecture, DispatchNetwork, SmallDispatchNetwork, Weights, certify_dispatch, sha256_of,
};
use kvrm::{Dispatch, GpuEngine, Mode};
use serde_json::{Value, json};

use super::guest::{self, Guest};
use super::measure::Measurement;
use super::{check_lanes, measured, seconds};
use crate::engine::AdapterArgs;
use crate::number;
use crate::output::{Output, note};

/// What the help says at its end.
const HELP: &str = "\
First comes what is proved: of the dispatch network the certificate of `kvrm verify`; of the small one, how much of \
its domain it gets right. Then the same guest is measured in every mode, with the network and without, as `kvrm \
bench` does.";

/// Arguments of `kvrm bench dispatch`.
#[derive(clap::Args)]
#[command(after_help = format!("{HELP}\n\n{}", number::HELP))]
pub(super) struct Args {
    #[command(flatten)]
    adapter: AdapterArgs,
    /// The numbers of lanes to measure with.
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "1,1024", value_parser = number::count)]
    lanes: Vec<u64>,
    /// What to run: mix, sha256, sieve, or the file of a program.
    #[arg(long, value_name = "NAME|FILE", default_value = "mix")]
    guest: String,
    /// About how long each of the three repetitions of a measurement takes.
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = seconds)]
    seconds: f64,
    /// Other weights than those that come with KVRM: a .safetensors file of a dispatch or small-dispatch network.
    #[arg(long, value_name = "FILE")]
    weights: Option<PathBuf>,
    /// Print JSON objects, one a line: the proof, then a measurement each.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<ExitCode> {
    // What is wrong with the arguments is said before anything is measured.
    let guest = guest::find(&args.guest)?;
    check_lanes(&args.lanes)?;
    let weights = match &args.weights {
        Some(path) => Weights::load(path)?,
        None => Weights::builtin(Architecture::Dispatch)?.context("no such weights come with KVRM")?.0,
    };
    // Weights of other networks are refused here.
    let dispatches: Vec<Dispatch> = Mode::ALL
        .into_iter()
        .map(|mode| Dispatch::with_weights(mode, weights.clone()))
        .collect::<Result<_, _>>()?;
    let engine = GpuEngine::open(args.adapter.adapter.as_deref())?;
    if !args.json {
        note(format_args!("running on {}", engine.device().info()));
    }
    let mut out = Output::new();
    let (text, proof) = prove(&weights)?;
    if args.json {
        writeln!(out, "{proof}")?;
    } else {
        writeln!(out, "{text}")?;
        writeln!(out, "{:<12} {:>8} {:>12} {:>10}", "mode", "lanes", "MIPS", "of table")?;
    }
    out.flush()?;
    for &lanes in &args.lanes {
        let mut table = None;
        for dispatch in &dispatches {
            let row = row(&engine, dispatch, &guest, lanes, args.seconds)?;
            let share = row.mips / *table.get_or_insert(row.mips);
            if args.json {
                writeln!(
                    out,
                    "{}",
                    json!({
                        "device": engine.device().info().to_string(), "guest": guest.name,
                        "mode": dispatch.mode().name(), "lanes": lanes, "mips": row.mips, "of_table": share,
                        "repetitions": row.all_mips.len(), "all_mips": row.all_mips,
                    })
                )?;
            } else {
                let (mode, percent) = (dispatch.mode().name(), 100.0 * share);
                writeln!(out, "{mode:<12} {lanes:>8} {:>12.2} {percent:>8.1} %", row.mips)?;
            }
            out.flush()?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A measurement of a mode.
struct Row {
    mips: f64,
    all_mips: Vec<f64>,
}

fn row(engine: &GpuEngine, dispatch: &Dispatch, guest: &Guest, lanes: u64, seconds: f64) -> Result<Row> {
    let engine = engine.clone().with_dispatch(dispatch.clone());
    let (_, all) =
        measured(engine, guest, lanes, seconds).with_context(|| format!("mode {}", dispatch.mode()))?;
    let all_mips: Vec<f64> = all.iter().map(Measurement::mips).collect();
    Ok(Row { mips: all_mips[all_mips.len() / 2], all_mips })
}

/// What is proved of a network, as text and as JSON.
fn prove(weights: &Weights) -> Result<(String, Value)> {
    if weights.architecture() == Architecture::SmallDispatch {
        let agreement = SmallDispatchNetwork::from_flat(weights.values())?.agreement();
        let percent = |part: u32| 100.0 * f64::from(part) / f64::from(agreement.tuples);
        let text = format!(
            "{:<24}small-dispatch, {} parameters\n{:<24}{}\n{:<24}{}, {} right: {:.3} %; the most a top byte tells \
             are {:.3} %\n",
            "network",
            SmallDispatchNetwork::PARAMETERS,
            "sha256",
            sha256_of(weights.values()),
            "tuples",
            agreement.tuples,
            agreement.right,
            percent(agreement.right),
            percent(agreement.ceiling),
        );
        return Ok((text, serde_json::to_value(agreement)?));
    }
    let network = DispatchNetwork::from_flat(weights.values())?;
    // The sweep takes a top byte at a time.
    let bar = ProgressBar::new(256);
    let certificate = certify_dispatch(&network, None, &|done| bar.set_position(done.into()));
    bar.finish_and_clear();
    Ok((certificate.to_string(), serde_json::to_value(&certificate)?))
}
