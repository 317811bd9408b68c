//! The proof over words: all 2^32 words get the right answer.

use std::sync::atomic::{AtomicU32, Ordering};

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use serde::{Deserialize, Serialize};

use super::failure::Failure;
use super::question::Question;
use crate::decoder::decode;
use crate::tuple::{TUPLES, Tuple};

/// The result of comparing the network's answers for all words with the instruction table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Sweep {
    /// The number of words compared.
    pub words: u64,
    /// The number of words that the table allocates.
    pub allocated: u64,
    /// The number of words with a wrong answer.
    pub errors: u64,
}

/// The results for the words of one top byte.
#[derive(Default)]
struct Part {
    allocated: u64,
    /// The first word with a wrong answer, the right answer, and the network's.
    wrong: Option<(u32, u8, u8)>,
    errors: u64,
    /// The first word whose label disagrees with the table, the table's answer, and the label.
    mislabelled: Option<(u32, u8, u8)>,
    mislabels: u64,
}

/// Compares the answers, indexed by tuple, with the instruction table, word by word.
pub(super) fn prove(
    answers: &[u8],
    question: &Question,
    progress: &(dyn Fn(u32) + Sync),
    failures: &mut Vec<Failure>,
) -> Sweep {
    let swept = AtomicU32::new(0);
    let of_byte = |top_byte: u32| {
        let part = check(top_byte, answers, question);
        progress(swept.fetch_add(1, Ordering::Relaxed) + 1);
        part
    };
    let parts: Vec<Part> = (0..256).into_par_iter().map(of_byte).collect();
    let sweep = Sweep {
        words: 1 << 32,
        allocated: parts.iter().map(|part| part.allocated).sum(),
        errors: parts.iter().map(|part| part.errors).sum(),
    };
    report(&parts, question, failures);
    sweep
}

/// Adds the first wrong word and the first wrong label to the failures.
fn report(parts: &[Part], question: &Question, failures: &mut Vec<Failure>) {
    if let Some((word, expected, found)) = parts.iter().find_map(|part| part.mislabelled) {
        let (expected, found) = ((question.names)(expected), (question.names)(found));
        let count = parts.iter().map(|part| part.mislabels).sum();
        failures.push(Failure::Label { word, expected, found, count });
    }
    if let Some((word, expected, found)) = parts.iter().find_map(|part| part.wrong) {
        let (expected, found) = ((question.names)(expected), (question.names)(found));
        let count = parts.iter().map(|part| part.errors).sum();
        failures.push(Failure::Word { word, expected, found, count });
    }
}

/// Returns the number of errors and the failures for the words of one top byte.
#[cfg(test)]
pub(super) fn prove_top_byte(top_byte: u32, answers: &[u8], question: &Question) -> (u64, Vec<Failure>) {
    let part = check(top_byte, answers, question);
    let mut failures = Vec::new();
    report(std::slice::from_ref(&part), question, &mut failures);
    (part.errors, failures)
}

fn check(top_byte: u32, answers: &[u8], question: &Question) -> Part {
    let mut part = Part::default();
    // Whether a tuple has an allocated word, by its features. Without one, only its label can be checked.
    let mut has_word = vec![false; TUPLES / 256];
    let first = top_byte << 24;
    for word in first..=first | 0x00ff_ffff {
        let tuple = Tuple::of(word);
        let label = question.labels[tuple.index()];
        let mut expected = question.of_word.map_or(label, |of_word| of_word(word));
        if let Some(op) = decode(word) {
            part.allocated += 1;
            has_word[tuple.features()] = true;
            let of_op = (question.of_op)(op);
            if of_op != expected {
                part.mislabels += 1;
                part.mislabelled.get_or_insert((word, of_op, expected));
            }
            expected = of_op;
        }
        if expected != label {
            part.mislabels += 1;
            part.mislabelled.get_or_insert((word, expected, label));
        }
        let answer = answers[tuple.index()];
        if answer != expected {
            part.errors += 1;
            part.wrong.get_or_insert((word, expected, answer));
        }
    }
    if let Some(unallocated) = question.unallocated {
        check_unallocated(top_byte, &has_word, unallocated, question, &mut part);
    }
    part
}

/// Checks that exactly the tuples without an allocated word have the label `unallocated`.
fn check_unallocated(
    top_byte: u32,
    has_word: &[bool],
    unallocated: u8,
    question: &Question,
    part: &mut Part,
) {
    let first = Tuple::of(top_byte << 24).index();
    let labels = &question.labels[first..][..has_word.len()];
    for (features, (label, has_word)) in labels.iter().zip(has_word).enumerate() {
        if *has_word == (*label == unallocated) {
            part.mislabels += 1;
            let word = Tuple::new((first + features) as u32).first_word();
            part.mislabelled.get_or_insert((word, unallocated, *label));
        }
    }
}
