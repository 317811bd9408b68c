//! `kvrm spike bench`.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context as _, Result};
use kvrm::spiking::{Executor, Recorder, State};
use kvrm_records::{Figure, Kind, MeasuredRow, RecordArgs};
use serde_json::json;

use super::engine::{ChosenEngine, EngineArgs};
use super::source::{self, MakeArgs, NAMES, Source};
use crate::bench::seconds;
use crate::number;
use crate::output::Output;
use crate::record;

/// The number of repetitions of each measurement, of which the median counts.
const REPETITIONS: usize = 3;
/// The number of steps of the first run of the calibration.
const FIRST_STEPS: u64 = 16;
/// The number of steps after which the input of a driven network repeats.
const INPUT_STEPS: u64 = 1000;
/// The largest number of spikes that are counted.
const SPIKES_MAX: usize = 1 << 30;

/// The text at the end of the help.
const HELP: &str = "\
Building the network and the settling time are not timed. All repetitions start from the same state and record nothing; \
the median counts. Then the same steps run once more with a recorder, which counts the spikes and the synapses that they \
reached. The real-time factor is the time of the run divided by the simulated time: below 1 is faster than real time.";

/// Arguments of `kvrm spike bench`.
#[derive(clap::Args)]
#[command(after_help = format!("{HELP}\n\n{}\n\n{}", source::HELP, number::HELP))]
pub(crate) struct Args {
    /// The networks: files or names. The default is all networks with names, with the microcircuit at scale 0.1.
    networks: Vec<String>,
    #[command(flatten)]
    make: MakeArgs,
    #[command(flatten)]
    engine: EngineArgs,
    /// The approximate time of each of the three repetitions, in seconds.
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = seconds)]
    seconds: f64,
    /// The simulated time before the measurement, in which the network settles, in ms.
    #[arg(long, value_name = "MS", default_value = "100", value_parser = source::factor)]
    settle: f64,
    /// Print one JSON object per network, one per line.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    record: RecordArgs,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let all = NAMES.map(|(name, _)| name.to_owned());
    let names = if args.networks.is_empty() { &all[..] } else { &args.networks };
    let mut log = args.record.open(record::PROGRAM)?;
    let opened = args.engine.open()?;
    let mut out = Output::new();
    let mut place = String::new();
    for name in names {
        let mut make = args.make.clone();
        // Without arguments, use scales at which every network is measured in seconds.
        let usual = NAMES.iter().find(|(known, _)| known == name && args.networks.is_empty());
        make.scale = make.scale.or(usual.map(|(_, scale)| *scale));
        let begin = Instant::now();
        let source = Source::open(name, &make)?;
        let build = begin.elapsed().as_secs_f64();
        let engine = opened.choose(source.network.neurons());
        // The head comes after the first network is open, so that an error about it is the only output.
        if place != engine.place() && !args.json {
            engine.announce();
            write_head(&mut out, &engine)?;
            place = engine.place();
        }
        let mut executor = engine.executor(&source.network)?;
        let measured = measure(&mut *executor, &source, args).with_context(|| name.clone())?;
        let Repetitions { steps, spikes, events, ref all_seconds } = measured;
        let seconds = all_seconds[all_seconds.len() / 2];
        let dt = source.network.parts().dt;
        let step = seconds / steps as f64;
        let factor = step / (dt / 1000.0);
        let (neurons, synapses) = (source.network.neurons(), source.network.synapses().count());
        if args.json {
            let line = json!({
                "network": source.title, "neurons": neurons, "synapses": synapses, "dt": dt,
                "engine": engine.name(), "device": engine.device(), "threads": engine.threads(),
                "build_seconds": build, "steps": steps, "seconds": seconds, "us_per_step": 1e6 * step,
                "real_time_factor": factor, "spikes": spikes, "synaptic_events": events,
                "events_per_second": events as f64 / seconds,
                "repetitions": all_seconds.len(), "all_seconds": all_seconds,
            });
            writeln!(out, "{line}")?;
        } else {
            writeln!(
                out,
                "{:<16} {neurons:>9} {synapses:>11} {build:>8.2} {steps:>8} {:>10.2} {factor:>10.4} {spikes:>10} {:>10.3e}",
                source.title,
                1e6 * step,
                events as f64 / seconds
            )?;
        }
        // Show each line at once, so that nothing is lost if the next measurement fails.
        out.flush()?;
        if let Some(log) = &mut log {
            let mut parameters: BTreeMap<_, _> = [
                ("dt", dt.into()),
                ("engine", engine.name().into()),
                ("network", source.title.as_str().into()),
                ("neurons", neurons.into()),
                ("synapses", synapses.into()),
            ]
            .into();
            parameters.extend(source.drive.map(|drive| ("drive", drive.into())));
            parameters.extend(engine.threads().map(|threads| ("threads", (threads as u64).into())));
            log.append(MeasuredRow {
                kind: Kind::Spiking,
                adapter: engine.adapter().map(record::adapter),
                parameters,
                figures: measured.figures(dt),
            })?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn write_head(out: &mut Output, engine: &ChosenEngine) -> Result<()> {
    writeln!(out, "on {}", engine.place())?;
    writeln!(
        out,
        "{:<16} {:>9} {:>11} {:>8} {:>8} {:>10} {:>10} {:>10} {:>10}",
        "network", "neurons", "synapses", "build s", "steps", "us/step", "real time", "spikes", "events/s"
    )?;
    Ok(out.flush()?)
}

/// A measurement, whose repetitions all run the same steps.
struct Repetitions {
    steps: u64,
    spikes: u64,
    /// The synapses that these spikes reached.
    events: u64,
    /// The times of the repetitions in seconds, sorted.
    all_seconds: Vec<f64>,
}

impl Repetitions {
    /// Returns the figures of all repetitions, for steps of `dt` ms.
    fn figures(&self, dt: f64) -> BTreeMap<&'static str, Figure> {
        let of = |unit, value: &dyn Fn(f64) -> f64| {
            Figure::of(unit, &self.all_seconds.iter().map(|seconds| value(*seconds)).collect::<Vec<_>>())
        };
        let steps = self.steps as f64;
        [
            ("events_a_second", of("synaptic events/s", &|seconds| self.events as f64 / seconds)),
            ("microseconds_a_step", of("us", &|seconds| 1e6 * seconds / steps)),
            ("real_time_factor", of("", &|seconds| 1000.0 * seconds / (steps * dt))),
            ("spikes_a_step", Figure::once("spikes", self.spikes as f64 / steps)),
            ("steps", Figure::once("steps", steps)),
        ]
        .into()
    }
}

fn measure(executor: &mut dyn Executor, source: &Source, args: &Args) -> Result<Repetitions> {
    let dt = source.network.parts().dt;
    let settle = (args.settle / dt).ceil() as u64;
    timed(executor, source, settle, None)?;
    // Calibration: longer and longer runs give the number of steps that takes the wanted time. The shorter of two runs counts,
    // as an engine may compile kernels in the first one.
    let mut steps = FIRST_STEPS;
    loop {
        let seconds = timed(executor, source, steps, None)?.min(timed(executor, source, steps, None)?);
        let wanted = args.seconds / seconds.max(1e-9) * steps as f64;
        if seconds >= 0.3 * args.seconds {
            steps = (wanted as u64).clamp(1, INPUT_STEPS).max(wanted as u64 / INPUT_STEPS * INPUT_STEPS);
            break;
        }
        steps = if steps < INPUT_STEPS { (4 * steps).min(INPUT_STEPS) } else { 4 * steps };
    }
    let state: State = executor.state()?;
    let mut all_seconds = Vec::new();
    for _ in 0..REPETITIONS {
        executor.set_state(&state)?;
        all_seconds.push(timed(executor, source, steps, None)?);
    }
    all_seconds.sort_unstable_by(f64::total_cmp);
    executor.set_state(&state)?;
    let mut recorder = Recorder::new(SPIKES_MAX);
    timed(executor, source, steps, Some(&mut recorder))?;
    let lengths = &source.network.synapses().lengths;
    let reached = recorder.spikes().iter().map(|spike| u64::from(lengths[spike.neuron as usize])).sum();
    Ok(Repetitions { steps, spikes: recorder.spikes().len() as u64, events: reached, all_seconds })
}

/// Runs some steps and returns the seconds they took. The input is generated before, and repeats after each part.
fn timed(
    executor: &mut dyn Executor,
    source: &Source,
    steps: u64,
    mut recorder: Option<&mut Recorder>,
) -> Result<f64> {
    let part = steps.min(INPUT_STEPS);
    let input = source.input(0, part)?;
    let is_driven = !input.injections().is_empty();
    let begin = Instant::now();
    if !is_driven {
        executor.run(steps, &input, recorder)?;
    } else {
        for _ in 0..steps / part {
            executor.run(part, &input, recorder.as_deref_mut())?;
        }
    }
    Ok(begin.elapsed().as_secs_f64())
}
