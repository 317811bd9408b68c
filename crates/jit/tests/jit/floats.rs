//! Scalar floating point on the numbers at which the host and the reference could differ.

use kvrm_arm64::asm::{Assembler, X0};
use kvrm_arm64::{Features, decode};
use kvrm_jit::JitEngine;
use kvrm_machine::{Image, Permissions};
use kvrm_testkit::images::{CODE, PAGE, segment};
use kvrm_testkit::pair::Pair;
use kvrm_testkit::random::Random;
use std::sync::Arc;

/// The scalar instructions under test, with the places of their registers left zero.
const WORDS: [u32; 24] = [
    0x1e60_2800, // fadd d
    0x1e60_3800, // fsub d
    0x1e60_0800, // fmul d
    0x1e60_1800, // fdiv d
    0x1e60_8800, // fnmul d
    0x1e60_2000, // fcmp d
    0x1e60_2010, // fcmpe d
    0x1e60_2008, // fcmp d, #0.0
    0x1e60_4000, // fmov d
    0x1e60_c000, // fabs d
    0x1e61_4000, // fneg d
    0x1e61_c000, // fsqrt d
    0x1f40_0000, // fmadd d
    0x1f40_8000, // fmsub d
    0x1f60_0000, // fnmadd d
    0x1f60_8000, // fnmsub d
    0x1e20_2800, // fadd s
    0x1e20_3800, // fsub s
    0x1e20_0800, // fmul s
    0x1e20_1800, // fdiv s
    0x1e20_2000, // fcmp s
    0x1f00_0000, // fmadd s
    0x9e66_0000, // fmov x, d
    0x9e67_0000, // fmov d, x
];

/// Returns a number near those at which exceptions begin: zeros, the least and the greatest numbers, one, and NaNs.
fn number(random: &mut Random) -> u64 {
    let exponent = [0, 1, 2, 512, 1022, 1023, 1024, 1535, 2045, 2046, 2047][random.below(11) as usize];
    let fraction = match random.below(4) {
        0 => 0,
        1 => random.below(3),
        2 => (1 << 52) - 1 - random.below(3),
        _ => random.below(1 << 52),
    };
    let double = random.below(2) << 63 | exponent << 52 | fraction;
    if random.below(3) > 0 {
        return double;
    }
    let exponent = [0, 1, 2, 64, 126, 127, 128, 190, 253, 254, 255][random.below(11) as usize];
    random.below(2) << 31 | exponent << 23 | fraction >> 29
}

#[test]
fn scalar_floating_point_is_as_on_the_reference() {
    assert!(WORDS.iter().all(|word| decode(*word).is_some()), "all words are instructions");
    let random = &mut Random::new(11);
    // Results go to V16 to V31, so the operands stay what they are.
    let mut assembler = Assembler::new(CODE);
    for _ in 0..400 {
        let word = *random.pick(&WORDS);
        let is_comparison = word & 0xff20_fc07 == 0x1e20_2000;
        let destination = if is_comparison { 0 } else { 16 + random.below(14) as u32 };
        let addend = if word >> 24 == 0x1f { random.below(16) as u32 } else { 0 };
        // Moves, signs, roots, and comparisons with zero have no second operand.
        let has_one = word >> 24 == 0x9e || word >> 24 == 0x1e && word & 0x7c00 == 0x4000 || word & 8 == 8;
        let second = if has_one { 0 } else { random.below(16) as u32 };
        assembler.word(word | destination | (random.below(16) as u32) << 5 | addend << 10 | second << 16);
    }
    assembler.mov(X0, 0).hlt(0);
    let words = assembler.finish().expect("the program assembles");
    let bytes = words.into_iter().flat_map(u32::to_le_bytes).collect();
    let segments = [segment(CODE, PAGE, bytes, Permissions::RX)];
    let image = Arc::new(Image::new(&segments, Features::ALL).expect("the segments do not overlap"));
    let mut pair = Pair::new(&[image], 64, 1, &JitEngine::eager(40));
    let numbers: Vec<[u64; 16]> = (0..64).map(|_| std::array::from_fn(|_| number(random))).collect();
    pair.both(|executor| {
        for (lane, numbers) in numbers.iter().enumerate() {
            let mut cpu = executor.cpu(lane).expect("the engine works");
            cpu.pc = CODE;
            numbers.iter().zip(&mut cpu.v).for_each(|(number, v)| *v = u128::from(*number));
            // FPSR.IXC in most lanes; rounding modes and FPCR.FZ in some.
            cpu.fpsr = if lane % 8 == 7 { 0 } else { 16 };
            cpu.fpcr = if lane % 4 == 3 { (lane as u32 / 4) << 22 & 0x07c0_0000 } else { 0 };
            executor.set_cpu(lane, &cpu).expect("the engine works");
        }
    });
    for limit in (1..=410).step_by(37).chain([1000]) {
        pair.run(&[limit; 64]);
        pair.assert_same(&|lane| format!("{lane} after {limit} steps"));
    }
}
