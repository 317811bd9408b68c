//! Test vectors of pointer authentication, with answers of QEMU's system emulator.
//!
//! The judge is the program `judge_pauth.c`. It runs without an operating system, because only then are the keys known: they are
//! those of a lane whose [`Cpu::keys`](kvrm_arm64::Cpu::keys) is 0.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use kvrm_arm64::encoding::ENCODINGS;
use kvrm_arm64::lowering::lower;
use kvrm_arm64::semantics::pauth::{KEYS, POINTER_AUTHENTICATE, POINTER_SIGN, authenticated, key};
use kvrm_arm64::{Encoding, Feature, Features};
use kvrm_machine::vectors::{Hex, Number, State, StopName, Vector};
use kvrm_testkit::inputs::{self, CODE, DATA, DATA_BYTES};
use kvrm_testkit::random::Random;

use super::vectors::{Corpus, finish};
use crate::root::root;
use crate::system::{COMPILER, ensure_program};

/// The corpus file.
pub(super) const FILE: &str = "pauth.jsonl.gz";
const QEMU: &str = "qemu-system-aarch64";
/// The words of `struct question`, and of the registers in it.
const QUESTION: usize = 64;
/// The words of `struct answer`.
const ANSWER: usize = 36;
/// The stack pointer in micro-ops.
const SP: u32 = kvrm_arm64::micro_op::SP;

/// Makes the vectors.
pub(super) fn run(each: usize, seed: u64) -> Result<()> {
    let mut random = Random::new(seed);
    let mut vectors = Vec::new();
    for encoding in ENCODINGS.iter().filter(|row| row.feature == Feature::PAuth) {
        let mut inputs = inputs::of_encoding(encoding, each, &mut random);
        for (index, vector) in inputs.iter_mut().enumerate() {
            adapt(encoding, vector, index, &mut random);
        }
        vectors.extend(inputs);
    }
    let answers = answers(&vectors)?;
    for (vector, answer) in vectors.iter_mut().zip(&answers) {
        vector.expected = state(vector, answer);
    }
    finish(&Corpus { file: FILE, each, seed, is_later: true }, vectors)
}

/// Replaces the pointer of an instruction: every second one is signed, so that it authenticates.
fn adapt(encoding: &Encoding, vector: &mut Vector, index: usize, random: &mut Random) {
    let op = lower(vector.code[0].0, Features::ALL);
    let is_load = encoding.group() == "ldst_pac";
    let is_branch = encoding.group() == "branch_reg";
    for n in [op.a(), op.b()].into_iter().filter(|n| *n < 31 && encoding.group() == "hints") {
        vector.init.x.insert(Number(n), Hex(random.bits() >> random.below(64)));
    }
    if encoding.is_undefined_at_el0() {
        return;
    }
    let modifier = get(vector, op.b());
    let mut pointer = get(vector, op.a());
    if is_branch {
        // Not the instruction itself.
        pointer = CODE + 4 * (1 + random.below(1023));
    }
    let (kind, number) = (op.operation() & 3, op.operation() >> 2);
    if kind == POINTER_AUTHENTICATE && index.is_multiple_of(2) {
        // A pointer to memory, or with any number in bits 47 to 0.
        let upper = if is_load || is_branch { 0 } else { (random.bits() & 1).wrapping_neg() << 48 };
        let address = if is_load || is_branch { pointer } else { random.bits() >> 16 | upper };
        pointer = authenticated(POINTER_SIGN | number << 2, address, modifier, 0);
        if random.below(4) == 0 && !is_load {
            pointer ^= 1 << (48 + random.below(7));
        }
    } else if is_branch {
        pointer = random.bits() >> 8;
    }
    if pointer >> 55 & 1 == 1 {
        // QEMU 7.2 takes bit 63 for the bits of an address that is not tagged, and the manual bit 55, if `TBI0` is 1.
        pointer |= 1 << 63;
    }
    set(vector, op.a(), pointer);
}

/// Returns the value of an interpreter's register.
fn get(vector: &Vector, register: u32) -> u64 {
    if register == SP {
        return vector.init.sp.map_or(0, |sp| sp.0);
    }
    vector.init.x.get(&Number(register)).map_or(0, |value| value.0)
}

/// Sets an interpreter's register.
fn set(vector: &mut Vector, register: u32, value: u64) {
    if register == SP {
        vector.init.sp = Some(Hex(value));
    } else if register < 31 {
        vector.init.x.insert(Number(register), Hex(value));
    }
}

