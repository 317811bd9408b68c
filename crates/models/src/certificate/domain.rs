//! All 2^20 tuples get the right answer.

use serde::Serialize;

use super::failure::Failure;
use super::question::Question;
use crate::tuple::{TUPLES, Tuple};
use crate::tuple_network::{argmax, margin};

/// What the network says of every tuple.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Domain {
    /// How many tuples were evaluated.
    pub tuples: u64,
    /// How many have the wrong answer.
    pub errors: u64,
    /// By how much the right logit exceeds the greatest other one, at the least.
    pub margin: f32,
    /// The first word of a tuple with that margin.
    pub margin_word: u32,
}

/// Compares answers with labels. Gives the answers by tuple.
pub(super) fn prove<const C: usize>(
    logits: &[[f32; C]],
    question: &Question,
    failures: &mut Vec<Failure>,
) -> (Domain, Vec<u8>) {
    let mut domain = Domain { tuples: TUPLES as u64, errors: 0, margin: f32::INFINITY, margin_word: 0 };
    let mut first = None;
    let mut tie = None;
    let mut answers = Vec::with_capacity(TUPLES);
    for (tuple, logits) in Tuple::all().zip(logits) {
        let label = question.labels[tuple.index()];
        let answer = argmax(logits) as u8;
        let lead = margin(logits, usize::from(label));
        // A lead that is no number is no lead.
        if lead < domain.margin || lead.is_nan() {
            (domain.margin, domain.margin_word) = (lead, tuple.first_word());
        }
        if answer != label {
            domain.errors += 1;
            first.get_or_insert((tuple, label, answer));
        } else if lead.is_nan() || lead <= 0.0 {
            tie.get_or_insert(tuple);
        }
        answers.push(answer);
    }
    if let Some((tuple, label, answer)) = first {
        failures.push(Failure::Word {
            word: tuple.first_word(),
            expected: (question.names)(label),
            found: (question.names)(answer),
            count: domain.errors,
        });
    }
    if let Some(tuple) = tie {
        failures.push(Failure::Tie { word: tuple.first_word() });
    }
    (domain, answers)
}
