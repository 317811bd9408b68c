//! Encodings of features that the machine does not have are undefined.

use kvrm_arm64::encoding::ENCODINGS;
use kvrm_arm64::{Encoding, Feature, Features, Instruction, Op, Processor, Stop};
use kvrm_testkit::random::Random;
use kvrm_testkit::words;

use crate::{random_cpu, step_word};
use kvrm_testkit::flat::Flat;

fn rows_of(feature: Feature) -> Vec<&'static Encoding> {
    ENCODINGS.iter().filter(|row| row.feature == feature).collect()
}

#[test]
fn words_of_a_missing_feature_are_undefined_and_those_of_others_are_not() {
    let mut random = Random::new(1);
    let none_one_or_all =
        Feature::ALL.iter().flat_map(|feature| [1 << *feature as u32, !(1 << *feature as u32)]);
    let some = (0..200).map(|_| random.bits()).collect::<Vec<_>>();
    for bits in none_one_or_all.chain(some) {
        let features = Features::from_bits(bits);
        for row in ENCODINGS {
            let word = words::allocated(row, &mut random);
            let feature = row.op.feature_of(word);
            let exists = feature == Feature::Base || bits >> feature as u32 & 1 == 1;
            assert_eq!(features.has(feature), exists, "{feature:?} of {features:?}");
            let instruction = Instruction::new(word, features);
            assert_eq!(instruction.word, word, "the word is kept");
            let hint = (row.group() == "hints").then_some(Op::HINT_HM_hints);
            let op = if exists { Some(row.op) } else { hint };
            assert_eq!(instruction.op, op, "{} with {features:?}", row.name);
        }
    }
}

#[test]
fn pmull_of_64_bit_polynomials_is_a_separate_feature() {
    let (bytes, doublewords) = (0x0e22_e020, 0x0ee2_e020);
    let without = Features { pmull: false, ..Features::ALL };
    assert!(Instruction::new(bytes, without).op.is_some(), "pmull v0.8h, v1.8b, v2.8b");
    assert!(Instruction::new(doublewords, without).op.is_none(), "pmull v0.1q, v1.1d, v2.1d");
    assert!(
        Instruction::new(doublewords, Features::ALL).op.is_some(),
        "pmull v0.1q, v1.1d, v2.1d with the feature"
    );
}

#[test]
fn the_default_machine_has_crc32_and_no_other_feature() {
    assert_eq!(Features::ARMV8_0, Features { crc32: true, ..Features::BASE }, "Armv8.0-A and CRC32");
    assert_eq!(Features::ALL, Features::from_bits(u64::MAX), "everything");
}

#[test]
fn features_have_different_names() {
    for (n, feature) in Feature::ALL.iter().enumerate() {
        assert_eq!(*feature as usize, n, "{feature:?} has its place in the list");
        assert_eq!(Feature::from_name(feature.name()), Some(*feature), "{feature:?} is found by its name");
    }
}

#[test]
fn processors_with_more_features_come_later() {
    for pair in Processor::ALL.windows(2) {
        let lost: Vec<Feature> = pair[0].features().without(pair[1].features()).collect();
        assert_eq!(lost, [], "{:?} has the features of {:?}", pair[1], pair[0]);
    }
    assert_eq!(Processor::Max.features(), Features::ALL, "all");
}

#[test]
fn executing_an_instruction_of_a_missing_feature_changes_nothing() {
    let mut random = Random::new(2);
    let none = Features::BASE;
    let (lse, crc32) = (rows_of(Feature::Lse), rows_of(Feature::Crc32));
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
