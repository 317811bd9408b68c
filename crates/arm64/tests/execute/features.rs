//! Encodings of a feature the machine does not have are undefined.

use kvrm_arm64::encoding::ENCODINGS;
use kvrm_arm64::{Encoding, Feature, Features, Instruction, Stop};
use kvrm_testkit::random::Random;
use kvrm_testkit::words;

use crate::flat::Flat;
use crate::{random_cpu, step_word};

fn of(feature: Feature) -> Vec<&'static Encoding> {
    ENCODINGS.iter().filter(|row| row.feature == feature).collect()
}

#[test]
fn words_of_a_missing_feature_are_undefined_and_those_of_others_are_not() {
    let mut random = Random::new(1);
    for (crc32, lse) in [(false, false), (false, true), (true, false), (true, true)] {
        let features = Features { crc32, lse };
        for row in ENCODINGS {
            let exists = match row.feature {
                Feature::Base => true,
                Feature::Crc32 => crc32,
                Feature::Lse => lse,
            };
            for _ in 0..20 {
                let word = words::allocated(row, &mut random);
                let instruction = Instruction::new(word, features);
                assert_eq!(instruction.word, word, "the word is kept");
                assert_eq!(instruction.op, exists.then_some(row.op), "{} with {features:?}", row.name);
            }
        }
    }
}

#[test]
fn a_machine_unless_told_otherwise_has_checksums_but_no_atomics() {
    assert_eq!(Features::ARMV8_0, Features { crc32: true, lse: false }, "Armv8.0-A and CRC32");
    assert_eq!(Features::ALL, Features { crc32: true, lse: true }, "everything");
}

#[test]
fn executing_an_instruction_of_a_missing_feature_changes_nothing() {
    let mut random = Random::new(2);
    let none = Features { crc32: false, lse: false };
    let (lse, crc32) = (of(Feature::Lse), of(Feature::Crc32));
    assert_eq!((lse.len(), crc32.len()), (168, 8), "encodings of optional features");
    for row in lse.into_iter().chain(crc32) {
        for _ in 0..20 {
            let word = words::allocated(row, &mut random);
            let mut memory = Flat::new(&[word], 64);
            memory.features = none;
            let mut cpu = random_cpu(&mut random);
            let (before, memory_before) = (cpu.clone(), memory.clone());
            let result = step_word(&mut cpu, &mut memory, word);
            assert_eq!(result, Err(Stop::Undefined { word }), "{} {word:#010x}", row.name);
            assert_eq!(cpu, before, "registers after {}", row.name);
            assert!(memory == memory_before, "memory after {}", row.name);
        }
    }
}
