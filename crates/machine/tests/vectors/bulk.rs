//! Tests that vectors that run together have the same results as vectors that run alone.

use kvrm_machine::ReferenceEngine;
use kvrm_machine::vectors::{Hex, Vector, run_all};

use crate::support::{MANUAL, UNICORN, vector};

#[test]
fn the_corpora_pass_as_lanes_of_one_machine() {
    for corpus in [&UNICORN, &MANUAL] {
        let results = run_all(corpus, &ReferenceEngine).unwrap();
        assert_eq!(results.len(), corpus.len(), "one list per vector");
        assert!(results.iter().all(Vec::is_empty), "all lists are empty");
    }
}

#[test]
fn vectors_with_different_features_have_the_same_results_as_alone() {
    // Some vectors fail, because their expected X3 and memory are wrong.
    let spoil = |(index, vector): (usize, &Vector)| {
        let mut vector = vector.clone();
        if index % 3 == 0 {
            vector.expected.x.insert(kvrm_machine::vectors::Number(3), Hex(0x5ca1_ab1e));
        }
        if index % 5 == 0 {
            vector.expected.mem.clear();
        }
        vector
    };
    let vectors: Vec<Vector> = UNICORN.iter().chain(&*MANUAL).step_by(7).enumerate().map(spoil).collect();
    let features = vectors.iter().filter(|vector| vector.features.is_empty()).count();
    assert!(features > 0 && features < vectors.len(), "both sets of features occur");
    let alone: Vec<_> = vectors.iter().map(Vector::run).collect();
    assert!(alone.iter().any(|list| list.iter().any(|m| m.what.starts_with("memory"))), "memory differs too");
    assert_eq!(run_all(&vectors, &ReferenceEngine).unwrap(), alone, "the same lists in the same order");
}

#[test]
fn an_invalid_vector_does_not_hide_the_others() {
    let good =
        vector(r#"{"name":"n","pc":"0x10000","code":["d2800040"],"steps":1,"final":{"x":{"0":"0x2"}}}"#);
    let mut wrong = good.clone();
    wrong.expected.x.values_mut().for_each(|value| *value = Hex(3));
    let invalid = Vector { pc: Hex(0x1_0002), ..good.clone() };
    let vectors = [invalid.clone(), good.clone(), invalid.clone(), wrong.clone(), good];
    let results = run_all(&vectors, &ReferenceEngine).unwrap();
    let shown: Vec<Vec<&str>> = results.iter().map(|list| list.iter().map(|m| &*m.got).collect()).collect();
    let problem = "`pc` is 0x10002, expected a multiple of 4";
    assert_eq!(
        shown,
        [vec![problem], vec![], vec![problem], vec!["0x2"], vec![]],
        "each vector has its own result"
    );
    assert_eq!(results[0], invalid.run(), "the same result as alone");
    assert_eq!(results[3], wrong.run(), "the same result as alone");
}

#[test]
fn an_empty_list_of_vectors_has_no_results() {
    assert_eq!(run_all(&[], &ReferenceEngine).unwrap(), Vec::<Vec<_>>::new(), "no results");
}
