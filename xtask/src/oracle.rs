//! `cargo xtask oracle`: compares KVRM with independent programs. Unicorn is the oracle for semantics and UNDEFINED
//! words, objdump for disassembly, GNU as for assembly, QEMU for complete programs and floating point. DOOM is also compared with itself on the
//! host.
//!
//! The oracles are GPL programs and run in processes of their own. Their answers are committed under `tests/corpus/`.

mod asm;
mod commands;
mod corpus;
mod disasm;
mod doom;
mod float;
mod guests;
mod judge;
pub(crate) mod made_calls;
mod outcome;
mod pauth;
mod program_runs;
mod programs;
mod undefined;
mod unicorn;
mod userland;
mod vectors;

use anyhow::Result;

pub(crate) use self::commands::kvrm;
pub(crate) use self::program_runs::{PREPARED, RUNS, Run};
pub(crate) use self::programs::copy_files;

/// Arguments of `cargo xtask oracle`.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    oracle: Oracle,
}

#[derive(clap::Subcommand)]
enum Oracle {
    /// Makes the corpus of test vectors: inputs from the instruction table, outputs from Unicorn.
    Vectors {
        /// The number of vectors for each encoding.
        #[arg(long, default_value_t = 24)]
        each: usize,
        /// The seed of the inputs. With another seed than the default, vectors are checked but not written.
        #[arg(long, default_value_t = vectors::SEED)]
        seed: u64,
    },
    /// Makes the corpus of pointer authentication: inputs from the instruction table, outputs from qemu-system-aarch64.
    Pauth {
        /// The number of vectors for each encoding.
        #[arg(long, default_value_t = 24)]
        each: usize,
        /// The seed of the inputs. With another seed than the default, vectors are checked but not written.
        #[arg(long, default_value_t = vectors::SEED)]
        seed: u64,
    },
    /// Compares with Unicorn which of many random words are UNDEFINED.
    Undefined {
        /// The number of words.
        #[arg(long, default_value_t = 1_000_000)]
        words: usize,
        /// The seed of the words.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Write the first words and their answers to the corpus.
        #[arg(long)]
        write: bool,
    },
    /// Compares the disassembler with GNU objdump.
    Disasm {
        /// The number of words for each encoding.
        #[arg(long, default_value_t = 1000)]
        each: usize,
        /// The seed of the words.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Write a sample of the disassembly to the corpus.
        #[arg(long)]
        write: bool,
    },
    /// Compares the text assembler with GNU as.
    Asm {
        /// The number of words for each encoding.
        #[arg(long, default_value_t = 200)]
        each: usize,
        /// The seed of the words.
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// Makes the corpus of floating point: random inputs, and results of each instruction from qemu-aarch64.
    Float {
        /// The number of cases for each instruction.
        #[arg(long, default_value_t = 120)]
        each: usize,
        /// The seed of the inputs. With another seed than the default, cases are checked but not written.
        #[arg(long, default_value_t = float::SEED)]
        seed: u64,
    },
    /// Runs every guest in KVRM and in qemu-aarch64, and compares output and exit status.
    Guests {
        /// Write the names of the system calls that the guests made, for the table of docs/linux.md.
        #[arg(long)]
        calls: bool,
    },
    /// Runs third-party programs in KVRM and in qemu-aarch64, and compares outputs, files and exit status.
    Programs(programs::Args),
    /// Runs command lines of a Debian system in KVRM and in qemu-aarch64, and compares outputs, files and exit status.
    Userland(userland::Args),
    /// Plays the demos of DOOM in KVRM, in qemu-aarch64 and on the host, and compares the checksums of all frames.
    Doom(doom::Args),
}

pub(crate) fn run(args: &Args) -> Result<()> {
    match &args.oracle {
        &Oracle::Vectors { each, seed } => vectors::run(each, seed),
        &Oracle::Pauth { each, seed } => pauth::run(each, seed),
        &Oracle::Undefined { words, seed, write } => undefined::run(words, seed, write),
        &Oracle::Disasm { each, seed, write } => disasm::run(each, seed, write),
        &Oracle::Asm { each, seed } => asm::run(each, seed),
        &Oracle::Float { each, seed } => float::run(each, seed),
        &Oracle::Guests { calls } => guests::run(calls),
        Oracle::Programs(args) => programs::run(args),
        Oracle::Userland(args) => userland::run(args),
        Oracle::Doom(args) => doom::run(args),
    }
}
