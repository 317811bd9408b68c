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

use std::process::ExitCode;

use anyhow::Result;

/// What can be done with spiking networks.
#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// Runs a network, and shows who fired how often.
    Run(Box<run::Args>),
    /// Measures how long a step of a network takes.
    Bench(bench::Args),
    /// Makes a network file of another kind of file.
    Import(files::ImportArgs),
    /// Says what is in a network.
    Show(files::ShowArgs),
}

pub(crate) fn run(command: &Command) -> Result<ExitCode> {
    match command {
        Command::Run(args) => run::run(args),
        Command::Bench(args) => bench::run(args),
        Command::Import(args) => files::import(args),
        Command::Show(args) => files::show(args),
    }
}
