//! Measures the time of a step of spiking networks on a GPU.
//!
//! ```console
//! cargo run --release --package kvrm-gpu-tools --bin bursts -- [NETWORK [SCALE [STEPS [KERNEL]]]] [KEY=VALUE ...]
//! ```
//!
//! NETWORK is `microcircuit`, `microcircuit_constant`, `vogels_abbott`, `fly`, `balanced`, `balanced_1ms`, `feagi`
//! or `hpc_benchmark`. KERNEL is `events`, `single`, `fused`, or `auto` for the engine's own choice. Prints a line of JSON for
//! the network and one for each combination of options. A run should take 0.3 seconds or more: the GPU lowers its clock
//! while the host prepares buffers, and needs a while to raise it. The keys are:
//!
//! - `batch`, `piece`, `team`, `workgroups`, `block`, `lines` and `wide_sums` (0 or 1), `invocations`, `slice` and
//!   `binding_bytes`: the fields of [`Options`]. These and KERNEL may be lists, as in `events,fused block=256,512`; every
//!   combination is measured;
//! - `percent`: the percentage of FEAGI's neurons that fire in a step (1);
//! - `runs`: the number of runs (3), of which the fastest is printed;
//! - `record`: a file, to which a benchmark record of all runs is appended;
//! - `commit`: the commit of the record, if the current directory is not in the repository.

#![allow(clippy::print_stdout, reason = "it is a program")]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use kvrm_gpu::Device;
use kvrm_gpu::spiking::{BurstExecutor, BurstKernels, Kernel, Options};
use kvrm_records::{Adapter, Figure, Kind, Log, MeasuredRow};
use kvrm_spiking::networks::{
    Background, Balanced, Fly, HpcBenchmark, Microcircuit, VogelsAbbott, balanced, feagi, feagi_input, fly,
    hpc_benchmark, microcircuit, vogels_abbott,
};
use kvrm_spiking::{Executor, Input, Network, Recorder};

type Failure = Box<dyn std::error::Error>;

/// The command line of this program, without arguments.
const PROGRAM: &str = "cargo run --release --package kvrm-gpu-tools --bin bursts --";

/// Builds a network by its name. At scale 1 it has its published size.
fn network(name: &str, scale: f64) -> Result<Network, Failure> {
    let neurons = |full: f64| (full * scale) as u32;
    Ok(match name {
        "microcircuit" => microcircuit(&Microcircuit { scale, ..Microcircuit::default() })?,
        "microcircuit_constant" => microcircuit(&Microcircuit {
            scale,
            background: Background::Constant,
            ..Microcircuit::default()
        })?,
        "vogels_abbott" => {
            // The scale applies to the number of synapses, which grows with the square of the neurons.
            let neurons = (223_607.0 * scale.sqrt()) as u32;
            vogels_abbott(&VogelsAbbott { neurons, ..VogelsAbbott::default() })?
        }
        "fly" => fly(&Fly { neurons: neurons(138_000.0), ..Fly::default() })?,
        "balanced" => balanced(&Balanced { neurons: neurons(1e6), ..Balanced::default() })?,
        "balanced_1ms" => {
            // With a step of 1 ms, delays have two steps.
            balanced(&Balanced { neurons: neurons(1e6), dt: 1.0, ..Balanced::default() })?
        }
        "feagi" => feagi(neurons(500_000.0), 100, 55)?,
        "hpc_benchmark" => hpc_benchmark(&HpcBenchmark { scale, ..HpcBenchmark::default() })?,
        other => {
            let names = "microcircuit, microcircuit_constant, vogels_abbott, fly, balanced, balanced_1ms, feagi \
                         or hpc_benchmark";
            return Err(format!("unknown network {other:?}; expected {names}").into());
        }
    })
}

/// Returns the kernel with a name on the command line; `None` for the engine's own choice.
fn kernel(name: &str) -> Result<Option<Kernel>, Failure> {
    let found = Kernel::ALL.into_iter().find(|kernel| kernel.name() == name);
    if found.is_none() && name != AUTO {
        let known = Kernel::ALL.map(Kernel::name).join(", ");
        return Err(format!("unknown kernel {name:?}; expected {AUTO}, {known}").into());
    }
    Ok(found)
}

/// Stands for the engine's own choice of the kernel.
const AUTO: &str = "auto";

/// Sets a field of the options.
type Setter = fn(&mut Options, u64);

/// The arguments of the command line.
struct Arguments {
    names: Vec<String>,
    keys: BTreeMap<String, String>,
}

impl Arguments {
    const KEYS: [&str; 13] = [
        "batch",
        "piece",
        "team",
        "workgroups",
        "block",
        "lines",
        "wide_sums",
        "invocations",
        "slice",
        "binding_bytes",
        "percent",
        "runs",
        "record",
    ];

