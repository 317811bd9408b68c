//! The proof over tuples: the network gives all 2^20 tuples the right answer.

use serde::{Deserialize, Serialize};

use super::failure::Failure;
use super::question::Question;
use crate::tuple::{TUPLES, Tuple};
use crate::tuple_network::{argmax, margin};

/// The result of comparing the network's answers for all tuples with their labels.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Domain {
    /// The number of tuples evaluated.
    pub tuples: u64,
    /// The number of tuples with a wrong answer.
    pub errors: u64,
    /// The smallest difference between the right logit and the greatest other logit of a tuple.
    pub margin: f32,
    /// The lowest word of a tuple with this margin.
    pub margin_word: u32,
}

/// Compares answers with labels. Returns the result and the answers, indexed by tuple.
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
        // A NaN counts as no lead.
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
