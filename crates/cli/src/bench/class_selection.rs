//! `kvrm bench class-selection`: the certificate of a network for class selection, and the speed of each mode.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use indicatif::ProgressBar;
use kvrm::models::{
    Architecture, DispatchNetwork, SmallDispatchNetwork, Weights, certify_dispatch, sha256_of,
};
use kvrm::{ClassSelection, GpuEngine, SelectionMode, Translation};
use kvrm_records::{Figure, Kind, MeasuredRow, RecordArgs};
use serde_json::{Value, json};

use super::arguments::seconds;
use super::guest::{self, Guest};
use super::measure::{Measurement, measure_guest};
use crate::engine::AdapterArgs;
use crate::number;
use crate::output::{Output, note};
use crate::record;

/// The text at the end of the help.
const HELP: &str = "\
The first output is the proof: for the dispatch network the certificate of `kvrm verify`, for the small-dispatch network \
the share of the tuples that it classifies correctly. Then the same guest is measured in every mode, as `kvrm bench` \
does.";

/// Arguments of `kvrm bench class-selection`.
#[derive(clap::Args)]
#[command(after_help = format!("{HELP}\n\n{}", number::HELP))]
pub(super) struct Args {
    #[command(flatten)]
    adapter: AdapterArgs,
    /// The numbers of lanes to measure with, separated by commas.
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "1,1024", value_parser = number::lanes)]
    lanes: Vec<u64>,
    /// The guest to run: mix, render, sha256, sieve, or the file of a program.
    #[arg(long, value_name = "NAME|FILE", default_value = "mix")]
    guest: String,
    /// The approximate time of each of the three repetitions of a measurement, in seconds.
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = seconds)]
    seconds: f64,
    /// The weights of the network: a .safetensors file of a dispatch or small-dispatch network. The default is the
    /// dispatch network that comes with KVRM.
    #[arg(long, value_name = "FILE")]
    weights: Option<PathBuf>,
    /// Print JSON objects, one per line: the proof, then the measurements.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    record: RecordArgs,
}

