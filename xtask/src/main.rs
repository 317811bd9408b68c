//! The tasks of this workspace: `cargo xtask help` lists them.
//!
//! A task is a file with a function `run` and, if it takes arguments, a struct `Args`. To add a task, add its `mod`
//! line, its variant of [`Task`] and its arm in [`run`].

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a task runner talks to its user")]

mod apt;
mod calls;
mod codegen;
mod compare;
mod compilers;
mod convert;
mod doom;
mod folders;
mod guests;
mod lint;
mod loops;
mod markdown;
mod metadata;
mod oracle;
mod package;
mod prefetch;
mod programs;
mod python;
mod records;
mod root;
mod steps;
mod sweep;
mod sysroot;
mod system;
mod test;
mod third_party;
mod tidy;
mod train;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

/// The tasks of the KVRM workspace.
#[derive(Parser)]
#[command(bin_name = "cargo xtask", arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Runs all tests: generated files, tidiness, then `cargo test --workspace --all-features`.
    Test,
    /// Runs all lints: rustfmt, clippy, rustdoc, packages, and the build of kvrm-arm64 and kvrm-loops without std.
    Lint,
    /// Writes the generated files of the repository, or checks them.
    Codegen(codegen::Args),
    /// Checks the rules of the repository that the compiler and clippy do not check.
    Tidy,
    /// Checks decoder, assembler, disassembler and class map on all 2^32 words.
    Sweep,
    /// Makes random system calls from several threads, and checks what the lanes do.
    Calls(calls::Args),
    /// Trains a network with one seed after the other, until it is exact.
    Train(train::Args),
    /// Logs the loops of many programs, from which networks learn.
    Loops(loops::Args),
    /// Records page accesses of many programs, and measures prefetchers on them.
    Prefetch(prefetch::Args),
    /// Compares KVRM with independent programs: Unicorn, objdump, QEMU.
    Oracle(oracle::Args),
    /// Measures spiking networks in KVRM, NEST and Brian2 on this CPU.
    Compare(compare::Args),
    /// Records benchmarks, and lists results that are older than the code they measured.
    Records(records::Args),
    /// Converts weights between the formats of NumPy, PyTorch (reading only) and safetensors.
    Convert(convert::Args),
    /// Makes the packages that would be published, and lists them.
    Package(package::Args),
    /// Builds and tests the Python package.
    Python(python::Args),
    /// Compiles the guest programs into guests/bin/, or fetches third-party programs or a system.
    Guests(guests::Args),
}

fn run(task: &Task) -> Result<()> {
    match task {
        Task::Test => test::run(),
        Task::Lint => lint::run(),
        Task::Codegen(args) => codegen::run(args),
        Task::Tidy => tidy::run(),
        Task::Sweep => sweep::run(),
        Task::Calls(args) => calls::run(args),
        Task::Train(args) => train::run(args),
        Task::Loops(args) => loops::run(args),
        Task::Prefetch(args) => prefetch::run(args),
        Task::Oracle(args) => oracle::run(args),
        Task::Compare(args) => compare::run(args),
        Task::Records(args) => records::run(args),
        Task::Convert(args) => convert::run(args),
        Task::Package(args) => package::run(args),
        Task::Python(args) => python::run(args),
        Task::Guests(args) => guests::run(args),
    }
}

fn main() -> ExitCode {
    match run(&Cli::parse().task) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            // The exit code of a failed step becomes the exit code of the task.
            ExitCode::from(error.downcast_ref::<steps::StepFailure>().map_or(1, |failed| failed.code))
        }
    }
}
