//! The command line of KVRM.

mod asm;
mod bench;
mod disasm;
mod doctor;
mod doom;
mod engine;
mod hint;
mod loops;
mod memory;
mod networks;
mod number;
mod output;
mod program;
mod record;
mod regions;
mod run;
mod spike;
mod trace;
mod vectors;
mod verify;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Runs ARM64 programs and spiking networks on a GPU or the CPU, with the same exact results on both.
#[derive(Parser)]
#[command(name = "kvrm", version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a program, in one lane or many, and show its output.
    Run(Box<run::Args>),
    /// Run a program in one lane on the CPU and print every step.
    Trace(trace::Args),
    /// List the regions of a program that an engine on a GPU would translate.
    Regions(regions::Args),
    /// List the loops in which a program spends its steps, and say which of them can be executed at once.
    Loops(loops::Args),
    /// Assemble text, and print the words with their disassembly.
    Asm(asm::Args),
    /// Disassemble the code of a program, or single instruction words.
    Disasm(disasm::Args),
    /// Check test vectors: states of a machine before and after some instructions.
    #[command(subcommand)]
    Vectors(vectors::Command),
    /// Prove that a network classifies all 2^32 instruction words correctly, or print where it fails.
    Verify(verify::Args),
    /// List the networks, the origin and the cost of each, and whether it is proved.
    Networks(networks::Args),
    /// Measure the speed of guests with different numbers of lanes.
    Bench(Box<bench::Args>),
    /// Run, measure, import and describe spiking networks (the burst engine).
    #[command(subcommand)]
    Spike(spike::Command),
    /// Play DOOM, in a window or in the terminal.
    Doom(doom::Args),
    /// List the GPUs of this host, test the one that would be used, and say what is missing.
    Doctor(doctor::Args),
}

/// The exit status after a failure of kvrm itself or of its input.
const FAILED: u8 = 2;

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Run(args) => run::run(*args),
        Command::Trace(args) => trace::run(args),
        Command::Regions(args) => regions::run(&args),
        Command::Loops(args) => loops::run(&args),
        Command::Asm(args) => asm::run(&args),
        Command::Disasm(args) => disasm::run(&args),
        Command::Vectors(vectors::Command::Run(args)) => vectors::run(&args),
        Command::Verify(args) => verify::run(&args),
        Command::Networks(args) => networks::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Spike(command) => spike::run(&command),
        Command::Doom(args) => doom::run(&args),
        Command::Doctor(args) => doctor::run(&args),
    };
    result.unwrap_or_else(|error| {
        // A reader that closes the pipe early, such as `head`, is not a failure.
        let broken_pipe = |cause: &(dyn std::error::Error + 'static)| {
            let io = cause.downcast_ref::<std::io::Error>();
            io.is_some_and(|io| io.kind() == std::io::ErrorKind::BrokenPipe)
        };
        if error.chain().any(broken_pipe) {
            return ExitCode::SUCCESS;
        }
        output::note(format_args!("error: {}", message(&error)));
        ExitCode::from(FAILED)
    })
}

/// Joins the messages of an error and its causes. Leaves out a cause that the message before it already ends with.
fn message(error: &anyhow::Error) -> String {
    error.chain().fold(String::new(), |message, cause| {
        let cause = cause.to_string();
        match message.as_str() {
            "" => cause,
            message if message.ends_with(&cause) => message.to_owned(),
            message => format!("{message}: {cause}"),
        }
    })
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    #[test]
    fn causes_are_not_repeated() {
        let error = anyhow!("no such file").context("cannot read x: no such file").context("--record");
        assert_eq!(super::message(&error), "--record: cannot read x: no such file");
        assert_eq!(super::message(&anyhow!("b").context("a")), "a: b", "different causes are all shown");
    }
}
