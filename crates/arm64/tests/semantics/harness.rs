//! The test harness: executes random words of the table and compares the states after them.

use kvrm_arm64::encoding::ENCODINGS;
use kvrm_arm64::{Cpu, Encoding, Word};
use kvrm_testkit::random::Random;
use kvrm_testkit::words;

use crate::numbers::{low, random_number};
use kvrm_testkit::flat::{Flat, execute};

const WORDS_OF_EACH: usize = 2000;

/// Returns random registers. The pc is a multiple of four.
pub(crate) fn random_cpu(random: &mut Random) -> Cpu {
    let mut cpu = Cpu::new(random_number(random) & !3, random_number(random));
    for n in 0..31 {
        cpu.set_x(n, random_number(random));
    }
    // Two registers often have the same value, so that comparisons find equal operands.
    if random.below(4) == 0 {
        let value = cpu.x(random.below(31) as u32);
        cpu.set_x(random.below(31) as u32, value);
    }
    cpu.nzcv = random.below(16) as u32;
    cpu.keys = random.bits();
    cpu
}

/// Returns the register size that bit 31 of a word selects.
pub(crate) fn datasize(word: u32) -> u32 {
    if word >> 31 == 1 { 64 } else { 32 }
}

/// Returns a general register in `datasize` bits; number 31 is zero.
pub(crate) fn x(cpu: &Cpu, number: u32, datasize: u32) -> u64 {
    if number == 31 { 0 } else { low(cpu.general_registers()[number as usize], datasize) }
}

/// Returns a general register in `datasize` bits; number 31 is the stack pointer.
pub(crate) fn x_or_sp(cpu: &Cpu, number: u32, datasize: u32) -> u64 {
    if number == 31 { low(cpu.sp, datasize) } else { x(cpu, number, datasize) }
}

/// Writes a general register; a write to number 31 is discarded.
pub(crate) fn set_x(cpu: &mut Cpu, number: u32, value: u64) {
    if number != 31 {
        cpu.set_x(number, value);
    }
}

/// Writes a general register; number 31 is the stack pointer.
pub(crate) fn set_x_or_sp(cpu: &mut Cpu, number: u32, value: u64) {
    if number == 31 { cpu.sp = value } else { cpu.set_x(number, value) }
}

/// Executes random words of every row of the groups. `expect` changes the state before an instruction to the state
/// after it; the pc is already at the next word.
pub(crate) fn check(groups: &[&str], expect: impl Fn(&mut Cpu, &Encoding, u32)) {
    check_all(groups, &expect);
}

/// As [`check`], compiled once: `execute` is large.
fn check_all(groups: &[&str], expect: &dyn Fn(&mut Cpu, &Encoding, u32)) {
    let mut random = Random::new(1);
    for group in groups {
        let rows: Vec<&Encoding> = ENCODINGS.iter().filter(|row| row.group() == *group).collect();
        assert!(!rows.is_empty(), "no row is in group {group}");
        for row in rows.into_iter().filter(|row| !row.is_undefined_at_el0()) {
            for _ in 0..WORDS_OF_EACH {
                let word = words::allocated(row, &mut random);
                let before = random_cpu(&mut random);
                let mut expected = before.clone();
                expected.pc = expected.pc.wrapping_add(4);
                expect(&mut expected, row, word);
                let mut after = before.clone();
                let result = execute(&mut after, &mut Flat::new(&[], 0), row.op, Word(word));
                assert_eq!(result, Ok(()), "{} {word:#010x}", row.name);
                assert_eq!(after, expected, "{} {word:#010x} after {before:?}", row.name);
            }
        }
    }
}
