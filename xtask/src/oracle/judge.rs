//! Answers of QEMU user mode for single instructions that access only registers.
//!
//! The judge is the program `judge.c`. It executes the instructions of vectors under QEMU, on registers from its standard
//! input.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use kvrm_arm64::pattern::Pattern;
use kvrm_arm64::semantics::float::control::FPCR_FZ;
use kvrm_machine::vectors::{Hex, Number, State, StopName, Vector};

use crate::root::root;
use crate::system::{COMPILER, ensure_program};

/// The processor that QEMU emulates, which has all features that QEMU has.
const PROCESSOR: &str = "max";
/// The words of the registers before and after an instruction: `struct registers`.
const REGISTERS: usize = 100;

/// FCVTZS and FCVTZU of a scalar of half precision to fixed point.
const HALF_TO_INTEGER: [Pattern; 1] = [Pattern::parse("01.111110001....111111..........")];

const FJCVTZS: Pattern = Pattern::parse("0001111001111110000000..........");

/// Returns the states after the instructions of vectors, each of which has one.
pub(super) fn answers(vectors: &[Vector]) -> Result<Vec<State>> {
    ensure_program("qemu-aarch64", "qemu-user")?;
    let folder = root().join("target/oracle/judge");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let judge = compile(folder.join("judge"))?;
    let file = folder.join("questions");
    let questions: Vec<u8> = vectors.iter().flat_map(question).flat_map(u64::to_le_bytes).collect();
    fs::write(&file, questions).with_context(|| format!("cannot write {}", file.display()))?;
    let mut command = Command::new("qemu-aarch64");
    let output = command.args(["-cpu", PROCESSOR]).arg(judge).stdin(File::open(file)?).output()?;
    ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    let (words, rest) = output.stdout.as_chunks::<8>();
    let words: Vec<u64> = words.iter().map(|word| u64::from_le_bytes(*word)).collect();
    let (answers, more) = words.as_chunks::<REGISTERS>();
    ensure!(
        rest.is_empty() && more.is_empty() && answers.len() == vectors.len(),
        "the judge must answer {} questions, and answered {}",
        vectors.len(),
        answers.len()
    );
    Ok(vectors.iter().zip(answers).map(|(vector, answer)| state(vector, answer)).collect())
}

/// Returns the words of `struct question`.
fn question(vector: &Vector) -> Vec<u64> {
    let State { x, v, nzcv, fpcr, fpsr, .. } = &vector.init;
    let small = |value: &Option<Hex<u32>>| value.map_or(0, |value| value.0.into());
    let mut words = vec![vector.code[0].0.into(), 0];
    words.extend((0..31).map(|n| x.get(&Number(n)).map_or(0, |value| value.0)));
    words.extend([0, small(nzcv) << 28, small(fpcr), small(fpsr), 0]);
    for n in 0..32 {
        let value = v.get(&Number(n)).map_or(0, |value| value.0);
        words.extend([value as u64, (value >> 64) as u64]);
    }
    words
}

/// Returns the state of an answer.
fn state(vector: &Vector, answer: &[u64; REGISTERS]) -> State {
    let is_undefined = answer[35] == 1;
    let pc = if is_undefined { vector.pc.0 } else { vector.pc.0 + 4 };
    let halves = |n: usize| u128::from(answer[36 + 2 * n]) | u128::from(answer[37 + 2 * n]) << 64;
    let word = vector.code[0].0;
    // QEMU 7.2 extends the sign of this result to 32 bits. The manual's result is an element of 16 bits, with zeros above.
    let extended = HALF_TO_INTEGER.iter().any(|pattern| pattern.matches(word)).then_some(word & 31);
    let v = |n: u32| halves(n as usize) & if extended == Some(n) { 0xffff } else { u128::MAX };
    State {
        x: (0..31).map(|n| (Number(n), Hex(answer[n as usize]))).collect(),
        v: (0..32).map(|n| (Number(n), Hex(v(n)))).collect(),
        sp: vector.init.sp,
        nzcv: Some(Hex(if is_flushed_to_javascript(vector) { 0 } else { (answer[32] >> 28) as u32 & 15 })),
        fpcr: Some(Hex(answer[33] as u32)),
        fpsr: Some(Hex(answer[34] as u32)),
        tpidr_el0: Some(Hex(0)),
        pc: Some(Hex(pc)),
        stop: Some(if is_undefined { StopName::Undefined } else { StopName::Budget }),
        ..State::default()
    }
}

/// Whether a vector is an FJCVTZS of a positive denormal number that is flushed. In QEMU 7.2 it sets Z, but in the manual's
/// `FPToFixedJS()` it does not, because the result is not the number.
fn is_flushed_to_javascript(vector: &Vector) -> bool {
    let word = vector.code[0].0;
    let number = vector.init.v.get(&Number(word >> 5 & 31)).map_or(0, |value| value.0 as u64);
    let flushes = vector.init.fpcr.is_some_and(|fpcr| fpcr.0 & FPCR_FZ != 0);
    FJCVTZS.matches(word) && flushes && number != 0 && number < 1 << 52
}

/// Compiles the judge and returns its path.
fn compile(judge: PathBuf) -> Result<PathBuf> {
    ensure_program(COMPILER, "gcc-aarch64-linux-gnu")?;
    let mut command = Command::new(COMPILER);
    command.args(["-O1", "-Wall", "-Wextra", "-Werror", "-static", "-o"]).arg(&judge);
    command.arg(root().join("xtask/src/oracle/judge.c"));
    let output = command.output().with_context(|| format!("cannot run {COMPILER}"))?;
    ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(judge)
}
