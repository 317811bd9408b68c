//! Proofs that a network gives the right answer for every word.
//!
//! A [`Certificate`] has three parts:
//!
//! - [`Domain`]: the network gives each of the 2^20 tuples its label, which follows from the instruction table.
//! - [`Sweep`]: for each of the 2^32 words, the answer for its tuple is the class or category of the word.
//! - [`Exactness`]: logits are the same bits on every device.
//!
//! A network sees only the tuple of a word. So the network is evaluated once per tuple, and the sweep compares the
//! resulting table of answers with the instruction table.
//!
//! A certificate holds for the weights whose SHA-256 it states. A changed weight that changes no answer does not break
//! the proof; a caller that expects certain weights therefore passes their SHA-256, and other weights fail.

mod domain;
mod exactness;
mod failure;
mod names;
mod question;
mod report;
mod sweep;
#[cfg(test)]
mod tests;

use kvrm_arm64::class_of;
use serde::{Deserialize, Serialize};

pub use self::domain::Domain;
pub use self::exactness::Exactness;
pub use self::failure::Failure;
use self::names::Name;
use self::question::Question;
pub use self::sweep::Sweep;
use crate::decoder::{Category, DecoderNetwork};
use crate::dispatch::DispatchNetwork;
use crate::tuple::Tuple;
use crate::tuple_network::TupleNetwork;
use crate::weights::manifest::sha256;

/// The result of proving a network: the numbers of each part, and the failures.
///
/// Its `Display` is a table of `name value` lines, followed by one line per failure.
///
/// ```no_run
/// use kvrm_models::{DispatchNetwork, certify_dispatch};
///
/// let untrained = DispatchNetwork::from_flat(&[0.0; DispatchNetwork::PARAMETERS])?;
/// let certificate = certify_dispatch(&untrained, None, &|_| {});
/// assert!(!certificate.holds());
/// println!("{certificate}"); // the numbers of each part, and the failures
/// # Ok::<(), kvrm_models::WeightsError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Certificate {
    /// The name of the network: `dispatch` or `decoder`.
    #[serde(deserialize_with = "names::network")]
    pub network: Name,
    /// The number of weights.
    pub parameters: usize,
    /// SHA-256 of the flat weights as little-endian bytes, in hexadecimal.
    pub sha256: String,
    /// The result for all tuples.
    pub domain: Domain,
    /// The result for all words.
    pub sweep: Sweep,
    /// The result for the arithmetic.
    pub exactness: Exactness,
    /// The failed checks; empty if the certificate holds.
    pub failures: Vec<Failure>,
}

impl Certificate {
    /// Returns whether the proof succeeded.
    #[must_use]
    pub const fn holds(&self) -> bool {
        self.failures.is_empty()
    }
}

/// Proves a dispatch network: it gives every word the class that `class_of` gives. For words that the instruction
/// table allocates, that is also the class of their row.
///
/// `expected` is the SHA-256 that the weights should have. `progress` is called with the number of top bytes swept so
/// far, up to 256. The proof takes less than a minute on two cores.
#[must_use]
pub fn certify_dispatch(
    network: &DispatchNetwork,
    expected: Option<&str>,
    progress: &(dyn Fn(u32) + Sync),
) -> Certificate {
    certify(network, &dispatch_question(), expected, progress)
}

/// Returns the number of the right class of each tuple, indexed by tuple.
#[must_use]
pub fn dispatch_labels() -> Vec<u8> {
    Tuple::all().map(|tuple| class_of(tuple.first_word()) as u8).collect()
}

/// Returns the number of the right category of each tuple, indexed by tuple.
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

/// Proves a decoder network: it gives every word that the instruction table allocates the category of its row, and
/// UNKNOWN to every word whose tuple has no allocated word.
///
/// `expected` is the SHA-256 that the weights should have. `progress` is called with the number of top bytes swept so
/// far, up to 256.
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

/// Returns the SHA-256 of weights as little-endian bytes, in hexadecimal.
#[must_use]
pub fn sha256_of(weights: &[f32]) -> String {
    let bytes: Vec<u8> = weights.iter().flat_map(|weight| weight.to_le_bytes()).collect();
    sha256(&bytes)
}
