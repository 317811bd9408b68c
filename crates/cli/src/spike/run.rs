//! `kvrm spike run`.

use std::io::Write as _;
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use kvrm::spiking::{Network, State, Statistics, write_sampled_spikes, write_spikes};
use serde_json::{Value, json};

use super::engine::{ChosenEngine, EngineArgs};
use super::inject::{self, Inject, Injections};
use super::observe::{self, Observations, Plan};
use super::plot;
use super::recording::Recording;
use super::source::{self, MakeArgs, Source};
use crate::number;
use crate::output::Output;
use crate::picture::{self, Picture};

/// The text at the end of the help.
const HELP: &str = "\
Each population is shown with its number of spikes, its rate in spikes per second and neuron, and the coefficient of \
variation (cv) of the intervals between the spikes of a neuron: 0 for a clock, 1 for random spikes. The same network, \
seed and injections give the same spikes on every engine and host.

--inject 0-9,20:1.5@0-99 gives the neurons 0 to 9 and 20 an input of 1.5 in each of the first hundred steps. The unit is \
that of weights: FEAGI's unit, or mV. The name of a population stands for all its neurons. Without @STEPS, the input is \
given in every step.

--sample writes the columns step, neuron, population, x, y, z and potential of the recorded neurons that fire in the \
sampled steps. Populations are numbered from 0 in the order of `kvrm spike show`; x, y and z are the position in the \
grid. The potential is the value that is compared with the threshold: in FEAGI's units, in mV above the resting potential \
for lif, in mV for izhikevich, and empty for poisson. Sampling slows down only the sampled steps.";

