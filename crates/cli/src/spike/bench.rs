//! `kvrm spike bench`.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context as _, Result};
use kvrm::spiking::{Executor, Recorder, State};
use kvrm_records::{Figure, Kind, Measured, RecordArgs};
use serde_json::json;

use super::engine::{Chosen, EngineArgs};
use super::source::{self, MakeArgs, NAMES, Source};
use crate::bench::seconds;
use crate::number;
use crate::output::Output;
use crate::record;

/// How often each measurement is repeated; the median counts.
const REPETITIONS: usize = 3;
/// Steps of the first run that the speed is learned from.
const FIRST_STEPS: u64 = 16;
/// Steps after which a network that is driven from outside is driven the same way again.
const INPUT_STEPS: u64 = 1000;
/// The most spikes that are counted.
const SPIKES_MAX: usize = 1 << 30;

/// What the help says at its end.
const HELP: &str = "\
Networks are built and settle before the clock starts. The repetitions begin with the same state and record nothing; \
the median counts. Then the same steps are made once more with a recorder, which says how many spikes there were and \
how many synapses they reached. A real-time factor is the time it took by the time that went by in the network.";

/// Arguments of `kvrm spike bench`.
#[derive(clap::Args)]
#[command(after_help = format!("{HELP}\n\n{}\n\n{}", source::HELP, number::HELP))]
pub(crate) struct Args {
    /// The networks: files or names; all with names unless said, the microcircuit at a scale of 0.1.
    networks: Vec<String>,
    #[command(flatten)]
    make: MakeArgs,
    #[command(flatten)]
    engine: EngineArgs,
    /// About how long each of the three repetitions takes.
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = seconds)]
    seconds: f64,
    /// How much of the network's time goes by before anything is measured, in ms.
    #[arg(long, value_name = "MS", default_value = "100", value_parser = source::factor)]
    settle: f64,
    /// Print one JSON object a network, one a line.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    record: RecordArgs,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let all = NAMES.map(|(name, _)| name.to_owned());
    let names = if args.networks.is_empty() { &all[..] } else { &args.networks };
    let mut log = args.record.open(record::PROGRAM)?;
    let chosen = args.engine.choose()?;
    let mut out = Output::new();
    let mut place = String::new();
    for name in names {
        let mut make = args.make.clone();
        // Without a scale all networks with names are to be measured in seconds.
        let usual = NAMES.iter().find(|(known, _)| known == name && args.networks.is_empty());
        make.scale = make.scale.or(usual.map(|(_, scale)| *scale));
        let begin = Instant::now();
        let source = Source::open(name, &make)?;
        let build = begin.elapsed().as_secs_f64();
        let engine = chosen.sized(source.network.neurons());
        // What is wrong with the first network is said before anything else.
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
                "engine": engine.name(), "device": engine.device, "threads": engine.threads(),
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
        // Each line is shown at once, so nothing is lost if the next measurement fails.
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
            log.append(Measured {
                kind: Kind::Spiking,
                adapter: engine.adapter().map(record::adapter),
                parameters,
                figures: measured.figures(dt),
            })?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn write_head(out: &mut Output, engine: &Chosen) -> Result<()> {
    writeln!(out, "on {}", engine.place())?;
    writeln!(
        out,
        "{:<16} {:>9} {:>11} {:>8} {:>8} {:>10} {:>10} {:>10} {:>10}",
        "network", "neurons", "synapses", "build s", "steps", "us/step", "real time", "spikes", "events/s"
    )?;
    Ok(out.flush()?)
}

/// A measurement: all repetitions made the same steps.
struct Repetitions {
    steps: u64,
    spikes: u64,
    /// Synapses that these spikes reached.
    events: u64,
    /// In order.
    all_seconds: Vec<f64>,
}

impl Repetitions {
    /// The figures of all repetitions, of steps of `dt` ms.
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
    // Longer and longer runs tell how many steps take as long as they shall.
    let mut steps = FIRST_STEPS;
    loop {
        let seconds = timed(executor, source, steps, None)?;
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

/// Makes some steps; gives the seconds they took. What drives them is made before, and used again part by part.
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
