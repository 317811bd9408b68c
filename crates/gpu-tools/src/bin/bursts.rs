//! Measures the time of a step of spiking networks on a GPU.
//!
//! ```console
//! cargo run --release --package kvrm-gpu-tools --bin bursts -- [NETWORK [SCALE [STEPS [KERNEL]]]] [KEY=VALUE ...]
//! ```
//!
//! NETWORK is `microcircuit`, `microcircuit_constant`, `vogels_abbott`, `fly`, `balanced`, `balanced_1ms` or `feagi`.
//! KERNEL is `events`, `single`, `partitions`, `pull` or `fused`; `sweep` measures many options instead of one. Prints a
//! line of JSON. The keys are:
//!
//! - `batch`, `piece`, `team`, `workgroups`, `block`, `slice` and `binding_bytes`: the fields of [`Options`];
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
    Background, Balanced, Fly, Microcircuit, VogelsAbbott, balanced, feagi, feagi_input, fly, microcircuit,
    vogels_abbott,
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
        other => {
            let names =
                "microcircuit, microcircuit_constant, vogels_abbott, fly, balanced, balanced_1ms or feagi";
            return Err(format!("unknown network {other:?}; expected {names}").into());
        }
    })
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (options, names): (Vec<&String>, Vec<&String>) =
        arguments.iter().partition(|argument| argument.contains('='));
    let text = |name: &str| options.iter().find_map(|option| option.strip_prefix(name)?.strip_prefix('='));
    let option = |name: &str| -> Result<Option<u64>, Failure> { Ok(text(name).map(str::parse).transpose()?) };
    let commit = text("commit").map(str::parse).transpose()?;
    let log = text("record").map(|path| Log::open(Path::new(path), PROGRAM, commit)).transpose()?;
    let small = |name: &str| -> Result<Option<u32>, Failure> { Ok(option(name)?.map(|value| value as u32)) };
    let name = names.first().map_or("microcircuit", |name| name.as_str());
    let scale: f64 = names.get(1).map_or(Ok(1.0), |scale| scale.parse())?;
    let steps: u64 = names.get(2).map_or(Ok(10_000), |steps| steps.parse())?;
    let options = Options {
        kernel: match names.get(3).map(|name| name.as_str()) {
            Some("events") => Some(Kernel::Events),
            Some("single") => Some(Kernel::Single),
            Some("partitions") => Some(Kernel::Partitions),
            Some("pull") => Some(Kernel::Pull),
            Some("fused") => Some(Kernel::Fused),
            _ => None,
        },
        batch: small("batch")?,
        piece: small("piece")?,
        team: small("team")?,
        workgroups: small("workgroups")?,
        block: small("block")?,
        slice: small("slice")?,
        binding_bytes: option("binding_bytes")?,
    };

    let percent = option("percent")?.unwrap_or(1);
    let fraction = percent as f64 / 100.0;

    let begin = Instant::now();
    let network = Arc::new(network(name, scale)?);
    let built = begin.elapsed();
    let device = Device::open(None)?;
    let kernels = BurstKernels::new(&device);
    if names.get(3).is_some_and(|name| *name == "sweep") {
        return sweep(&kernels, &network, steps, fraction);
    }
    let begin = Instant::now();
    let mut executor = BurstExecutor::new(&kernels, Arc::clone(&network), options)?;
    let uploaded = begin.elapsed();

    let input = match name {
        "feagi" => feagi_input(network.neurons(), fraction, steps, 55)?,
        _ => Input::default(),
    };
    let few = (steps / 10).max(1);
    let begin = Instant::now();
    executor.run(few, &Input::default(), None)?;
    let warm = begin.elapsed();
    let mut all_seconds = Vec::new();
    for _ in 0..option("runs")?.unwrap_or(3) {
        let begin = Instant::now();
        executor.run(steps, &input, None)?;
        all_seconds.push(begin.elapsed().as_secs_f64());
    }
    let best = all_seconds.iter().copied().fold(f64::MAX, f64::min);
    executor.run(few, &Input::default(), Some(&mut Recorder::new(50_000_000)))?;
    let mut recorder = Recorder::new(50_000_000);
    let begin = Instant::now();
    executor.run(steps, &input, Some(&mut recorder))?;
    let recorded = begin.elapsed().as_secs_f64();
    let begin = Instant::now();
    executor.state()?;
    let read = begin.elapsed().as_secs_f64();
    let per_step = |count: usize| count as f64 / steps as f64;
    let lengths = &network.synapses().lengths;
    let events: u64 = recorder.spikes().iter().map(|spike| u64::from(lengths[spike.neuron as usize])).sum();
    let dt = network.parts().dt;
    println!(
        "{{\"network\": \"{name}\", \"scale\": {scale}, \"options\": \"{}\", \"engine\": \"{}\", \"neurons\": {}, \"synapses\": {}, \
         \"synapse_words\": {}, \"build_s\": {:.2}, \"upload_s\": {:.2}, \"warm_s\": {:.3}, \"steps\": {steps}, \
         \"us_per_step\": {:.2}, \"us_per_step_recorded\": {:.2}, \"real_time_factor\": {:.4}, \
         \"spikes_per_step\": {:.2}, \"events_per_step\": {:.0}, \"rate_hz\": {:.2}, \"state_ms\": {:.2}, \"checkpoints\": {}}}",
        arguments[arguments.len().min(3)..].join(" "),
        executor.name(),
        network.neurons(),
        network.synapses().count(),
        network.synapses().packing.words,
        built.as_secs_f64(),
        uploaded.as_secs_f64(),
        warm.as_secs_f64(),
        best * 1e6 / steps as f64,
        recorded * 1e6 / steps as f64,
        best * 1000.0 / (steps as f64 * dt),
        per_step(recorder.spikes().len()),
        events as f64 / steps as f64,
        per_step(recorder.spikes().len()) / f64::from(network.neurons()) * 1000.0 / dt,
        read * 1e3,
        executor.checkpoints(),
    );
    if let Some(mut log) = log {
        let info = device.info();
        let mut parameters: BTreeMap<_, _> = [
            ("dt", dt.into()),
            ("kernel", names.get(3).map_or("chosen", |name| name.as_str()).into()),
            ("network", name.into()),
            ("neurons", network.neurons().into()),
            ("synapses", network.synapses().count().into()),
        ]
        .into();
        if name == "feagi" {
            parameters.insert("percent", percent.into());
        }
        let of = |unit, value: &dyn Fn(f64) -> f64| {
            Figure::of(unit, &all_seconds.iter().map(|seconds| value(*seconds)).collect::<Vec<_>>())
        };
        let count = steps as f64;
        log.append(MeasuredRow {
            kind: Kind::Bursts,
            adapter: Some(Adapter::new(&info.name, info.kind, info.backend, &info.driver)),
            parameters,
            figures: [
                ("events_a_second", of("synaptic events/s", &|seconds| events as f64 / seconds)),
                ("microseconds_a_step", of("us", &|seconds| 1e6 * seconds / count)),
                ("real_time_factor", of("", &|seconds| 1000.0 * seconds / (count * dt))),
                ("spikes_a_step", Figure::once("spikes", per_step(recorder.spikes().len()))),
            ]
            .into(),
        })?;
    }
    Ok(())
}

