//! Independent oracles: Unicorn for semantics and undefined words, objdump for text, QEMU for whole programs
//! and floating point.
//!
//! They are GPL programs and run as such, beside us; what they say is committed under `tests/corpus/`.

mod disasm;
mod float;
mod guests;
mod program_runs;
mod programs;
mod undefined;
mod vectors;

use std::io::{BufRead, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use flate2::{Compression, GzBuilder};

use crate::steps::cargo;
use crate::system::python;

/// The version every corpus was made with.
const UNICORN: &str = "unicorn==2.1.4";

/// A processor of Armv8.0, as the machine is. The one QEMU has unless told otherwise puts more into frames of signals.
const QEMU_CPU: [&str; 2] = ["-cpu", "cortex-a53"];

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

/// The command, built from the sources as they are.
pub(crate) fn kvrm() -> Result<PathBuf> {
    let arguments = ["build", "--release", "--quiet", "--package", "kvrm-cli"];
    ensure!(cargo().args(arguments).status()?.success(), "kvrm does not build");
    let target = std::env::var_os("CARGO_TARGET_DIR");
    Ok(target.map_or_else(|| crate::root().join("target"), Into::into).join("release/kvrm"))
}

/// Where corpora are kept.
fn corpus(name: &str) -> PathBuf {
    crate::root().join("tests/corpus").join(name)
}

/// Writes a compressed corpus file, the same bytes for the same text on every machine and day.
fn write_corpus(name: &str, text: &str) -> Result<()> {
    let path = corpus(name);
    let mut gz = GzBuilder::new().mtime(0).write(Vec::new(), Compression::best());
    gz.write_all(text.as_bytes())?;
    std::fs::write(&path, gz.finish()?).with_context(|| format!("cannot write {}", path.display()))?;
    println!("wrote {}", path.display());
    Ok(())
}

/// Unicorn, in a Python process of its own.
struct Unicorn {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Unicorn {
    fn start() -> Result<Self> {
        let python = python("oracle", "unicorn", &["setuptools<81", UNICORN])?;
        let script = crate::root().join("xtask/src/oracle/unicorn_oracle.py");
        let mut child = Command::new(python)
            .arg(script)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start Python")?;
        let input = child.stdin.take();
        let output = child.stdout.take().context("Python has no output")?;
        Ok(Self { child, input, output: BufReader::new(output) })
    }

    /// Sends one request and reads its answer.
    fn ask<T: serde::de::DeserializeOwned>(&mut self, request: &impl serde::Serialize) -> Result<T> {
        let input = self.input.as_mut().context("Unicorn has ended")?;
        serde_json::to_writer(&mut *input, request)?;
        input.write_all(b"\n")?;
        let mut answer = String::new();
        self.output.read_line(&mut answer)?;
        ensure!(!answer.is_empty(), "Unicorn ended before its answer; what it said is above");
        serde_json::from_str(&answer).with_context(|| format!("Unicorn answered {answer}"))
    }
}

impl Drop for Unicorn {
    fn drop(&mut self) {
        // Without input the script ends.
        self.input = None;
        let _ = self.child.wait();
    }
}
