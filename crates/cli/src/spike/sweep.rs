//! `kvrm spike sweep`.

use std::io::Write as _;
use std::ops::RangeInclusive;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use kvrm::GpuSelection;
use kvrm::spiking::{OpenBurstEngine, Recorder, Statistics};
use serde_json::{Value, json};

use super::engine::{ChosenEngine, EngineArgs};
use super::recording::Recording;
use super::source::{self, MakeArgs, Source};
use crate::number;
use crate::output::Output;

/// The number of steps for which input is made at once.
const PART: u64 = 1000;
/// The largest number of networks of a sweep.
const POINTS_MAX: u64 = 10_000_000;

/// The text at the end of the help.
const HELP: &str = "\
Each combination of network, seed, scale and drive is run on its own. Each GPU takes the next one when it is ready. The lines \
come in the order of the combinations, and the same combination gives the same spikes on every engine and host.

kvrm spike sweep vogels-abbott --seed 1-100 --drive 1,1.5,2 --gpus all";

/// Arguments of `kvrm spike sweep`.
#[derive(clap::Args)]
#[command(after_help = format!("{HELP}\n\n{}\n\n{}", source::HELP, number::HELP))]
pub(crate) struct Args {
    /// The networks: files or names.
    #[arg(required = true, value_name = "NETWORK")]
    networks: Vec<String>,
    /// The seeds from which networks with names are built: numbers and ranges, separated by commas, such as 1-100,200.
    #[arg(long = "seed", value_name = "LIST", value_delimiter = ',', value_parser = seeds)]
    seeds: Vec<RangeInclusive<u64>>,
    /// The sizes of networks with names, relative to their published sizes.
    #[arg(long = "scale", value_name = "LIST", value_delimiter = ',', value_parser = source::factor)]
    scales: Vec<f64>,
    /// The drives of vogels-abbott, in mV.
    #[arg(long = "drive", value_name = "LIST", value_delimiter = ',', allow_negative_numbers = true, value_parser = source::millivolts)]
    drives: Vec<f64>,
    /// The length of a step of a NIR graph, in ms, as in the program that wrote it. The default is 0.1.
    #[arg(long, value_name = "MS", value_parser = source::factor)]
    dt: Option<f64>,
    /// The number of steps of each network. The default is one second of simulated time.
    #[arg(long, value_name = "N", value_parser = number::count)]
    steps: Option<u64>,
    /// The time at the start that rates leave out, in which a network settles, in ms.
    #[arg(long, value_name = "MS", default_value = "0", value_parser = source::milliseconds)]
    skip: f64,
    /// The largest number of spikes that are recorded of each network. More spikes are an error.
    #[arg(long, value_name = "SPIKES", default_value = "20M", value_parser = number::count)]
    capacity: u64,
    #[command(flatten)]
    engine: EngineArgs,
    /// The GPUs that run networks at the same time: `all`, the best `N`, or a list of indices or names with commas, as `kvrm
    /// doctor` lists them, such as 0,2.
    #[arg(long, value_name = "all|N|LIST", conflicts_with = "adapter")]
    gpus: Option<GpuSelection>,
    /// Print one JSON object per network, one per line.
    #[arg(long)]
    json: bool,
}

/// Parses a number, or the first and the last number of a range.
fn seeds(text: &str) -> Result<RangeInclusive<u64>, String> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let range = number::count(first)?..=number::count(last)?;
    if range.is_empty() {
        Err(format!("{last} is below {first}: the first number comes first"))
    } else {
        Ok(range)
    }
}

/// A network to run.
#[derive(Debug)]
struct Point<'a> {
    network: &'a str,
    make: MakeArgs,
}

impl Args {
    /// Returns all combinations of networks, seeds, scales and drives.
    fn points(&self) -> Result<Vec<Point<'_>>> {
        let seeds = self.seeds.iter().map(|range| (range.end() - range.start()).saturating_add(1));
        let seeds = seeds.fold(0_u64, u64::saturating_add);
        let lists = [self.networks.len(), self.scales.len().max(1), self.drives.len().max(1)];
        let count = lists.iter().fold(seeds.max(1), |count, list| count.saturating_mul(*list as u64));
        ensure!(count <= POINTS_MAX, "{count} combinations: expected at most {POINTS_MAX}");
        let seeds = optional(self.seeds.iter().cloned().flatten());
        let (scales, drives) = (optional(self.scales.iter().copied()), optional(self.drives.iter().copied()));
        let mut points = Vec::new();
        for network in &self.networks {
            for &seed in &seeds {
                for &scale in &scales {
                    for &drive in &drives {
                        let make = MakeArgs { seed, scale, drive, dt: self.dt };
                        points.push(Point { network, make });
                    }
                }
            }
        }
        Ok(points)
    }
}

