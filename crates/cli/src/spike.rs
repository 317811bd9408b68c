//! `kvrm spike`: spiking networks.

mod bench;
mod engine;
mod files;
mod inject;
mod observe;
#[cfg(feature = "plots")]
mod plot;
mod recording;
mod run;
mod source;

/// Pictures in a build that cannot draw any: asking for one is an error of the command line.
#[cfg(not(feature = "plots"))]
mod plot {
    use anyhow::Result;

    use super::recording::Recording;

    #[derive(Clone, Debug)]
    pub(crate) enum Picture {}

    pub(crate) fn picture(_: &str) -> Result<Picture, String> {
        Err("this kvrm was built without the Cargo feature `plots`; `cargo kvrm-full` builds one with all features"
            .to_owned())
    }

    pub(crate) fn raster(picture: &Picture, _: &Recording<'_>) -> Result<()> {
        match *picture {}
    }

    pub(crate) fn rate_curves(picture: &Picture, _: &Recording<'_>) -> Result<()> {
        match *picture {}
    }
}

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