    fn parse() -> Result<Self, Failure> {
        let (mut names, mut keys) = (Vec::new(), BTreeMap::new());
        for argument in std::env::args().skip(1) {
            match argument.split_once('=') {
                Some((key, value)) if key == "commit" || Self::KEYS.contains(&key) => {
                    keys.insert(key.to_owned(), value.to_owned());
                }
                Some((key, _)) => {
                    return Err(
                        format!("unknown key {key:?}; expected {} or commit", Self::KEYS.join(", ")).into()
                    );
                }
                None => names.push(argument),
            }
        }
        Ok(Self { names, keys })
    }

    fn name<'a>(&'a self, place: usize, default: &'a str) -> &'a str {
        self.names.get(place).map_or(default, String::as_str)
    }

    fn number(&self, key: &str, default: u64) -> Result<u64, Failure> {
        let Some(text) = self.keys.get(key) else { return Ok(default) };
        Ok(text.parse().map_err(|error| format!("{key}={text}: {error}"))?)
    }

    /// Returns all values of a key, or none if it is not given.
    fn numbers(&self, key: &str) -> Result<Vec<Option<u64>>, Failure> {
        let Some(text) = self.keys.get(key) else { return Ok(vec![None]) };
        let number = |part: &str| Ok(Some(part.parse().map_err(|error| format!("{key}={text}: {error}"))?));
        text.split(',').map(number).collect()
    }

    /// Returns every combination of the kernels and of the values of the keys.
    fn combinations(&self) -> Result<Vec<(String, Options)>, Failure> {
        let mut all = Vec::new();
        for name in self.name(3, AUTO).split(',') {
            let options = Options { kernel: kernel(name)?, ..Options::default() };
            all.push((name.to_owned(), options));
        }
        let fields: [(&str, Setter); 10] = [
            ("batch", |options, value| options.batch = Some(value as u32)),
            ("piece", |options, value| options.piece = Some(value as u32)),
            ("team", |options, value| options.team = Some(value as u32)),
            ("workgroups", |options, value| options.workgroups = Some(value as u32)),
            ("block", |options, value| options.block = Some(value as u32)),
            ("lines", |options, value| options.lines = Some(value != 0)),
            ("wide_sums", |options, value| options.wide_sums = value != 0),
            ("invocations", |options, value| options.invocations = Some(value as u32)),
            ("slice", |options, value| options.slice = Some(value as u32)),
            ("binding_bytes", |options, value| options.binding_bytes = Some(value)),
        ];
        for (key, set) in fields {
            let values = self.numbers(key)?;
            all = all
                .iter()
                .flat_map(|(name, options)| values.iter().map(move |value| (name, options, *value)))
                .map(|(name, options, value)| {
                    let (mut name, mut options) = (name.clone(), options.clone());
                    if let Some(value) = value {
                        set(&mut options, value);
                        name += &format!(" {key}={value}");
                    }
                    (name, options)
                })
                .collect();
        }
        Ok(all)
    }
}

/// What all combinations of options have in common.
struct Bench {
    name: String,
    network: Arc<Network>,
    kernels: BurstKernels,
    steps: u64,
    input: Input,
    runs: u64,
}

/// The measured speed of a combination of options.
struct Speed {
    all_seconds: Vec<f64>,
    spikes_per_step: f64,
    events_per_step: f64,
}

fn main() -> Result<(), Failure> {
    let arguments = Arguments::parse()?;
    let combinations = arguments.combinations()?;
    let commit = arguments.keys.get("commit").map(|commit| commit.parse()).transpose()?;
    let log = arguments.keys.get("record");
    let mut log = log.map(|path| Log::open(Path::new(path), PROGRAM, commit)).transpose()?;
    let name = arguments.name(0, "microcircuit");
    let scale: f64 = arguments.name(1, "1").parse()?;
    let steps: u64 = arguments.name(2, "10000").parse()?;
    let percent = arguments.number("percent", 1)?;
    let begin = Instant::now();
    let network = Arc::new(network(name, scale)?);
    let built = begin.elapsed();
    let input = match name {
        "feagi" => feagi_input(network.neurons(), percent as f64 / 100.0, steps, 55)?,
        _ => Input::default(),
    };
    let device = Device::open(None)?;
    let kernels = BurstKernels::new(&device);
    let runs = arguments.number("runs", 3)?;
    let bench = Bench { name: name.to_owned(), network, kernels, steps, input, runs };
    println!(
        "{{\"network\": \"{name}\", \"scale\": {scale}, \"neurons\": {}, \"synapses\": {}, \"synapse_words\": {}, \
         \"build_s\": {:.2}}}",
        bench.network.neurons(),
        bench.network.synapses().count(),
        bench.network.synapses().packing.words,
        built.as_secs_f64(),
    );
    for (options_text, options) in combinations {
        let speed = bench.measure(&options_text, options)?;
        if let Some(log) = &mut log {
            log.append(bench.row(&options_text, percent, &speed))?;
        }
    }
    Ok(())
}

