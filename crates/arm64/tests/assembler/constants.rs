//! `Assembler::mov`: the code is executed, and its length compared with the shortest possible one.

use kvrm_arm64::asm::{Assembler, Register, W7, X7};
use kvrm_arm64::{Word, decode};
use kvrm_testkit::random::Random;

use kvrm_testkit::flat::{Flat, execute};

/// Returns a random number whose halfwords are often all zeros or all ones.
fn constant(random: &mut Random) -> u64 {
    (0..4).fold(0, |value, _| {
        let half = match random.below(4) {
            0 => 0,
            1 => 0xffff,
            2 => 1 << random.below(16),
            _ => random.below(0x1_0000),
        };
        value << 16 | half
    })
}

/// Returns the least number of moves: one for each halfword that differs from the background of MOVZ or MOVN.
fn fewest_moves(value: u64, halves: usize) -> usize {
    let other_than = |filler| (0..halves).filter(|i| value >> (16 * i) & 0xffff != filler).count();
    other_than(0).min(other_than(0xffff)).max(1)
}

/// Assembles and executes a move. Returns the value of the register, and the number of words.
fn run_mov(register: Register, value: i64) -> (u64, usize) {
    let mut a = Assembler::new(kvrm_testkit::flat::BASE);
    a.mov(register, value);
    let words = a.finish().expect("a move of a constant can always be assembled");
    let mut memory = Flat::new(&words, 64);
    let mut cpu = memory.cpu();
    cpu.set_x(7, 0x5a5a_a5a5_1234_5678);
    for &word in &words {
        let op = decode(word).expect("the assembler makes no undefined words");
        assert_eq!(execute(&mut cpu, &mut memory, op, Word(word)), Ok(()), "{word:#010x} is a move");
    }
    (cpu.x(7), words.len())
}

#[test]
fn mov_to_a_64_bit_register_takes_the_fewest_instructions() {
    let mut random = Random::new(1);
    for _ in 0..20_000 {
        let value = constant(&mut random);
        let expected = (value, fewest_moves(value, 4));
        assert_eq!(run_mov(X7, value as i64), expected, "mov x7, {value:#x}");
    }
}

#[test]
fn mov_to_a_32_bit_register_clears_the_upper_half() {
    let mut random = Random::new(2);
    for _ in 0..20_000 {
        let value = constant(&mut random) as u32;
        let expected = (u64::from(value), fewest_moves(value.into(), 2));
        assert_eq!(run_mov(W7, value.into()), expected, "mov w7, {value:#x}");
        // The value as a signed number must give the same code.
        let signed = i64::from(value as i32);
        assert_eq!(run_mov(W7, signed), expected, "mov w7, {signed}");
    }
}

#[test]
fn a_constant_of_more_than_32_bits_is_refused_for_a_32_bit_register() {
    for value in [1 << 32, i64::from(i32::MIN) - 1, i64::MAX, i64::MIN] {
        let mut a = Assembler::new(0);
        a.mov(W7, value);
        let result = a.finish();
        assert!(result.is_err(), "mov w7, {value:#x} became {result:08x?}");
    }
}
