//! All 2^32 words get the right answer.

use std::sync::atomic::{AtomicU32, Ordering};

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use serde::Serialize;

use super::failure::Failure;
use super::question::Question;
use crate::decoder::decode;
use crate::tuple::{TUPLES, Tuple};

/// What the network says of every word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Sweep {
    /// How many words were compared.
    pub words: u64,
    /// How many of them the table allocates.
    pub allocated: u64,
    /// How many get an answer that is not the table's.
    pub errors: u64,
}

/// Findings at one top byte.
#[derive(Default)]
struct Part {
    allocated: u64,
    /// First word, what it should be and what it is; and how many.
    wrong: Option<(u32, u8, u8)>,
    errors: u64,
    /// The same of the labels.
    mislabelled: Option<(u32, u8, u8)>,
    mislabels: u64,
}

/// Compares the answers by tuple with the table, word by word.
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

/// Names the first words that are wrong.
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

/// Errors and failures of the words of one top byte.
#[cfg(test)]
pub(super) fn prove_top_byte(top_byte: u32, answers: &[u8], question: &Question) -> (u64, Vec<Failure>) {
    let part = check(top_byte, answers, question);
    let mut failures = Vec::new();
    report(std::slice::from_ref(&part), question, &mut failures);
    (part.errors, failures)
}

fn check(top_byte: u32, answers: &[u8], question: &Question) -> Part {
    let mut part = Part::default();
    // Of a tuple whose words are all unallocated the label is all there is to say.
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

/// A tuple without an allocated word has the label that says so.
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
