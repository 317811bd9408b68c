//! Microseconds that a step of spiking networks takes on a GPU.
//!
//! `bursts NETWORK [SCALE [STEPS [KERNEL]]] [key=value ...]`; options are `batch`, `piece`, `team`, `workgroups`, `slice`, and
//! `runs`, whose best is told. Prints a line of JSON.

use std::sync::Arc;
use std::time::Instant;

use kvrm_gpu::Device;
use kvrm_gpu::spiking::{BurstExecutor, BurstKernels, Kernel, Options};
use kvrm_spiking::{
    Builder, Connect, Delay, Executor, Feagi, Injection, Input, Kind, Lif, Model, Network, Poisson,
    Projection, Recorder, Weight, random,
};

type Failure = Box<dyn std::error::Error>;

/// A number from 0 to 1 of a neuron.
fn share(purpose: u32, neuron: u32) -> f64 {
    f64::from(random::pcg(random::pcg(neuron) ^ purpose)) / f64::from(u32::MAX)
}

/// Potjans and Diesmann (2014): the cortical microcircuit, with Poisson input.
fn microcircuit(scale: f64) -> Result<Network, Failure> {
    const SIZES: [u32; 8] = [20_683, 5_834, 21_915, 5_479, 4_850, 1_065, 14_395, 2_948];
    const EXTERNAL: [u32; 8] = [1600, 1500, 2100, 1900, 2000, 1900, 2900, 2100];
    const PROBABILITIES: [[f64; 8]; 8] = [
        [0.1009, 0.1689, 0.0437, 0.0818, 0.0323, 0.0, 0.0076, 0.0],
        [0.1346, 0.1371, 0.0316, 0.0515, 0.0755, 0.0, 0.0042, 0.0],
        [0.0077, 0.0059, 0.0497, 0.135, 0.0067, 0.0003, 0.0453, 0.0],
        [0.0691, 0.0029, 0.0794, 0.1597, 0.0033, 0.0, 0.1057, 0.0],
        [0.1004, 0.0622, 0.0505, 0.0057, 0.0831, 0.3726, 0.0204, 0.0],
        [0.0548, 0.0269, 0.0257, 0.0022, 0.06, 0.3158, 0.0086, 0.0],
        [0.0156, 0.0066, 0.0211, 0.0166, 0.0572, 0.0197, 0.0396, 0.2252],
        [0.0364, 0.001, 0.0034, 0.0005, 0.0277, 0.008, 0.0658, 0.1443],
    ];
    // 0.15 mV of the membrane, as the current that leads to it.
    const WEIGHT: f64 = 3.512;
    let mut builder = Builder::new(0.1).seed(55).fraction_bits(10);
    let mut ids = Vec::new();
    for (index, &size) in SIZES.iter().enumerate() {
        let size = (f64::from(size) * scale) as u32;
        let model = Model::Lif(Lif {
            poisson_rate: 8.0 * f64::from(EXTERNAL[index]),
            poisson_weight: WEIGHT,
            ..Lif::default()
        });
        let begin = |neuron| {
            let sum: f64 = (0..12).map(|draw| share(100 * index as u32 + draw, neuron)).sum();
            (model.clone(), Some(-58.0 + 10.0 * (sum - 6.0)))
        };
        ids.push((builder.populate(&format!("P{index}"), [size, 1, 1], Kind::Lif, begin)?, size));
    }
    for (target, row) in PROBABILITIES.iter().enumerate() {
        for (source, &probability) in row.iter().enumerate() {
            // At full scale as many as Potjans and Diesmann have; a smaller network keeps the in-degrees, roughly.
            let full = f64::from(SIZES[source]) * f64::from(SIZES[target]);
            let total = ((1.0 - probability).ln() / (-1.0 / full).ln_1p() * scale) as u64;
            let is_excitatory = source % 2 == 0;
            let double = if (target, source) == (0, 2) { 2.0 } else { 1.0 };
            let mean = if is_excitatory { WEIGHT * double } else { -4.0 * WEIGHT };
            let delay = if is_excitatory { 1.5 } else { 0.75 };
            let projection = Projection::new(Connect::Total(total), mean, 1)
                .weight(Weight::Normal { mean, std: 0.1 * mean.abs() })
                .delay(Delay::Normal { mean: delay, std: 0.5 * delay, max: 6.4 });
            builder.connect(ids[source].0, ids[target].0, &projection)?;
        }
    }
    Ok(builder.build()?)
}

