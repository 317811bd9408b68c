//! Certificates of the weights that come with KVRM, and of copies with one weight changed.

use proptest::prelude::*;

use super::*;
use crate::error::WeightsError;
use crate::{Architecture, Weights};

/// Returns weights that come with KVRM, and their SHA-256 according to the manifest.
fn builtin(architecture: Architecture) -> (Vec<f32>, String) {
    let (weights, digest) = Weights::builtin(architecture).expect("they are whole").expect("they are there");
    (weights.into_values(), digest)
}

/// Returns the text of the card of a network that comes with KVRM.
fn card(name: &str) -> String {
    let path = format!("{}/../../weights/{name}.md", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).expect("each network has a card")
}

fn dispatch() -> Vec<f32> {
    builtin(Architecture::Dispatch).0
}

/// Returns the failures of the parts that take a second: exactness and domain, without the sweep over words.
fn failures_of_tuples<const H: usize, const C: usize>(
    flat: &[f32],
    question: &Question,
) -> Result<Vec<Failure>, WeightsError> {
    let mut failures = Vec::new();
    let (_, logits) = exactness::prove(&TupleNetwork::<H, C>::from_flat(flat)?, &mut failures);
    domain::prove(&logits, question, &mut failures);
    Ok(failures)
}

#[test]
fn the_dispatch_network_is_exact_on_all_words() -> Result<(), WeightsError> {
    let (flat, sha256) = builtin(Architecture::Dispatch);
    let certificate = certify_dispatch(&DispatchNetwork::from_flat(&flat)?, Some(&sha256), &|_| ());
    assert!(certificate.holds(), "{certificate}");
    assert_eq!((certificate.sweep.words, certificate.domain.tuples), (1 << 32, 1 << 20), "all of them");
    assert!(card("dispatch").contains(&certificate.to_string()), "the card should have:\n{certificate}");
    Ok(())
}

#[test]
fn the_decoder_network_is_exact_on_all_words() -> Result<(), WeightsError> {
    let (flat, sha256) = builtin(Architecture::Decoder);
    let certificate = certify_decoder(&DecoderNetwork::from_flat(&flat)?, Some(&sha256), &|_| ());
    assert!(certificate.holds(), "{certificate}");
    assert!(card("decoder").contains(&certificate.to_string()), "the card should have:\n{certificate}");
    Ok(())
}

#[test]
fn the_first_wrong_word_of_a_wrong_network_is_named() -> Result<(), WeightsError> {
    let mut flat = dispatch();
    // The network answers LOADSTORE for every word.
    flat[crate::dispatch::layout::FC3_BIAS + 2] = 511.0;
    let failures = failures_of_tuples::<16, 7>(&flat, &dispatch_question())?;
    assert!(
        matches!(failures[..], [Failure::Word { word: 0, expected: "SYSTEM", found: "LOADSTORE", .. }]),
        "{failures:?}"
    );
    let json = serde_json::to_string(&failures).unwrap_or_default();
    assert!(
        json.starts_with(r#"[{"kind":"word","word":0,"expected":"SYSTEM","found":"LOADSTORE""#),
        "{json}"
    );
    Ok(())
}

#[test]
fn the_sweep_finds_a_wrong_answer_and_its_first_word() {
    let question = dispatch_question();
    let mut answers = question.labels.clone();
    // HLT is SYSTEM.
    answers[Tuple::of(0xd440_0000).index()] = kvrm_arm64::Class::Branch as u8;
    let (part, failures) = sweep::prove_top_byte(0xd4, &answers, &question);
    let count = 1 << 12;
    assert_eq!(part, count, "all words of the tuple");
    let (expected, found) = ("SYSTEM", "BRANCH");
    assert_eq!(failures, [Failure::Word { word: 0xd440_0000, expected, found, count }], "the first is named");
}

#[test]
fn a_weight_that_changes_no_answer_is_found_by_the_digest() -> Result<(), WeightsError> {
    let mut flat = dispatch();
    let sha256 = sha256_of(&flat);
    // One step of the grid is too small a change of the embedding to change an answer.
    flat[0] += 1.0 / 64.0;
    assert_eq!(failures_of_tuples::<16, 7>(&flat, &dispatch_question())?, [], "still right");
    assert_ne!(sha256_of(&flat), sha256, "but not these weights");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]
    #[test]
    fn any_weight_that_is_changed_breaks_the_proof(index in 0..DispatchNetwork::PARAMETERS, bit in 0..32u32) {
        let original = dispatch();
        let sha256 = sha256_of(&original);
        let mut flat = original;
        flat[index] = f32::from_bits(flat[index].to_bits() ^ 1 << bit);
        prop_assert_ne!(sha256_of(&flat), sha256, "the digest differs");
        // The failures also name a weight that is off the grid or not finite, and the first wrong word.
        let on_grid = (flat[index] * 64.0).fract() == 0.0 && flat[index].abs() < 512.0;
        match failures_of_tuples::<16, 7>(&flat, &dispatch_question()) {
            Err(WeightsError::NotFinite { index: found, .. }) => prop_assert_eq!(found, index),
            Ok(failures) if !on_grid => {
                let named = |failure: &Failure| matches!(failure, Failure::Grid { index: i, .. } if *i == index);
                prop_assert!(failures.iter().any(named), "{:?}", failures);
            }
            Ok(failures) => {
                let network = DispatchNetwork::from_flat(&flat).expect("it is finite");
                let question = dispatch_question();
                let wrong = Tuple::all().find(|tuple| {
                    network.output(*tuple) != usize::from(question.labels[tuple.index()])
                });
                let named = failures.iter().find_map(|failure| match failure {
                    Failure::Word { word, .. } => Some(*word),
                    _ => None,
                });
                prop_assert_eq!(named, wrong.map(Tuple::first_word));
            }
            Err(error) => prop_assert!(false, "{}", error),
        }
    }
}