/// Arguments of `kvrm spike run`.
#[derive(clap::Args)]
#[command(after_help = format!("{HELP}\n\n{}\n\n{}", source::HELP, number::HELP))]
pub(crate) struct Args {
    /// The network: a file or a name.
    network: String,
    #[command(flatten)]
    make: MakeArgs,
    /// The number of steps. The default is one second of simulated time.
    #[arg(long, value_name = "N", value_parser = number::count)]
    steps: Option<u64>,
    #[command(flatten)]
    engine: EngineArgs,
    /// Give neurons an input in some steps, or in every step. May be repeated.
    #[arg(long, value_name = "NEURONS:AMOUNT[@STEPS]", value_parser = inject::parse)]
    inject: Vec<Inject>,
    /// The populations to record, separated by commas. The default is all.
    #[arg(long, value_name = "POPULATION", value_delimiter = ',')]
    record: Vec<String>,
    /// The largest number of spikes that are recorded. More spikes are an error.
    #[arg(long, value_name = "SPIKES", default_value = "20M", value_parser = number::count)]
    capacity: u64,
    /// Draw a raster plot, with a point for each spike, as .svg or .png. Needs a build with the Cargo feature `plots`.
    #[arg(long, value_name = "FILE", value_parser = picture::picture)]
    raster: Option<Picture>,
    /// Draw the rate of each population over time, as .svg or .png. Needs a build with the Cargo feature `plots`.
    #[arg(long, value_name = "FILE", value_parser = picture::picture)]
    rates: Option<Picture>,
    /// Write the recorded spikes, as .npz or .csv.
    #[arg(long, value_name = "FILE", value_parser = columns_file)]
    spikes: Option<PathBuf>,
    /// Write the neurons that fire in the sampled steps, with position and potential, as .npz or .csv.
    #[arg(long, value_name = "FILE", value_parser = columns_file)]
    sample: Option<PathBuf>,
    /// The interval of --sample: the steps whose numbers are multiples of it are sampled.
    #[arg(long, value_name = "STEPS", default_value = "1", value_parser = period, requires = "sample")]
    every: NonZeroU64,
    /// Start from a state that --save-state has written.
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// Write the state after the last step to a .safetensors file.
    #[arg(long, value_name = "FILE")]
    save_state: Option<PathBuf>,
    /// Also show the mean correlation of pairs of neurons, and the published rates of the network.
    #[arg(long)]
    statistics: bool,
    /// The time at the start that rates and statistics leave out, in which the network settles, in ms.
    #[arg(long, value_name = "MS", default_value = "0", value_parser = source::milliseconds)]
    skip: f64,
    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

fn columns_file(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    let is_known = path.extension().is_some_and(|end| end == "npz" || end == "csv");
    if is_known { Ok(path) } else { Err("expected the name of a file in .npz or .csv".to_owned()) }
}

fn period(text: &str) -> Result<NonZeroU64, String> {
    NonZeroU64::new(number::count(text)?).ok_or_else(|| "expected 1 or more".to_owned())
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    // Report all errors of the arguments before anything runs.
    let engine = args.engine.open()?;
    let source = Source::open(&args.network, &args.make)?;
    let network = &source.network;
    let dt = network.parts().dt;
    let steps = args.steps.unwrap_or_else(|| source::one_second(dt));
    let shown = shown(network, &args.record)?;
    let injections = Injections::new(&args.inject, network)?;
    let engine = engine.choose(network.neurons());
    let mut executor = engine.executor(network)?;
    if let Some(path) = &args.state {
        executor.set_state(&State::load(path, network)?)?;
    }
    if !args.json {
        engine.announce();
    }
    let begin = executor.state()?.step;
    let end = begin.checked_add(steps).with_context(|| {
        format!("--steps {steps}: the number of the last step exceeds 64 bits; use fewer steps")
    })?;
    let plan = Plan {
        source: &source,
        injections: &injections,
        shown: &shown,
        capacity: usize::try_from(args.capacity)?,
        every: args.sample.is_some().then_some(args.every),
    };
    let Observations { spikes, sampled, seconds } = observe::observe(&mut *executor, &plan, begin..end)?;
    if let Some(path) = &args.save_state {
        executor.state()?.save(path)?;
    }
    let recording =
        Recording { title: &source.title, network, shown: &shown, spikes: &spikes, steps: begin..end, dt };
    if let Some(picture) = &args.raster {
        plot::raster(picture, &recording)?;
    }
    if let Some(picture) = &args.rates {
        plot::rate_curves(picture, &recording)?;
    }
    if let Some(path) = &args.spikes {
        write_spikes(path, &spikes)?;
    }
    if let Some(path) = &args.sample {
        write_sampled_spikes(path, &sampled)?;
    }
    let report = Report { args, source: &source, engine: &engine, recording: &recording, seconds };
    let mut out = Output::new();
    if args.json {
        writeln!(out, "{}", report.to_json())?;
    } else {
        report.write(&mut out)?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the numbers of the populations to record.
fn shown(network: &Network, names: &[String]) -> Result<Vec<u32>> {
    if names.is_empty() {
        return Ok((0..network.populations().len() as u32).collect());
    }
    let number = |name: &String| {
        network.population(name).with_context(|| {
            let known = network.populations().iter().map(|population| population.name.as_str());
            format!(
                "--record: there is no population '{name}', only {}",
                known.collect::<Vec<_>>().join(", ")
            )
        })
    };
    let mut numbers = names.iter().map(number).collect::<Result<Vec<u32>>>()?;
    numbers.sort_unstable();
    numbers.dedup();
    Ok(numbers)
}

/// The report of a run.
struct Report<'a> {
    args: &'a Args,
    source: &'a Source,
    engine: &'a ChosenEngine,
    recording: &'a Recording<'a>,
    seconds: f64,
}

impl Report<'_> {
    fn statistics(&self) -> Vec<(&kvrm::spiking::Population, Statistics)> {
        self.recording.statistics((self.args.skip / self.recording.dt).round() as u64)
    }

    /// Returns the time of the run divided by the simulated time.
    fn real_time_factor(&self) -> f64 {
        let steps = self.recording.steps.end - self.recording.steps.start;
        self.seconds / (steps as f64 * self.recording.dt / 1000.0)
    }

    fn write(&self, out: &mut Output) -> Result<()> {
        let Recording { network, steps, dt, .. } = self.recording;
        let statistics = self.statistics();
        let width = statistics
            .iter()
            .map(|(population, _)| population.name.chars().count())
            .max()
            .unwrap_or(0)
            .max(10);
        write!(
            out,
            "{:<width$} {:>10} {:>12} {:>10} {:>8}",
            "population", "neurons", "spikes", "spikes/s", "cv"
        )?;
        if self.args.statistics {
            write!(out, " {:>12} {:>10}", "correlation", "published")?;
        }
        writeln!(out)?;
        let number = |value: Option<f64>, digits: usize| {
            value.map_or("-".to_owned(), |value| format!("{value:.digits$}"))
        };
        for (population, of) in &statistics {
            let Statistics { neurons, spikes, rate, cv, correlation, .. } = of;
            write!(
                out,
                "{:<width$} {neurons:>10} {spikes:>12} {rate:>10.3} {:>8}",
                population.name,
                number(*cv, 3)
            )?;
            if self.args.statistics {
                let published = self.source.published_rate(&population.name);
                write!(out, " {:>12} {:>10}", number(*correlation, 5), number(published, 2))?;
            }
            writeln!(out)?;
        }
        let count = steps.end - steps.start;
        writeln!(
            out,
            "{}: {} neurons, {} synapses; {count} steps of {dt} ms in {:.3} s on {}, real-time factor {:.3}",
            self.recording.title,
            network.neurons(),
            network.synapses().count(),
            self.seconds,
            self.engine.place(),
            self.real_time_factor()
        )?;
        Ok(())
    }

    fn to_json(&self) -> Value {
        let Recording { network, steps, dt, .. } = self.recording;
        let population = |(population, of): &(&kvrm::spiking::Population, Statistics)| {
            json!({
                "name": population.name, "neurons": of.neurons, "spikes": of.spikes, "rate": of.rate, "cv": of.cv,
                "correlation": of.correlation, "published_rate": self.source.published_rate(&population.name),
            })
        };
        json!({
            "network": self.recording.title,
            "neurons": network.neurons(),
            "synapses": network.synapses().count(),
            "dt": dt,
            "first_step": steps.start,
            "steps": steps.end - steps.start,
            "engine": self.engine.name(),
            "device": self.engine.device(),
            "threads": self.engine.threads(),
            "seconds": self.seconds,
            "real_time_factor": self.real_time_factor(),
            "spikes": self.recording.spikes.len(),
            "populations": self.statistics().iter().map(population).collect::<Vec<_>>(),
        })
    }
}
