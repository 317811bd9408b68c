//! Every row on SIMD&FP registers that accesses no memory, in random words on random registers.

use std::sync::Arc;

use kvrm_arm64::encoding::ENCODINGS;
use kvrm_arm64::lowering::lower;
use kvrm_arm64::micro_op::Handler;
use kvrm_arm64::semantics::float::format::{DOUBLE, SINGLE};
use kvrm_arm64::{Encoding, Features, disassemble};
use kvrm_jit::JitEngine;
use kvrm_machine::{Cpu, Image, Permissions};
use kvrm_testkit::images::{CODE, segment};
use kvrm_testkit::pair::Pair;
use kvrm_testkit::random::Random;
use kvrm_testkit::{numbers, words};

const LANES: usize = 32;
/// The words of each row.
const WORDS: usize = 24;
/// The words of a program.
const LENGTH: usize = 12;

/// Returns whether a row is under test.
fn is_tested(encoding: &Encoding, random: &mut Random) -> bool {
    let handlers = [
        Handler::VECTOR_MOVE,
        Handler::VECTOR_PERMUTE,
        Handler::VECTOR_INTEGER,
        Handler::VECTOR_FLOAT,
        Handler::VECTOR_CRYPTO,
    ];
    let op = lower(words::allocated(encoding, random), Features::ALL);
    handlers.iter().any(|handler| op.handler() == *handler as u32)
}

/// Returns registers with numbers of both precisions, integers, and all kinds of FPCR and FPSR.
fn registers(random: &mut Random, edges: &[Vec<u64>; 2]) -> Cpu {
    let mut cpu = Cpu::default();
    cpu.pc = CODE;
    cpu.nzcv = random.below(16) as u32;
    for n in 0..31 {
        cpu.set_x(n, random.bits() >> random.below(64));
    }
    for v in &mut cpu.v {
        let kind = random.below(4);
        let mut double = || numbers::float(DOUBLE, &edges[1], random);
        let doubles = u128::from(double()) << 64 | u128::from(double());
        let mut single = || u128::from(numbers::float(SINGLE, &edges[0], random));
        let singles = (0..4).fold(0, |all, _| all << 32 | single());
        // Numbers near one, whose sums and products are neither tiny nor huge.
        let near = |bits: u64, one: u64, fraction: u32| one << fraction | bits & ((1 << fraction) - 1);
        let bits = random.bits();
        *v = match kind {
            0 => doubles,
            1 => singles,
            2 => u128::from(near(bits, 0x3ff - (bits >> 60), 52)) << 64 | u128::from(near(!bits, 0x400, 52)),
            _ => (0..4).fold(0, |all, n| all << 32 | u128::from(near(bits >> n, 0x7f + n, 23))),
        };
    }
    cpu.fpsr = if random.below(6) == 0 { 0 } else { 16 };
    cpu.fpcr = if random.below(4) == 0 { (random.below(32) as u32) << 22 } else { 0 };
    cpu
}

#[test]
fn random_words_of_every_row_end_as_on_the_reference() {
    let random = &mut Random::new(5);
    let rows: Vec<&Encoding> = ENCODINGS.iter().filter(|encoding| is_tested(encoding, random)).collect();
    assert!(rows.len() > 400, "{} rows", rows.len());
    let mut all: Vec<u32> = rows
        .iter()
        .flat_map(|row| (0..WORDS).map(|_| words::allocated(row, random)).collect::<Vec<_>>())
        .collect();
    all.sort_by_cached_key(|_| random.bits());
    let edges = [SINGLE, DOUBLE].map(numbers::floats);
    // Programs are short, so that most operands are the random numbers. Each is in an image of its own.
    for (number, words) in all.chunks(LENGTH).enumerate() {
        let halt = 0xd440_0000_u32;
        let bytes = words.iter().chain([&halt]).flat_map(|word| word.to_le_bytes()).collect();
        let segments = [segment(CODE, 0x1000, bytes, Permissions::RX)];
        let image = Arc::new(Image::new(&segments, Features::ALL).expect("the segments do not overlap"));
        let mut pair = Pair::new(&[image], LANES, 1, &JitEngine::eager(LENGTH));
        let cpus: Vec<Cpu> = (0..LANES).map(|_| registers(random, &edges)).collect();
        pair.both(|executor| {
            for (lane, cpu) in cpus.iter().enumerate() {
                executor.set_cpu(lane, cpu).expect("the engine works");
            }
        });
        pair.run(&[1000; LANES]);
        pair.assert_same(&|lane| {
            let text: Vec<String> = words.iter().map(|word| disassemble(*word, 0).to_string()).collect();
            format!("program {number}, {}:\n{}\n{:x?}", lane, text.join("\n"), cpus[lane].v)
        });
    }
}
