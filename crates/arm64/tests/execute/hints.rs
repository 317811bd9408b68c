//! Hints, barriers and prefetches take a step and change nothing else.

use kvrm_arm64::encoding::ENCODINGS;
use kvrm_arm64::{Feature, Features, Instruction, Monitor, Op};
use kvrm_testkit::random::Random;
use kvrm_testkit::words;

use crate::{random_cpu, step_word};
use kvrm_testkit::flat::{BASE, Flat};

#[test]
fn hints_barriers_and_prefetches_do_nothing() {
    let mut random = Random::new(1);
    let rows = ENCODINGS.iter().filter(|row| {
        let is_barrier = row.group() == "barriers" && row.mnemonic != "clrex";
        let is_hint = row.group() == "hints" && row.feature == Feature::Base;
        is_hint || is_barrier || row.mnemonic.starts_with("prf")
    });
    let mut count = 0;
    for row in rows {
        count += 1;
        for _ in 0..100 {
            let word = words::allocated(row, &mut random);
            let mut memory = Flat::new(&[word], 64);
            let mut cpu = random_cpu(&mut random);
            cpu.monitor = Some(Monitor { address: BASE, bytes: 8 });
            let mut expected = cpu.clone();
            expected.pc += 4;
            expected.steps += 1;
            let memory_before = memory.clone();
            assert_eq!(step_word(&mut cpu, &mut memory, word), Ok(()), "{} {word:#010x}", row.name);
            assert_eq!(cpu, expected, "registers after {} {word:#010x}", row.name);
            assert!(memory == memory_before, "memory after {} {word:#010x}", row.name);
        }
    }
    assert_eq!(count, 16 + 4 + 4, "hints, barriers, prefetches");
}

#[test]
fn all_words_of_the_hint_space_are_hints() {
    // Hints that are not yet assigned are NOPs, so that programs may use them before all machines have them.
    let mut random = Random::new(2);
    for number in 0..128 {
        let mut memory = Flat::new(&[], 64);
        let mut cpu = random_cpu(&mut random);
        let result = step_word(&mut cpu, &mut memory, 0xd503_201f | number << 5);
        assert_eq!(result, Ok(()), "hint #{number}");
    }
}

#[test]
fn hints_of_missing_features_are_nops() {
    let hints = ENCODINGS.iter().filter(|row| row.group() == "hints" && row.feature != Feature::Base);
    let mut count = 0;
    for row in hints {
        count += 1;
        let word = row.pattern.canonical();
        assert_eq!(Instruction::new(word, Features::ALL).op, Some(row.op), "{}", row.name);
        let nop = Instruction::new(word, Features::ARMV8_0).op;
        assert_eq!(nop, Some(Op::HINT_HM_hints), "{} without {:?}", row.name, row.feature);
    }
    assert_eq!(count, 13, "hints of pointer authentication");
}

#[test]
fn clrex_only_clears_the_monitor() {
    let mut random = Random::new(3);
    for option in 0..16 {
        let mut cpu = random_cpu(&mut random);
        cpu.monitor = Some(Monitor { address: BASE, bytes: 8 });
        let mut expected = cpu.clone();
        expected.pc += 4;
        expected.steps += 1;
        expected.monitor = None;
        let result = step_word(&mut cpu, &mut Flat::new(&[], 64), 0xd503_305f | option << 8);
        assert_eq!(result, Ok(()), "clrex #{option}");
        assert_eq!(cpu, expected, "registers after clrex #{option}");
    }
}