pub(super) fn run(args: &Args) -> Result<ExitCode> {
    // Report all errors of the arguments before anything is measured.
    let guest = guest::find(&args.guest)?;
    let weights = match &args.weights {
        Some(path) => Weights::load(path).with_context(|| format!("--weights '{}'", path.display()))?,
        None => {
            Weights::builtin(Architecture::Dispatch)?
                .context("this build of KVRM has no weights of a dispatch network; give --weights")?
                .0
        }
    };
    // Refuses weights of other networks.
    let selections: Vec<ClassSelection> = SelectionMode::ALL
        .into_iter()
        .map(|mode| ClassSelection::with_weights(mode, weights.clone()))
        .collect::<Result<_, _>>()?;
    let mut log = args.record.open(record::PROGRAM)?;
    let engine = GpuEngine::open(args.adapter.adapter.as_deref())?;
    let adapter = record::adapter(engine.device().info());
    if !args.json {
        note(format_args!("running on {}", engine.device().info()));
    }
    let mut out = Output::new();
    let Proof { text, json, figures } = prove(&weights)?;
    let network = weights.architecture().name();
    if let Some(log) = &mut log {
        let parameters = [("network", network.into())].into();
        log.append(MeasuredRow { kind: Kind::Certificate, adapter: None, parameters, figures })?;
    }
    if args.json {
        writeln!(out, "{json}")?;
    } else {
        writeln!(out, "{text}")?;
        writeln!(out, "{:<12} {:>8} {:>12} {:>10}", "mode", "lanes", "MIPS", "of table")?;
    }
    out.flush()?;
    for &lanes in &args.lanes {
        // The speed of the mode `table`, which is the first.
        let mut table = None;
        for selection in &selections {
            let row = row(&engine, selection, &guest, lanes, args.seconds)?;
            let table_mips = *table.get_or_insert(row.mips);
            let share = row.mips / table_mips;
            if args.json {
                writeln!(
                    out,
                    "{}",
                    json!({
                        "device": engine.device().info().to_string(), "guest": guest.name,
                        "mode": selection.mode().name(), "lanes": lanes, "mips": row.mips, "of_table": share,
                        "repetitions": row.all_mips.len(), "all_mips": row.all_mips,
                    })
                )?;
            } else {
                let (mode, percent) = (selection.mode().name(), 100.0 * share);
                writeln!(out, "{mode:<12} {lanes:>8} {:>12.2} {percent:>8.1} %", row.mips)?;
            }
            out.flush()?;
            if let Some(log) = &mut log {
                let shares: Vec<f64> = row.all_mips.iter().map(|mips| 100.0 * mips / table_mips).collect();
                log.append(MeasuredRow {
                    kind: Kind::ClassSelection,
                    adapter: Some(adapter.clone()),
                    parameters: [
                        ("guest", guest.name.as_str().into()),
                        ("lanes", lanes.into()),
                        ("mode", selection.mode().name().into()),
                        ("network", network.into()),
                    ]
                    .into(),
                    figures: [
                        ("mips", Figure::of("MIPS", &row.all_mips)),
                        ("of_table", Figure::of("%", &shares)),
                    ]
                    .into(),
                })?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The measurement of a mode.
struct Row {
    mips: f64,
    all_mips: Vec<f64>,
}

fn row(
    engine: &GpuEngine,
    selection: &ClassSelection,
    guest: &Guest,
    lanes: u64,
    seconds: f64,
) -> Result<Row> {
    // Translated code asks no network, and modes are compared.
    let engine = engine.clone().with_class_selection(selection.clone()).with_translation(Translation::Off);
    let (_, all) =
        measure_guest(engine, guest, lanes, seconds).with_context(|| format!("mode {}", selection.mode()))?;
    let all_mips: Vec<f64> = all.iter().map(Measurement::mips).collect();
    Ok(Row { mips: all_mips[all_mips.len() / 2], all_mips })
}

/// The proof about a network, as text, as JSON and as figures of a record.
struct Proof {
    text: String,
    json: Value,
    figures: BTreeMap<&'static str, Figure>,
}

/// Certifies a dispatch network, or counts the tuples that a small-dispatch network classifies correctly.
fn prove(weights: &Weights) -> Result<Proof> {
    let parameters = ("parameters", Figure::once("weights", weights.values().len() as f64));
    if weights.architecture() == Architecture::SmallDispatch {
        let agreement = SmallDispatchNetwork::from_flat(weights.values())?.agreement();
        let percent = |part: u32| 100.0 * f64::from(part) / f64::from(agreement.tuples);
        let text = format!(
            "{:<24}small-selection, {} parameters\n{:<24}{}\n{:<24}{}, {} right: {:.3} %; at most {:.3} % are \
             possible from the top byte alone\n",
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
        let wrong = |right: u32| f64::from(agreement.tuples - right);
        let figures = [
            parameters,
            ("least_wrong_tuples", Figure::once("tuples", wrong(agreement.ceiling))),
            ("tuples", Figure::once("tuples", agreement.tuples.into())),
            ("wrong_tuples", Figure::once("tuples", wrong(agreement.right))),
        ];
        return Ok(Proof { text, json: serde_json::to_value(agreement)?, figures: figures.into() });
    }
    let network = DispatchNetwork::from_flat(weights.values())?;
    // The sweep reports progress after each of the 256 top bytes of a word.
    let bar = ProgressBar::new(256);
    let certificate = certify_dispatch(&network, None, &|done| bar.set_position(done.into()));
    bar.finish_and_clear();
    let figures = [
        parameters,
        ("bits", Figure::once("bits", certificate.exactness.bits.into())),
        ("margin", Figure::once("", certificate.domain.margin.into())),
        ("tuples", Figure::once("tuples", certificate.domain.tuples as f64)),
        ("words", Figure::once("words", certificate.sweep.words as f64)),
        ("wrong_tuples", Figure::once("tuples", certificate.domain.errors as f64)),
        ("wrong_words", Figure::once("words", certificate.sweep.errors as f64)),
    ];
    let json = serde_json::to_value(&certificate)?;
    Ok(Proof { text: certificate.to_string(), json, figures: figures.into() })
}
