//! `kvrm spike import` and `kvrm spike show`.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};
use kvrm::spiking::{Kind, Network, PlasticityRule};

use super::source::{self, MakeArgs, Source};
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
}

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
    let source = Source::open(&args.network, &args.make)?;
    let mut out = Output::new();
    describe(&mut out, &source.network)?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
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
