//! The command line.

use crate::jobs::Share;

/// Long random tests that compare the GPU engines with their references.
#[derive(Debug, clap::Parser)]
pub(crate) struct Args {
    /// The kind of test.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The kind of test.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Inject faults, and check that calls either fail with a typed error or have the results of the reference.
    Faults(Faults),
    /// Run random programs with random system calls, and print a digest over all final states.
    Programs(Programs),
}

/// Options of `soak faults`.
#[derive(Debug, clap::Args)]
pub(crate) struct Faults {
    /// Number of faults to inject.
    #[arg(long, default_value_t = 10_000)]
    pub(crate) faults: u64,
    /// Maximum time in seconds. The test fails if this is too short for all faults.
    #[arg(long, default_value_t = 600)]
    pub(crate) seconds: u64,
    #[command(flatten)]
    pub(crate) share: Share,
}

/// Options of `soak programs`.
#[derive(Debug, clap::Args)]
pub(crate) struct Programs {
    /// Number of programs to run.
    #[arg(long, default_value_t = 1_000)]
    pub(crate) programs: u64,
    /// Number of lanes of each program.
    #[arg(long, default_value_t = 64)]
    pub(crate) lanes: usize,
    #[command(flatten)]
    pub(crate) share: Share,
}