/// Vogels and Abbott (2005), with currents: 2 % of 223,607 neurons, a delay of 8 steps.
fn vogels_abbott(scale: f64) -> Result<Network, Failure> {
    let neurons = (223_607.0 * scale.sqrt()) as u32;
    let lif = Lif {
        tau_m: 20.0,
        tau_ex: 5.0,
        tau_in: 10.0,
        v_rest: -49.0,
        v_reset: -60.0,
        t_ref: 5.0,
        ..Lif::default()
    };
    let mut builder = Builder::new(0.1).seed(7).fraction_bits(12);
    let mut add = |name: &str, size: u32| {
        let begin = |neuron| (Model::Lif(lif.clone()), Some(-60.0 + 10.0 * share(size, neuron)));
        builder.populate(name, [size, 1, 1], Kind::Lif, begin)
    };
    let ids = [add("excitatory", neurons / 5 * 4)?, add("inhibitory", neurons - neurons / 5 * 4)?];
    let by_size = 4000.0 / f64::from(neurons);
    for (source, weight) in ids.into_iter().zip([1.62 * by_size, -9.0 * by_size]) {
        for target in ids {
            builder.connect(source, target, &Projection::new(Connect::Probability(0.02), weight, 8))?;
        }
    }
    Ok(builder.build()?)
}

/// A network of the size and delay of a fruit fly's brain, in which a few hundred neurons are active.
fn fly(scale: f64) -> Result<Network, Failure> {
    let neurons = (138_639.0 * scale) as u32;
    let lif = Lif {
        tau_m: 20.0,
        tau_ex: 5.0,
        tau_in: 5.0,
        v_rest: -52.0,
        v_th: -45.0,
        v_reset: -52.0,
        t_ref: 2.2,
        ..Lif::default()
    };
    let mut builder = Builder::new(0.1).seed(3).fraction_bits(10);
    let sources = builder.population("sugar", 21, &Model::Poisson(Poisson { rate: 150.0 }))?;
    let brain = builder.population("brain", neurons, &Model::Lif(lif))?;
    let many = |total: f64| Connect::Total((total * scale) as u64);
    builder.connect(sources, brain, &Projection::new(Connect::OutDegree(100), 70.0, 18))?;
    builder.connect(brain, brain, &Projection::new(many(10.5e6), 0.55, 18))?;
    builder.connect(brain, brain, &Projection::new(many(4.5e6), -0.55, 18))?;
    Ok(builder.build()?)
}

/// A million neurons with a thousand synapses each at about 10 spikes a second, dt 1 ms.
fn balanced(scale: f64) -> Result<Network, Failure> {
    let neurons = (1e6 * scale) as u32;
    let lif = Lif {
        tau_m: 20.0,
        tau_ex: 5.0,
        tau_in: 5.0,
        poisson_rate: 1000.0,
        poisson_weight: 3.0,
        ..Lif::default()
    };
    let mut builder = Builder::new(1.0).seed(11).fraction_bits(8);
    let ids = [
        builder.population("excitatory", neurons / 5 * 4, &Model::Lif(lif.clone()))?,
        builder.population("inhibitory", neurons / 5, &Model::Lif(lif))?,
    ];
    for (source, weight) in ids.into_iter().zip([0.05, -0.3]) {
        for (target, degree) in ids.into_iter().zip([800, 200]) {
            let delay = Delay::Uniform { low: 1.0, high: 4.0 };
            let projection = Projection::new(Connect::OutDegree(degree), weight, 1).delay(delay);
            builder.connect(source, target, &projection)?;
        }
    }
    Ok(builder.build()?)
}

