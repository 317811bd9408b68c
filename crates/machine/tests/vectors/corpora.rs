//! Tests that every vector of the corpora passes, and that they cover every encoding.

use std::collections::BTreeMap;

use kvrm_arm64::encoding::ENCODINGS;
use kvrm_arm64::{Instruction, Op, Processor, decode};
use kvrm_machine::vectors::Vector;
use rayon::prelude::*;

use crate::support::{LATER, MANUAL, PAUTH, SIMD, UNICORN};

/// Returns the smallest number of vectors of an encoding.
fn vectors_min(name: &str) -> usize {
    let armv8_0 = Processor::CortexA53.features();
    let is_simd = Op::from_name(name).is_some_and(|op| op.feature().is_simd() && armv8_0.has(op.feature()));
    if is_simd { 50 } else { 20 }
}

fn all_pass(vectors: &[Vector]) {
    let failed: Vec<String> = vectors
        .par_iter()
        .filter_map(|vector| {
            Some(vector.run()).filter(|list| !list.is_empty()).map(|list| vector.describe(&list))
        })
        .collect();
    let first = failed.first().map_or("", |text| text);
    assert!(failed.is_empty(), "{} of {} failed, first: {first}", failed.len(), vectors.len());
}

#[test]
fn every_vector_of_unicorn_passes() {
    all_pass(&UNICORN);
}

#[test]
fn every_vector_of_floating_point_and_vectors_passes() {
    all_pass(&SIMD);
}

#[test]
fn every_vector_of_later_features_passes() {
    all_pass(&LATER);
}

#[test]
fn every_vector_of_pointer_authentication_passes() {
    all_pass(&PAUTH);
    let authenticates = |vector: &&Vector| {
        let changed = vector.expected.x.iter().filter(|(n, _)| n.0 != 30);
        vector.name.starts_with("AUT")
            && changed.clone().any(|(_, value)| value.0 >> 53 & 3 == value.0 >> 55 & 1)
    };
    let successes = PAUTH.iter().filter(authenticates).count();
    assert!(successes > 20, "{successes} pointers authenticate");
}

#[test]
fn every_vector_written_by_hand_passes() {
    all_pass(&MANUAL);
}

/// Returns the encoding with whose name the name of a vector begins.
fn encoding(vector: &Vector) -> Option<Op> {
    vector.name.split(' ').next().and_then(Op::from_name)
}

/// Returns whether a vector is for an undefined word that only resembles the encoding it is named after.
fn is_beside(vector: &Vector) -> bool {
    vector.name.ends_with(" beside")
}

#[test]
fn every_vector_contains_the_encoding_it_is_named_after() {
    for vector in UNICORN.iter().chain(&*SIMD).chain(&*LATER).chain(&*PAUTH).chain(&*MANUAL) {
        let named = encoding(vector);
        assert!(named.is_some(), "`{}` does not begin with the name of an encoding", vector.name);
        let features = vector.machine_features();
        let is_wanted = |word: u32| {
            if is_beside(vector) {
                Instruction::new(word, features).op.is_none()
            } else {
                decode(word) == named
            }
        };
        let contains = vector.code.iter().any(|word| is_wanted(word.0));
        assert!(contains, "`{}` does not contain the encoding it is named after", vector.name);
    }
}

#[test]
fn every_encoding_has_vectors() {
    let mut counts: BTreeMap<&str, usize> = ENCODINGS.iter().map(|row| (row.name, 0)).collect();
    let vectors = UNICORN
        .iter()
        .chain(&*SIMD)
        .chain(&*LATER)
        .chain(&*PAUTH)
        .chain(&*MANUAL)
        .filter(|vector| !is_beside(vector));
    for op in vectors.filter_map(encoding) {
        *counts.entry(op.encoding().name).or_default() += 1;
    }
    counts.retain(|name, count| *count < vectors_min(name));
    assert!(counts.is_empty(), "too few vectors: {counts:?}");
}

#[test]
fn vectors_are_unique() {
    let mut seen: BTreeMap<String, &str> = BTreeMap::new();
    for vector in UNICORN.iter().chain(&*SIMD).chain(&*LATER).chain(&*PAUTH).chain(&*MANUAL) {
        let content = serde_json::to_string(&Vector { name: String::new(), ..vector.clone() }).unwrap();
        if let Some(before) = seen.insert(content, &vector.name) {
            // Random vectors of instructions with few inputs, such as NOP, may repeat.
            let allowed = UNICORN
                .iter()
                .chain(&*SIMD)
                .chain(&*LATER)
                .chain(&*PAUTH)
                .any(|other| std::ptr::eq(other, vector));
            assert!(allowed, "`{}` repeats `{before}`", vector.name);
        }
    }
}

#[test]
fn every_vector_is_exact_and_names_its_end() {
    for vector in UNICORN.iter().chain(&*SIMD).chain(&*LATER).chain(&*PAUTH).chain(&*MANUAL) {
        let ends = vector.expected.pc.is_some() && vector.expected.stop.is_some();
        assert!(vector.exact && ends, "`{}` is exact and names its end", vector.name);
    }
}
