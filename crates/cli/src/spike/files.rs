//! `kvrm spike import` and `kvrm spike show`.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use kvrm::spiking::{BurstEngine, Executor as _, Kind, Network, PlasticityRule};

use super::source::{self, MakeArgs, Source};
use crate::engine::AdapterArgs;
use crate::output::Output;

/// Arguments of `kvrm spike import`.
#[derive(clap::Args)]
#[command(after_help = source::HELP)]
pub(crate) struct ImportArgs {
    /// The network: a file or a name.
    input: String,
    /// The file to write, with the extension .safetensors.
    output: PathBuf,
    #[command(flatten)]
    make: MakeArgs,
}

/// Arguments of `kvrm spike show`.
#[derive(clap::Args)]
#[command(after_help = source::HELP)]
pub(crate) struct ShowArgs {
    /// The network: a file or a name.
    network: String,
    #[command(flatten)]
    make: MakeArgs,
    /// Also run the network on a GPU for a few seconds, and show how fast each kernel is, or why it is not used.
    #[arg(long)]
    plan: bool,
    #[command(flatten)]
    adapter: AdapterArgs,
}

/// The time after which a plan is shown although not all kernels have been measured.
const PLAN_TIME: Duration = Duration::from_secs(10);
/// The maximum number of steps of a run for a plan.
const PLAN_STEPS: u64 = 1024;

pub(crate) fn import(args: &ImportArgs) -> Result<ExitCode> {
    if args.output.extension().is_none_or(|end| end != "safetensors") {
        bail!(
            "'{}': expected the name of a file in .safetensors to write the network to",
            args.output.display()
        );
    }
    let source = Source::open(&args.input, &args.make)?;
    source.network.save(&args.output)?;
    let mut out = Output::new();
    let (neurons, synapses) = (source.network.neurons(), source.network.synapses().count());
    writeln!(out, "{}: {neurons} neurons, {synapses} synapses", args.output.display())?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn show(args: &ShowArgs) -> Result<ExitCode> {
    let wanted = args.adapter.adapter.as_deref();
    if let (Some(wanted), false) = (wanted, args.plan) {
        bail!("--adapter '{wanted}' names a GPU for a plan; add --plan");
    }
    let source = Source::open(&args.network, &args.make)?;
    let mut out = Output::new();
    describe(&mut out, &source.network)?;
    if args.plan {
        out.flush()?;
        explain(&mut out, &source, wanted)?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// Measures the kernels of a network on a GPU, and describes the plan.
fn explain(out: &mut Output, source: &Source, wanted: Option<&str>) -> Result<()> {
    let engine = wanted.map_or_else(|| BurstEngine::Gpu.open(), BurstEngine::open_gpu)?;
    let choice = engine.choose(source.network.neurons());
    let executor = choice.gpu_executor(&source.network)?;
    let mut executor = executor.context("the network has to run on a GPU")?;
    let begin = Instant::now();
    let mut steps = 16;
    let plan = loop {
        executor.run(steps, &source.input(0, steps)?, None)?;
        let plan = executor.plan()?;
        if plan.is_complete() || begin.elapsed() >= PLAN_TIME {
            break plan;
        }
        steps = (2 * steps).min(PLAN_STEPS);
    };
    writeln!(out, "\non {}", executor.name())?;
    writeln!(out, "steps/batch  {}", plan.batch)?;
    writeln!(
        out,
        "blocks       {} of {} neurons, {} steps/window (kernel fused)",
        plan.blocks, plan.block_neurons, plan.window
    )?;
    writeln!(out, "{:<12} {:>10}", "kernel", "us/step")?;
    for kernel in &plan.kernels {
        let name = kernel.kernel.name();
        let (time, remark) = match kernel.step {
            Some(Ok(step)) => {
                let is_fastest = plan.fastest() == Some(kernel.kernel);
                (format!("{:.2}", 1e6 * step), if is_fastest { "chosen".to_owned() } else { String::new() })
            }
            Some(Err(reason)) => ("-".to_owned(), reason.to_string()),
            None => ("-".to_owned(), "not measured yet".to_owned()),
        };
        writeln!(out, "{}", format!("{name:<12} {time:>10}  {remark}").trim_end())?;
    }
    Ok(())
}

fn describe(out: &mut Output, network: &Network) -> Result<()> {
    let (parts, synapses) = (network.parts(), network.synapses());
    let unit = f64::from(1_u32 << parts.fraction_bits);
    let width =
        parts.populations.iter().map(|population| population.name.chars().count()).max().unwrap_or(0).max(10);
    writeln!(
        out,
        "{:<width$} {:<10} {:>10} {:>12}  dimensions",
        "population", "model", "neurons", "synapses"
    )?;
    for population in &parts.populations {
        let model = match population.kind {
            Kind::Feagi => "feagi",
            Kind::Lif => "lif",
            Kind::Izhikevich => "izhikevich",
            Kind::Poisson => "poisson",
        };
        let [x, y, z] = population.dimensions;
        let range = population.neurons.start as usize..population.neurons.end as usize;
        let out_going: u64 = synapses.lengths[range.clone()].iter().map(|&length| u64::from(length)).sum();
        writeln!(
            out,
            "{:<width$} {model:<10} {:>10} {out_going:>12}  {x} x {y} x {z}",
            population.name,
            range.len()
        )?;
    }
    for plasticity in &parts.plasticity {
        let [source, target] =
            [plasticity.source, plasticity.target].map(|number| &parts.populations[number as usize].name);
        let rule = match &plasticity.rule {
            PlasticityRule::Window { steps, .. } => format!("a window of {steps} steps"),
            PlasticityRule::Pair { .. } => "pairs of spikes".to_owned(),
        };
        writeln!(out, "learning     {source} to {target}, by {rule}")?;
    }
    let most = network.bounds().iter().max().copied().unwrap_or(0);
    let packing = synapses.packing;
    writeln!(out, "step         {} ms, seed {}", parts.dt, parts.seed)?;
    writeln!(
        out,
        "neurons      {} with {} different sets of parameters",
        network.neurons(),
        parts.records.len()
    )?;
    writeln!(
        out,
        "synapses     {} of {} bytes: {} bits of target, {} of delay, {} of weight",
        synapses.count(),
        4 * packing.words,
        packing.target_bits,
        packing.delay_bits,
        packing.weight_bits
    )?;
    let shortest = network.min_delay().map_or("none".to_owned(), |delay| delay.to_string());
    writeln!(out, "delays       {shortest} to {} steps", parts.max_delay)?;
    writeln!(out, "weight unit  2^-{}; ports {}", parts.fraction_bits, parts.ports)?;
    writeln!(
        out,
        "most input   {:.3} in a step, of 32 bits {:.1} %",
        most as f64 / unit,
        most as f64 / f64::from(i32::MAX) * 100.0
    )?;
    Ok(())
}
