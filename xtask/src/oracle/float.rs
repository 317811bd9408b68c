//! Comparison of floating-point instructions with QEMU user mode.
//!
//! The judge is a program of `float.c` and a generated assembly file. It executes the instructions under QEMU on inputs
//! from its standard input.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};
use kvrm_arm64::semantics::float::round::FpResult;
use kvrm_testkit::float::{Inputs, Instruction, Place, instructions};
use kvrm_testkit::random::Random;

use super::corpus::write_corpus;
use crate::system::{COMPILER, ensure_program};

/// The seed of the committed corpus.
pub(super) const SEED: u64 = 1;
/// The processor that QEMU emulates, an Armv8.0 one.
const PROCESSOR: &str = "cortex-a53";
/// The size of an answer of the judge in bytes.
const ANSWER: usize = 24;

pub(super) fn run(each: usize, seed: u64) -> Result<()> {
    let all = instructions();
    let mut random = Random::new(seed);
    let cases = all.iter().enumerate().flat_map(|(number, instruction)| {
        let mut inputs = || instruction.inputs(&mut random);
        (0..each).map(|_| (number, inputs())).collect::<Vec<_>>()
    });
    let cases: Vec<(usize, Inputs)> = cases.collect();
    let answers = ask(&all, &cases)?;
    let (mut text, mut differ) = (String::new(), 0);
    for ((number, inputs), theirs) in cases.iter().zip(answers) {
        let instruction = &all[*number];
        let ours = instruction.compute(*inputs);
        let (fpcr, [x, y, z]) = inputs;
        let line = format!(
            "{}: {fpcr:x} {x:x} {y:x} {z:x} = {:x} {:x}",
            instruction.text, theirs.value, theirs.fpsr
        );
        if ours != theirs {
            differ += 1;
            if differ <= 20 {
                println!("{line}, but KVRM computes {:x} {:x}", ours.value, ours.fpsr);
            }
        }
        writeln!(text, "{line}").expect("writing to a String does not fail");
    }
    println!("{} cases of {} instructions, {differ} on which KVRM and QEMU differ", cases.len(), all.len());
    if differ > 0 {
        bail!("KVRM and QEMU differ; the corpus is not written before the differences are resolved");
    }
    if seed == SEED { write_corpus("float.txt.gz", &text) } else { Ok(()) }
}

/// Returns the results of all cases under QEMU.
fn ask(all: &[Instruction], cases: &[(usize, Inputs)]) -> Result<Vec<FpResult>> {
    ensure_program("qemu-aarch64", "qemu-user")?;
    let folder = crate::root::root().join("target/oracle/float");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let judge = compile(all, &folder)?;

    let mut questions = Vec::new();
    for (number, (fpcr, operands)) in cases {
        questions.extend((*number as u32).to_le_bytes());
        questions.extend(fpcr.to_le_bytes());
        operands.iter().for_each(|operand| questions.extend(operand.to_le_bytes()));
    }
    let file = folder.join("questions");
    fs::write(&file, questions).with_context(|| format!("cannot write {}", file.display()))?;
    let mut command = Command::new("qemu-aarch64");
    let output = command.args(["-cpu", PROCESSOR]).arg(judge).stdin(File::open(file)?).output()?;
    ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    let (answers, rest) = output.stdout.as_chunks::<ANSWER>();
    ensure!(
        rest.is_empty() && answers.len() == cases.len(),
        "the judge must answer {} cases, and answered {}",
        cases.len(),
        answers.len()
    );
    let places = cases.iter().map(|(number, _)| all[*number].place());
    Ok(places.zip(answers).map(|(place, answer)| result(place, answer)).collect())
}

/// Returns the result of an instruction from an answer of the judge.
fn result(place: Place, answer: &[u8; ANSWER]) -> FpResult {
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte));
    let value = match place {
        Place::Vector => number(&answer[..8]),
        Place::General => number(&answer[8..16]),
        Place::Flags => number(&answer[16..20]),
    };
    FpResult { value, fpsr: number(&answer[20..]) as u32 }
}

/// Compiles the judge with all instructions and returns its path.
fn compile(all: &[Instruction], folder: &Path) -> Result<PathBuf> {
    ensure_program(COMPILER, "gcc-aarch64-linux-gnu")?;
    let mut assembly =
        String::from(".arch armv8-a\n.section .rodata\n.balign 8\n.global instructions\ninstructions:\n");
    let mut text = String::from(".text\n");
    for (number, instruction) in all.iter().enumerate() {
        writeln!(assembly, ".quad i{number}")?;
        writeln!(text, "i{number}: {}\nret", instruction.text)?;
    }
    let source = folder.join("instructions.s");
    fs::write(&source, assembly + &text)?;
    let judge = folder.join("judge");
    let mut command = Command::new(COMPILER);
    command.args(["-O2", "-Wall", "-Wextra", "-Werror", "-ffreestanding", "-fno-stack-protector"]);
    command.args(["-nostdlib", "-static", "-o"]).arg(&judge);
    command.arg(crate::root::root().join("xtask/src/oracle/float.c")).arg(&source);
    let output = command.output().with_context(|| format!("cannot run {COMPILER}"))?;
    ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(judge)
}