/// Returns the values, or `None` if there are none.
fn optional<T>(values: impl Iterator<Item = T>) -> Vec<Option<T>> {
    let mut values: Vec<Option<T>> = values.map(Some).collect();
    if values.is_empty() {
        values.push(None);
    }
    values
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let points = args.points()?;
    let engines = args.engine.open_several(args.gpus.as_ref())?;
    let mut out = Output::new();
    let begin = Instant::now();
    engines.sweep(
        points.len(),
        |engine, number| {
            let point = &points[number];
            simulate(engine, point, args).with_context(|| point.name())
        },
        |number, outcome| {
            let point = &points[number];
            if args.json {
                writeln!(out, "{}", outcome.to_json(point))?;
            } else {
                // The head comes after the first network, so that an error about it is the only output.
                if number == 0 {
                    write_head(&mut out)?;
                }
                outcome.write(point, &mut out)?;
            }
            Ok(out.flush()?)
        },
    )?;
    if !args.json {
        let (count, seconds) = (points.len(), begin.elapsed().as_secs_f64());
        let engines = engines.engines().len();
        writeln!(out, "{count} networks in {seconds:.3} s, {engines} at the same time")?;
    }
    Ok(ExitCode::SUCCESS)
}

fn write_head(out: &mut Output) -> Result<()> {
    writeln!(
        out,
        "{:<16} {:>8} {:>8} {:>8} {:>10} {:>12} {:>10} {:>8} {:>8}",
        "network", "seed", "scale", "drive", "neurons", "spikes", "spikes/s", "cv", "seconds"
    )?;
    Ok(())
}

impl Point<'_> {
    /// Returns the network and its parameters, for errors.
    fn name(&self) -> String {
        let MakeArgs { seed, scale, drive, .. } = &self.make;
        let seed = seed.map(|seed| format!(", seed {seed}")).unwrap_or_default();
        let scale = scale.map(|scale| format!(", scale {scale}")).unwrap_or_default();
        let drive = drive.map(|drive| format!(", drive {drive}")).unwrap_or_default();
        format!("{}{seed}{scale}{drive}", self.network)
    }
}

/// What a network has done.
struct Outcome {
    neurons: u32,
    synapses: u64,
    steps: u64,
    dt: f64,
    /// The statistics of all neurons.
    all: Statistics,
    /// The name and the statistics of each population.
    populations: Vec<(String, Statistics)>,
    /// The time of the steps.
    seconds: f64,
    engine: &'static str,
    device: Option<String>,
}

/// Runs a network.
fn simulate(engine: &OpenBurstEngine, point: &Point<'_>, args: &Args) -> Result<Outcome> {
    let source = Source::open(point.network, &point.make)?;
    let network = &source.network;
    let dt = network.parts().dt;
    let steps = args.steps.unwrap_or_else(|| source::one_second(dt));
    let engine = ChosenEngine::of(engine, network.neurons());
    let mut executor = engine.executor(network)?;
    let mut recorder = Recorder::new(usize::try_from(args.capacity)?);
    let begin = Instant::now();
    for at in (0..steps).step_by(PART as usize) {
        let count = PART.min(steps - at);
        executor.run(count, &source.input(at, count)?, Some(&mut recorder))?;
    }
    let seconds = begin.elapsed().as_secs_f64();
    let shown: Vec<u32> = (0..network.populations().len() as u32).collect();
    let spikes = recorder.take();
    let recording =
        Recording { title: &source.title, network, shown: &shown, spikes: &spikes, steps: 0..steps, dt };
    let skip = (args.skip / dt).round() as u64;
    let populations = recording.statistics(skip);
    Ok(Outcome {
        neurons: network.neurons(),
        synapses: network.synapses().count(),
        steps,
        dt,
        all: Statistics::new(&spikes, 0..network.neurons(), skip.min(steps)..steps, dt),
        populations: populations.into_iter().map(|(of, statistics)| (of.name.clone(), statistics)).collect(),
        seconds,
        engine: engine.name(),
        device: engine.device(),
    })
}

impl Outcome {
    fn write(&self, point: &Point<'_>, out: &mut Output) -> Result<()> {
        let MakeArgs { seed, scale, drive, .. } = &point.make;
        let Self { neurons, seconds, all, .. } = self;
        let [seed, scale, drive, cv] = [
            seed.map(|seed| seed.to_string()),
            scale.map(|scale| scale.to_string()),
            drive.map(|drive| drive.to_string()),
            all.cv.map(|cv| format!("{cv:.3}")),
        ]
        .map(|value| value.unwrap_or_else(|| "-".to_owned()));
        writeln!(
            out,
            "{:<16} {seed:>8} {scale:>8} {drive:>8} {neurons:>10} {:>12} {:>10.3} {cv:>8} {seconds:>8.3}",
            point.network, all.spikes, all.rate
        )?;
        Ok(())
    }

    fn to_json(&self, point: &Point<'_>) -> Value {
        let MakeArgs { seed, scale, drive, .. } = &point.make;
        let of = |statistics: &Statistics| {
            let Statistics { neurons, spikes, rate, cv, .. } = statistics;
            json!({"neurons": neurons, "spikes": spikes, "rate": rate, "cv": cv})
        };
        let populations = self.populations.iter().map(|(name, statistics)| {
            let mut population = of(statistics);
            population["name"] = name.as_str().into();
            population
        });
        json!({
            "network": point.network, "seed": seed, "scale": scale, "drive": drive,
            "neurons": self.neurons, "synapses": self.synapses, "dt": self.dt, "steps": self.steps,
            "engine": self.engine, "device": self.device, "seconds": self.seconds,
            "spikes": self.all.spikes, "rate": self.all.rate, "cv": self.all.cv,
            "populations": populations.collect::<Vec<_>>(),
        })
    }
}