/// Returns the words of `struct answer` for each vector.
fn answers(vectors: &[Vector]) -> Result<Vec<[u64; ANSWER]>> {
    ensure_program(QEMU, "qemu-system-arm")?;
    let folder = root().join("target/oracle/judge_pauth");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    compile(&folder)?;
    let mut words = vec![vectors.len() as u64];
    words.extend((0..KEYS).flat_map(|number| key(0, number)));
    words.extend(vectors.iter().flat_map(question));
    let bytes: Vec<u8> = words.into_iter().flat_map(u64::to_le_bytes).collect();
    fs::write(folder.join("questions"), bytes)?;
    let mut command = Command::new(QEMU);
    command.current_dir(&folder).args([
        "-M",
        "virt",
        "-cpu",
        "max,pauth-impdef=off",
        "-m",
        "1G",
        "-nodefaults",
    ]);
    command.args(["-display", "none", "-semihosting-config", "enable=on,target=native", "-kernel", "judge"]);
    command.args(["-device", "loader,file=questions,addr=0x50000000,force-raw=on"]);
    let output = command.output().with_context(|| format!("cannot run {QEMU}"))?;
    ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    let answers = fs::read(folder.join("answers"))?;
    let (words, _) = answers.as_chunks::<8>();
    let words: Vec<u64> = words.iter().map(|word| u64::from_le_bytes(*word)).collect();
    let (answers, _) = words.as_chunks::<ANSWER>();
    ensure!(answers.len() == vectors.len(), "{} of {} questions are answered", answers.len(), vectors.len());
    Ok(answers.to_vec())
}

/// Returns the words of `struct question`.
fn question(vector: &Vector) -> Vec<u64> {
    let State { x, sp, nzcv, mem, .. } = &vector.init;
    let mut words = vec![vector.code[0].0.into()];
    words.extend((0..31).map(|n| x.get(&Number(n)).map_or(0, |value| value.0)));
    words.extend([sp.map_or(0, |sp| sp.0), nzcv.map_or(0, |nzcv| u64::from(nzcv.0) << 28)]);
    words.resize(QUESTION, 0);
    let mut data = [0; DATA_BYTES as usize];
    for piece in mem {
        data[(piece.at.0 - DATA) as usize..][..piece.bytes.len()].copy_from_slice(&piece.bytes);
    }
    words.extend(data.as_chunks::<8>().0.iter().map(|bytes| u64::from_le_bytes(*bytes)));
    words
}

/// Returns the state of an answer.
fn state(vector: &Vector, answer: &[u64; ANSWER]) -> State {
    const UNKNOWN: u64 = 0;
    const DATA_ABORT: u64 = 0x24;
    let (pc, class) = (answer[33], answer[34] >> 26 & 63);
    let stop = match class {
        UNKNOWN if pc == CODE => StopName::Undefined,
        DATA_ABORT => StopName::Fault,
        // BRK after the instruction, or an exception at the target of a branch.
        _ => StopName::Budget,
    };
    State {
        x: (0..31).map(|n| (Number(n), Hex(answer[n as usize]))).collect(),
        v: (0..32).map(|n| (Number(n), Hex(0))).collect(),
        sp: Some(Hex(answer[31])),
        nzcv: Some(Hex((answer[32] >> 28) as u32 & 15)),
        fpcr: vector.init.fpcr,
        fpsr: vector.init.fpsr,
        tpidr_el0: vector.init.tpidr_el0,
        pc: Some(Hex(pc)),
        stop: Some(stop),
        ..State::default()
    }
}

/// Compiles the judge.
fn compile(folder: &Path) -> Result<()> {
    ensure_program(COMPILER, "gcc-aarch64-linux-gnu")?;
    let mut command = Command::new(COMPILER);
    command.args([
        "-O1",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-ffreestanding",
        "-fno-stack-protector",
        "-fno-pic",
    ]);
    command.args([
        "-fno-tree-loop-distribute-patterns",
        "-nostdlib",
        "-static",
        "-no-pie",
        "-mgeneral-regs-only",
    ]);
    command.args(["-Wl,-Ttext=0x40080000,--build-id=none", "-o"]).arg(folder.join("judge"));
    command.arg(root().join("xtask/src/oracle/judge_pauth.c"));
    let output = command.output().with_context(|| format!("cannot run {COMPILER}"))?;
    ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}