impl Bench {
    /// Measures the time of a step with some options, and prints a line of JSON.
    fn measure(&self, options_text: &str, options: Options) -> Result<Speed, Failure> {
        let (network, steps) = (&self.network, self.steps);
        let begin = Instant::now();
        let mut executor = BurstExecutor::new(&self.kernels, Arc::clone(network), options)?;
        let uploaded = begin.elapsed();
        let few = (steps / 10).max(1);
        let begin = Instant::now();
        executor.run(few, &Input::default(), None)?;
        let warm = begin.elapsed();
        let mut all_seconds = Vec::new();
        for _ in 0..self.runs {
            let begin = Instant::now();
            executor.run(steps, &self.input, None)?;
            all_seconds.push(begin.elapsed().as_secs_f64());
        }
        let best = all_seconds.iter().copied().fold(f64::MAX, f64::min);
        executor.run(few, &Input::default(), Some(&mut Recorder::new(50_000_000)))?;
        let mut recorder = Recorder::new(50_000_000);
        let begin = Instant::now();
        executor.run(steps, &self.input, Some(&mut recorder))?;
        let recorded = begin.elapsed().as_secs_f64();
        let begin = Instant::now();
        executor.state()?;
        let read = begin.elapsed().as_secs_f64();
        let lengths = &network.synapses().lengths;
        let events: u64 =
            recorder.spikes().iter().map(|spike| u64::from(lengths[spike.neuron as usize])).sum();
        let per_step = |count: f64| count / steps as f64;
        let spikes_per_step = per_step(recorder.spikes().len() as f64);
        let events_per_step = per_step(events as f64);
        let dt = network.parts().dt;
        println!(
            "{{\"options\": \"{options_text}\", \"us_per_step\": {:.2}, \"us_per_step_recorded\": {:.2}, \
             \"real_time_factor\": {:.4}, \"spikes_per_step\": {spikes_per_step:.2}, \"events_per_step\": {events_per_step:.0}, \
             \"rate_hz\": {:.2}, \"upload_s\": {:.2}, \"warm_s\": {:.3}, \"state_ms\": {:.2}, \"checkpoints\": {}, \
             \"engine\": \"{}\"}}",
            per_step(best * 1e6),
            per_step(recorded * 1e6),
            best * 1000.0 / (steps as f64 * dt),
            spikes_per_step / f64::from(network.neurons()) * 1000.0 / dt,
            uploaded.as_secs_f64(),
            warm.as_secs_f64(),
            read * 1e3,
            executor.checkpoints(),
            executor.name(),
        );
        Ok(Speed { all_seconds, spikes_per_step, events_per_step })
    }

    /// Returns the row of a benchmark record.
    fn row(&self, options_text: &str, percent: u64, speed: &Speed) -> MeasuredRow<'_> {
        let info = self.kernels.device().info();
        let dt = self.network.parts().dt;
        let kernel = match options_text {
            AUTO => "chosen",
            text => text,
        };
        let mut parameters: BTreeMap<_, _> = [
            ("dt", dt.into()),
            ("kernel", kernel.into()),
            ("network", self.name.as_str().into()),
            ("neurons", self.network.neurons().into()),
            ("synapses", self.network.synapses().count().into()),
        ]
        .into();
        if self.name == "feagi" {
            parameters.insert("percent", percent.into());
        }
        let of = |unit, value: &dyn Fn(f64) -> f64| {
            Figure::of(unit, &speed.all_seconds.iter().map(|seconds| value(*seconds)).collect::<Vec<_>>())
        };
        let count = self.steps as f64;
        MeasuredRow {
            kind: Kind::Bursts,
            adapter: Some(Adapter::new(&info.name, info.kind, info.backend, &info.driver)),
            parameters,
            figures: [
                (
                    "events_a_second",
                    of("synaptic events/s", &|seconds| speed.events_per_step * count / seconds),
                ),
                ("microseconds_a_step", of("us", &|seconds| 1e6 * seconds / count)),
                ("real_time_factor", of("", &|seconds| 1000.0 * seconds / (count * dt))),
                ("spikes_a_step", Figure::once("spikes", speed.spikes_per_step)),
            ]
            .into(),
        }
    }
}
