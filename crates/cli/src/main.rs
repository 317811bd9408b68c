//! The command line of KVRM.

mod bench;
mod disasm;
mod doctor;
mod engine;
mod number;
mod output;
mod program;
mod record;
mod run;
mod spike;
mod trace;
mod vectors;
mod verify;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Runs ARM64 programs, one lane or many, with results that are exact.
#[derive(Parser)]
#[command(name = "kvrm", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Runs a program and shows what it prints.
    Run(run::Args),
    /// Runs a program and prints every step.
    Trace(trace::Args),
    /// Prints the code of a program, or of single words, as assembly text.
    Disasm(disasm::Args),
    /// Checks test vectors.
    #[command(subcommand)]
    Vectors(vectors::Command),
    /// Proves that a network chooses right for every word, or says where it does not.
    Verify(verify::Args),
    /// Measures how fast guests run, by the number of lanes.
    Bench(bench::Args),
    /// Runs spiking networks: the burst engine.
    #[command(subcommand)]
    Spike(spike::Command),
    /// Says which GPUs there are, tests the one that would be used, and what is missing.
    Doctor(doctor::Args),
}

/// The status of a failure of kvrm itself or of its input.
const FAILED: u8 = 2;

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Run(args) => run::run(args),
        Command::Trace(args) => trace::run(args),
        Command::Disasm(args) => disasm::run(&args),
        Command::Vectors(vectors::Command::Run(args)) => vectors::run(&args),
        Command::Verify(args) => verify::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Spike(command) => spike::run(&command),
        Command::Doctor(args) => doctor::run(&args),
    };
    result.unwrap_or_else(|error| {
        // A reader that has seen enough, such as `head`, is no failure.
        let broken_pipe = |cause: &(dyn std::error::Error + 'static)| {
            let io = cause.downcast_ref::<std::io::Error>();
            io.is_some_and(|io| io.kind() == std::io::ErrorKind::BrokenPipe)
        };
        if error.chain().any(broken_pipe) {
            return ExitCode::SUCCESS;
        }
        output::note(format_args!("error: {error:#}"));
        ExitCode::from(FAILED)
    })
}
