//! `cargo xtask prefetch`: records the page accesses of many programs, and measures prefetchers on them.

mod files;
mod frames;
mod learn;
mod prefetchers;
mod record;
mod tables;
mod workloads;

use anyhow::Result;

pub(crate) use self::files::streams_folder;
use self::learn::LearnArgs;
use self::tables::ReplayArgs;

/// Arguments of `cargo xtask prefetch`.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Subcommand,
}

#[derive(clap::Subcommand)]
enum Subcommand {
    /// Compiles the programs, runs them on the CPU engine, and writes their page accesses to target/prefetch/streams/.
    Log {
        /// Run only programs whose names contain this text.
        #[arg(long, value_name = "TEXT")]
        only: Option<String>,
    },
    /// Runs the programs, and prints how well the frames that they own can be compressed.
    Frames {
        /// Run only programs whose names contain this text.
        #[arg(long, value_name = "TEXT")]
        only: Option<String>,
    },
    /// Replays the recorded accesses of a part of the programs with each prefetcher, and prints tables.
    Replay(ReplayArgs),
    /// Replays them with a memory oracle that learns while it is used, and prints a table.
    Learn(LearnArgs),
}

pub(crate) fn run(Args { command }: &Args) -> Result<()> {
    match command {
        Subcommand::Log { only } => record::run(only.as_deref()),
        Subcommand::Frames { only } => frames::run(only.as_deref()),
        Subcommand::Replay(args) => tables::run(&files::read_streams()?, args),
        Subcommand::Learn(args) => learn::run(&files::read_streams()?, args),
    }
}
