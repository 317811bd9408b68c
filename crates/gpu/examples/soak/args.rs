//! The command line.

use crate::jobs::Share;

/// Long random tests of the GPU engines beside their references.
#[derive(Debug, clap::Parser)]
pub(crate) struct Args {
    /// What to test.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to test.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Inject faults: every state afterwards is that of the reference, or the call gave a typed error.
    Faults(Faults),
    /// Run random programs with random system calls, and print a digest over all final states.
    Programs(Programs),
}

/// Options of `soak faults`.
#[derive(Debug, clap::Args)]
pub(crate) struct Faults {
    /// How many faults to inject.
    #[arg(long, default_value_t = 10_000)]
    pub(crate) faults: u64,
    /// The longest time, in seconds. Fewer faults in this time are a failure.
    #[arg(long, default_value_t = 600)]
    pub(crate) seconds: u64,
    #[command(flatten)]
    pub(crate) share: Share,
}

/// Options of `soak programs`.
#[derive(Debug, clap::Args)]
pub(crate) struct Programs {
    /// How many programs to run.
    #[arg(long, default_value_t = 1_000)]
    pub(crate) programs: u64,
    /// How many lanes each program has.
    #[arg(long, default_value_t = 64)]
    pub(crate) lanes: usize,
    #[command(flatten)]
    pub(crate) share: Share,
}
