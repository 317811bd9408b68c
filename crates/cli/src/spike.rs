//! `kvrm spike`: spiking networks.

mod bench;
mod engine;
mod files;
mod inject;
mod observe;
mod plot;
mod recording;
mod run;
mod source;
mod sweep;

use std::process::ExitCode;

use anyhow::Result;

/// The subcommands of `kvrm spike`.
#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Run a network, and show the firing rate of each population.
    Run(Box<run::Args>),
    /// Run a network with many seeds or parameters, on one GPU or on several at the same time.
    Sweep(sweep::Args),
    /// Measure the time of a step of networks.
    Bench(bench::Args),
    /// Convert a network to a .safetensors file.
    Import(files::ImportArgs),
    /// Describe a network: its populations, synapses and parameters.
    Show(files::ShowArgs),
}

pub(crate) fn run(command: &Command) -> Result<ExitCode> {
    match command {
        Command::Run(args) => run::run(args),
        Command::Sweep(args) => sweep::run(args),
        Command::Bench(args) => bench::run(args),
        Command::Import(args) => files::import(args),
        Command::Show(args) => files::show(args),
    }
}
