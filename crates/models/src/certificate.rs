//! Proofs that a network is right, and of what.
//!
//! A [`Certificate`] has three parts. The [`Domain`]: every tuple has the label the instruction table gives it.
//! The [`Sweep`]: every one of the 2^32 words has the label its tuple has. The [`Exactness`]: logits are the same
//! bits wherever they are computed. As a network sees nothing but the tuple, it is evaluated once per tuple and
//! the words are held against the table that gives.
//!
//! The certificate is of the weights whose SHA-256 it states. A weight that changes no answer leaves the proof
//! intact, so whoever expects certain weights says so, and other ones fail.

mod domain;
mod exactness;
mod failure;
mod question;
mod report;
mod sweep;
#[cfg(test)]
mod tests;

use kvrm_arm64::class_of;
use serde::Serialize;

pub use self::domain::Domain;
pub use self::exactness::Exactness;
pub use self::failure::Failure;
use self::question::Question;
pub use self::sweep::Sweep;
use crate::decoder::{Category, DecoderNetwork};
use crate::dispatch::DispatchNetwork;
use crate::tuple::Tuple;
use crate::tuple_network::TupleNetwork;
use crate::weights::manifest::sha256;

/// What was proved of a network, or how the proof failed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Certificate {
    /// Which network.
    pub network: &'static str,
    /// How many weights it has.
    pub parameters: usize,
    /// SHA-256 of the flat weights as little-endian bytes, in hexadecimal.
    pub sha256: String,
    /// All tuples.
    pub domain: Domain,
    /// All words.
    pub sweep: Sweep,
    /// The arithmetic.
    pub exactness: Exactness,
    /// Why the certificate does not hold; empty if it does.
    pub failures: Vec<Failure>,
}

impl Certificate {
    /// Whether everything is proved.
    #[must_use]
    pub const fn holds(&self) -> bool {
        self.failures.is_empty()
    }
}

/// Proves a dispatch network: the class of every word is the one `class_of` gives it, which for words the table
/// allocates is the one of their row.
///
/// `expected` is the SHA-256 the weights should have. `progress` is called with the number of top bytes swept.
/// It takes less than a minute on two cores.
#[must_use]
pub fn certify_dispatch(
    network: &DispatchNetwork,
    expected: Option<&str>,
    progress: &(dyn Fn(u32) + Sync),
) -> Certificate {
    certify(network, &dispatch_question(), expected, progress)
}

/// The right class of each tuple, by number.
#[must_use]
pub fn dispatch_labels() -> Vec<u8> {
    Tuple::all().map(|tuple| class_of(tuple.first_word()) as u8).collect()
}

/// The right category of each tuple, by number.
#[must_use]
pub fn decoder_labels() -> Vec<u8> {
    Category::of_tuples().iter().map(|category| *category as u8).collect()
}

fn dispatch_question() -> Question {
    Question {
        network: "dispatch",
        labels: dispatch_labels(),
        of_op: |op| op.class() as u8,
        of_word: Some(|word| class_of(word) as u8),
        unallocated: None,
        names: |label| kvrm_arm64::Class::ALL[usize::from(label)].name(),
    }
}

/// Proves a decoder network: every word the table allocates has the category of its row, and a word whose tuple
/// has no allocated word is UNKNOWN.
///
/// `expected` is the SHA-256 the weights should have. `progress` is called with the number of top bytes swept.
#[must_use]
pub fn certify_decoder(
    network: &DecoderNetwork,
    expected: Option<&str>,
    progress: &(dyn Fn(u32) + Sync),
) -> Certificate {
    certify(network, &decoder_question(), expected, progress)
}

fn decoder_question() -> Question {
    Question {
        network: "decoder",
        labels: decoder_labels(),
        of_op: |op| Category::of_op(op) as u8,
        of_word: None,
        unallocated: Some(Category::Unknown as u8),
        names: |label| Category::ALL[usize::from(label)].name(),
    }
}

fn certify<const H: usize, const C: usize>(
    network: &TupleNetwork<H, C>,
    question: &Question,
    expected: Option<&str>,
    progress: &(dyn Fn(u32) + Sync),
) -> Certificate {
    let mut failures = Vec::new();
    let sha256 = sha256_of(network.flat());
    if let Some(expected) = expected.filter(|expected| *expected != sha256) {
        failures.push(Failure::Digest { expected: expected.to_owned(), found: sha256.clone() });
    }
    let (exactness, logits) = exactness::prove(network, &mut failures);
    let (domain, answers) = domain::prove(&logits, question, &mut failures);
    let sweep = sweep::prove(&answers, question, progress, &mut failures);
    let parameters = TupleNetwork::<H, C>::PARAMETERS;
    Certificate { network: question.network, parameters, sha256, domain, sweep, exactness, failures }
}

/// SHA-256 of weights as little-endian bytes, in hexadecimal.
#[must_use]
pub fn sha256_of(weights: &[f32]) -> String {
    let bytes: Vec<u8> = weights.iter().flat_map(|weight| weight.to_le_bytes()).collect();
    sha256(&bytes)
}
