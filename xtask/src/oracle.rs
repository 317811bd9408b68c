//! Independent oracles: Unicorn for semantics and undefined words, objdump for text, QEMU for whole programs
//! and floating point.
//!
//! They are GPL programs and run as such, beside us; what they say is committed under `tests/corpus/`.

mod commands;
mod corpus;
mod disasm;
mod float;
mod guests;
mod program_runs;
mod programs;
mod undefined;
mod unicorn;
mod vectors;

use anyhow::Result;

pub(crate) use self::commands::kvrm;

/// Arguments of `cargo xtask oracle`.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    oracle: Oracle,
}

#[derive(clap::Subcommand)]
enum Oracle {
    /// Makes the vector corpus: inputs from the table, outputs from Unicorn.
    Vectors {
        /// How many vectors to make for each encoding.
        #[arg(long, default_value_t = 24)]
        each: usize,
        /// The seed of the inputs. With any but the committed one, vectors are checked and not written.
        #[arg(long, default_value_t = vectors::SEED)]
        seed: u64,
    },
    /// Asks Unicorn which of many random words are defined, and compares.
    Undefined {
        /// How many words to ask about.
        #[arg(long, default_value_t = 1_000_000)]
        words: usize,
        /// The seed of the words.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Writes the first words and their answers to the corpus.
        #[arg(long)]
        write: bool,
    },
    /// Compares disassembly with GNU objdump.
    Disasm {
        /// How many words to compare for each encoding.
        #[arg(long, default_value_t = 1000)]
        each: usize,
        /// The seed of the words.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Writes a sample of the texts to the corpus.
        #[arg(long)]
        write: bool,
    },
    /// Makes the corpus of floating point: inputs made here, results of each instruction under qemu-aarch64.
    Float {
        /// How many cases to make for each instruction.
        #[arg(long, default_value_t = 120)]
        each: usize,
        /// The seed of the inputs. With any but the committed one, cases are checked and not written.
        #[arg(long, default_value_t = float::SEED)]
        seed: u64,
    },
    /// Runs every guest here and under qemu-aarch64 and compares output and exit status.
    Guests,
    /// Runs programs that nobody here wrote, here and under qemu-aarch64, and compares what they print and how they end.
    Programs(programs::Args),
}

pub(crate) fn run(args: &Args) -> Result<()> {
    match &args.oracle {
        &Oracle::Vectors { each, seed } => vectors::run(each, seed),
        &Oracle::Undefined { words, seed, write } => undefined::run(words, seed, write),
        &Oracle::Disasm { each, seed, write } => disasm::run(each, seed, write),
        &Oracle::Float { each, seed } => float::run(each, seed),
        Oracle::Guests => guests::run(),
        Oracle::Programs(args) => programs::run(args),
    }
}
