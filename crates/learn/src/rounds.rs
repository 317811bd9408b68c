//! Rounds of learning, in a thread beside the run.

use std::mem;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use kvrm_models::{Weights, sha256_of};
use sha2::{Digest as _, Sha256};

use crate::learned::Learned;
use crate::network::Network;
use crate::score::Score as _;
use crate::student::Student;

/// The rounds of a student, each in a thread beside the run.
///
/// A *round* begins whenever enough samples are new. In the background, the network that has learned so far is compared with the one
/// in use on the new samples, from which neither has learned, and replaces it if it is better. Then it takes 32 steps on three
/// quarters of the samples of all rounds; 2,048 of them are remembered. What a round has found is taken into use when the next one
/// begins, so it depends on nothing but the samples and the seed.
#[derive(Debug)]
pub(crate) struct Rounds<N: Network> {
    seed: u64,
    samples: Vec<N::Sample>,
    student: Place<N>,
    in_use: Arc<N>,
    parent: String,
    heard: u64,
    digest: Sha256,
}

/// The place of the student.
#[derive(Debug)]
enum Place<N: Network> {
    Here(Box<Student<N>>),
    /// In a thread, doing a round.
    Away(JoinHandle<Box<Student<N>>>),
    /// Its thread has panicked, so nothing is learned any more.
    Lost,
}

impl<N: Network> Rounds<N> {
    /// Begins to learn from a network, whose weights are in half precision.
    pub(crate) fn new(network: &Arc<N>, seed: u64) -> Self {
        Self {
            seed,
            samples: Vec::new(),
            student: Place::Here(Box::new(Student::new(network, seed))),
            in_use: network.clone(),
            parent: sha256_of(network.flat()),
            heard: 0,
            digest: Sha256::new(),
        }
    }

    /// Notes that the learner has heard of something with these numbers, for the data hash of the weights.
    pub(crate) fn note(&mut self, numbers: impl IntoIterator<Item = u64>) {
        self.heard += 1;
        numbers.into_iter().for_each(|number| self.digest.update(number.to_le_bytes()));
    }

    /// Adds new samples. If a round begins, waits for the one before.
    pub(crate) fn add(&mut self, samples: impl IntoIterator<Item = N::Sample>) {
        self.samples.extend(samples);
        if self.samples.len() >= N::ROUND {
            self.begin();
        }
    }

    /// Returns the network to use.
    pub(crate) const fn network(&self) -> &Arc<N> {
        &self.in_use
    }

    /// Returns what was learned, after the round that is not finished.
    pub(crate) fn learned(&mut self) -> Learned<N::Score> {
        let heard = self.heard;
        let learned = self.student().map(|student| student.learned.clone()).unwrap_or_default();
        Learned { heard, ..learned }
    }

    /// Returns the weights of the network to use, after the round that is not finished, with what was learned as metadata. Its
    /// `config.parent` is the SHA-256 of the weights from which they were learned, and the data hash that of what was heard.
    ///
    /// # Errors
    ///
    /// Never: the network has as many weights as it needs.
    pub(crate) fn weights(&mut self) -> Result<Weights, kvrm_models::Error> {
        let learned = self.learned();
        let network = self.student().map(|student| student.in_use().clone());
        let network = network.unwrap_or_else(|| self.in_use.clone());
        let mut weights = Weights::from_flat(N::ARCHITECTURE, network.flat().to_vec())?;
        let metadata = &mut weights.metadata;
        metadata.recipe = Some("kvrm run --learn".to_owned());
        metadata.seed = Some(self.seed);
        metadata.data_hash =
            Some(self.digest.clone().finalize().iter().map(|byte| format!("{byte:02x}")).collect());
        for (name, value) in [
            ("parent", self.parent.clone()),
            (N::Score::HEARD, learned.heard.to_string()),
            ("steps", learned.steps.to_string()),
        ] {
            metadata.config.insert(name.to_owned(), value);
        }
        if !learned.history.is_empty() {
            let [parent, learning] = learned.scores().map(|score| score.value());
            metadata.metrics.insert(format!("parent_{}", N::Score::METRIC), parent);
            metadata.metrics.insert(format!("learning_{}", N::Score::METRIC), learning);
        }
        Ok(weights)
    }

    /// Returns whether there are samples for the next round.
    #[cfg(test)]
    pub(crate) const fn has_samples(&self) -> bool {
        !self.samples.is_empty()
    }

    /// Returns the student, after its round.
    fn student(&mut self) -> Option<&mut Student<N>> {
        let place = mem::replace(&mut self.student, Place::Lost);
        self.student = match place {
            Place::Away(thread) => thread.join().map_or(Place::Lost, Place::Here),
            place => place,
        };
        match &mut self.student {
            Place::Here(student) => Some(student),
            _ => None,
        }
    }

    fn begin(&mut self) {
        let samples = mem::take(&mut self.samples);
        let Some(student) = self.student() else { return };
        // Only here, so that it does not depend on when somebody asks what was learned.
        self.in_use = student.in_use().clone();
        if let Place::Here(mut student) = mem::replace(&mut self.student, Place::Lost) {
            let round = move || {
                student.round(samples);
                student
            };
            // Without a thread, the student is lost with the closure; the network in use stays.
            self.student = thread::Builder::new()
                .name("learning".to_owned())
                .spawn(round)
                .map_or(Place::Lost, Place::Away);
        }
    }
}