/// Neurons of FEAGI with 100 synapses each, which fire if something is injected.
fn feagi(scale: f64) -> Result<Network, Failure> {
    let model = Model::Feagi(Feagi { threshold: 100_000.0, psp: 2, ..Feagi::default() });
    let mut builder = Builder::new(1.0).seed(5);
    let area = builder.population("area", (500_000.0 * scale) as u32, &model)?;
    builder.connect(area, area, &Projection::new(Connect::OutDegree(100), 10.0, 1))?;
    Ok(builder.build()?)
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (options, names): (Vec<&String>, Vec<&String>) =
        arguments.iter().partition(|argument| argument.contains('='));
    let option = |name: &str| -> Result<Option<u64>, Failure> {
        let value = options.iter().find_map(|option| option.strip_prefix(name)?.strip_prefix('='));
        Ok(value.map(str::parse).transpose()?)
    };
    let small = |name: &str| -> Result<Option<u32>, Failure> { Ok(option(name)?.map(|value| value as u32)) };
    let name = names.first().map_or("microcircuit", |name| name);
    let scale: f64 = names.get(1).map_or(Ok(1.0), |scale| scale.parse())?;
    let steps: u64 = names.get(2).map_or(Ok(10_000), |steps| steps.parse())?;
    let options = Options {
        kernel: match names.get(3).map(|name| name.as_str()) {
            Some("events") => Some(Kernel::Events),
            Some("single") => Some(Kernel::Single),
            Some("partitions") => Some(Kernel::Partitions),
            _ => None,
        },
        batch: small("batch")?,
        piece: small("piece")?,
        team: small("team")?,
        workgroups: small("workgroups")?,
        slice: small("slice")?,
        binding_bytes: option("binding_bytes")?,
    };

    let begin = Instant::now();
    let network = Arc::new(match name {
        "microcircuit" => microcircuit(scale)?,
        "vogels_abbott" => vogels_abbott(scale)?,
        "fly" => fly(scale)?,
        "balanced" => balanced(scale)?,
        "feagi" => feagi(scale)?,
        other => return Err(format!("there is no network {other}").into()),
    });
    let built = begin.elapsed();
    let kernels = BurstKernels::new(&Device::open(None)?);
    let begin = Instant::now();
    let mut executor = BurstExecutor::new(&kernels, Arc::clone(&network), options)?;
    let uploaded = begin.elapsed();

    let input = if name == "feagi" { Input::new(one_percent(&network, steps))? } else { Input::default() };
    let few = (steps / 10).max(1);
    let begin = Instant::now();
    executor.run(few, &Input::default(), None)?;
    let warm = begin.elapsed();
    let mut best = f64::MAX;
    for _ in 0..option("runs")?.unwrap_or(3) {
        let begin = Instant::now();
        executor.run(steps, &input, None)?;
        best = best.min(begin.elapsed().as_secs_f64());
    }
    let mut recorder = Recorder::new(50_000_000);
    let begin = Instant::now();
    executor.run(steps, &input, Some(&mut recorder))?;
    let recorded = begin.elapsed().as_secs_f64();
    let per_step = |count: usize| count as f64 / steps as f64;
    let lengths = &network.synapses().lengths;
    let events: u64 = recorder.spikes().iter().map(|spike| u64::from(lengths[spike.neuron as usize])).sum();
    let dt = network.parts().dt;
    println!(
        "{{\"network\": \"{name}\", \"scale\": {scale}, \"options\": \"{}\", \"engine\": \"{}\", \"neurons\": {}, \"synapses\": {}, \
         \"synapse_words\": {}, \"build_s\": {:.2}, \"upload_s\": {:.2}, \"warm_s\": {:.3}, \"steps\": {steps}, \
         \"us_per_step\": {:.2}, \"us_per_step_recorded\": {:.2}, \"real_time_factor\": {:.4}, \
         \"spikes_per_step\": {:.2}, \"events_per_step\": {:.0}, \"rate_hz\": {:.2}}}",
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
    );
    Ok(())
}

/// Enough for one neuron in a hundred to fire, others in each step.
fn one_percent(network: &Network, steps: u64) -> Vec<Injection> {
    let neurons = network.neurons();
    let chosen = |step: u64| {
        (0..neurons / 100).map(move |index| Injection {
            step,
            neuron: random::pcg(index ^ random::pcg(step as u32)) % neurons,
            amount: 1 << 20,
        })
    };
    (0..steps).flat_map(chosen).collect()
}