/// Measures the time of a step with many combinations of options, and prints a line of JSON for each.
fn sweep(kernels: &BurstKernels, network: &Arc<Network>, steps: u64, fraction: f64) -> Result<(), Failure> {
    let input = match network.population("area") {
        Some(_) => feagi_input(network.neurons(), fraction, steps, 55)?,
        None => Input::default(),
    };
    let run = |what: String, options: Options| -> Result<(), Failure> {
        let mut executor = BurstExecutor::new(kernels, Arc::clone(network), options)?;
        executor.run(steps / 2, &Input::default(), None)?;
        let begin = Instant::now();
        executor.run(steps, &input, None)?;
        let micros = begin.elapsed().as_secs_f64() * 1e6 / steps as f64;
        println!("{{\"options\": \"{what}\", \"us_per_step\": {micros:.2}}}");
        Ok(())
    };
    for kernel in Kernel::ALL {
        let options = Options { kernel: Some(kernel), ..Options::default() };
        if BurstExecutor::new(kernels, Arc::clone(network), options.clone())?.kernels() == [kernel] {
            run(format!("{kernel:?}"), options)?;
        }
    }
    for team in [8, 32, 128] {
        for piece in [team, 4 * team, 16 * team] {
            for workgroups in [132, 528, 1056] {
                let options = Options {
                    kernel: Some(Kernel::Events),
                    team: Some(team),
                    piece: Some(piece),
                    workgroups: Some(workgroups),
                    ..Options::default()
                };
                run(format!("team={team} piece={piece} workgroups={workgroups}"), options)?;
            }
        }
    }
    Ok(())
}
