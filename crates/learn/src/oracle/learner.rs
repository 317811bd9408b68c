//! A memory oracle that learns while lanes run.

use std::collections::BTreeMap;
use std::mem;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use kvrm_models::{Architecture, MemoryOracle, Weights, sha256_of};
use kvrm_prefetch::{PageAccess, RecordedAccess};
use sha2::{Digest as _, Sha256};

use super::learned::Learned;
use super::sample::{SAMPLE_ACCESSES, Sample};
use super::sequences::Sequences;
use super::student::Student;

/// The largest number of lanes from whose accesses the network learns: the first ones that make any.
const LANES: usize = 64;
/// The number of samples of a round.
const ROUND: usize = 64;
/// The number of accesses behind a sample that its labels may need.
const BEHIND: usize = 40;
/// The least number of accesses of a sequence that has ended and becomes a sample.
const SHORTEST: usize = 10;

/// A memory oracle that learns while lanes run.
///
/// It divides the accesses of lanes into sequences, and these into samples. A *round* begins whenever 64 samples are new. In the
/// background, the network that has learned so far is compared with the one in use on the new samples, from which neither has
/// learned, and replaces it if it is better. Then it takes 32 steps on three quarters of the samples of all rounds; 2,048 of them are remembered. What
/// a round has found is taken into use when the next one begins, so it depends on nothing but the accesses and the seed.
#[derive(Debug)]
pub struct OracleLearner {
    seed: u64,
    lanes: BTreeMap<usize, Sequences>,
    samples: Vec<Sample>,
    student: Place,
    in_use: Arc<MemoryOracle>,
    parent: String,
    accesses: u64,
    digest: Sha256,
}

/// The place of the student.
#[derive(Debug)]
enum Place {
    Here(Box<Student>),
    /// In a thread, doing a round.
    Away(JoinHandle<Box<Student>>),
    /// Its thread has panicked, so nothing is learned any more.
    Lost,
}

impl OracleLearner {
    /// Begins to learn from a network, whose weights are in half precision.
    #[must_use]
    pub fn new(network: &Arc<MemoryOracle>, seed: u64) -> Self {
        Self {
            seed,
            lanes: BTreeMap::new(),
            samples: Vec::new(),
            student: Place::Here(Box::new(Student::new(network, seed))),
            in_use: network.clone(),
            parent: sha256_of(network.flat()),
            accesses: 0,
            digest: Sha256::new(),
        }
    }

    /// Hears of an access of a lane. If a round begins, waits for the one before.
    pub fn hear(&mut self, lane: usize, access: PageAccess) {
        if !self.lanes.contains_key(&lane) && self.lanes.len() == LANES {
            return;
        }
        self.accesses += 1;
        let PageAccess { page, size, load, pc, .. } = access;
        let numbers = [lane as u64, page, pc, u64::from(size), u64::from(load)];
        numbers.iter().for_each(|number| self.digest.update(number.to_le_bytes()));
        let (sequence, ended) =
            self.lanes.entry(lane).or_default().hear(RecordedAccess { access, ..RecordedAccess::default() });
        // The access before a sample gives the distance to its first page.
        let full = (sequence.len() > SAMPLE_ACCESSES + BEHIND).then(|| {
            let sample = Sample::new(sequence, SAMPLE_ACCESSES, 0);
            sequence.drain(..SAMPLE_ACCESSES);
            sample
        });
        let ended = ended.filter(|ended| ended.len() >= SHORTEST);
        let last = ended.map(|ended| Sample::new(&ended, SAMPLE_ACCESSES.min(ended.len() - 1), 0));
        self.samples.extend(full.into_iter().chain(last));
        if self.samples.len() >= ROUND {
            self.begin_round();
        }
    }

    /// Hears that a lane begins anew.
    pub fn forget(&mut self, lane: usize) {
        if let Some(sequences) = self.lanes.get_mut(&lane) {
            *sequences = Sequences::default();
        }
    }

    /// Returns the network to use.
    #[must_use]
    pub const fn network(&self) -> &Arc<MemoryOracle> {
        &self.in_use
    }

    /// Returns what was learned, after the round that is not finished.
    pub fn learned(&mut self) -> Learned {
        let accesses = self.accesses;
        let learned = self.student().map(|student| student.learned.clone()).unwrap_or_default();
        Learned { accesses, ..learned }
    }

    /// Returns the weights of the network to use, after the round that is not finished, with what was learned as metadata. Its
    /// `config.parent` is the SHA-256 of the weights from which they were learned, and the data hash that of the accesses.
    ///
    /// # Errors
    ///
    /// Never: the network has as many weights as it needs.
    pub fn weights(&mut self) -> Result<Weights, kvrm_models::Error> {
        let learned = self.learned();
        let network = self.student().map(|student| student.in_use().clone());
        let network = network.unwrap_or_else(|| self.in_use.clone());
        let mut weights = Weights::from_flat(Architecture::MemoryOracle, network.flat().to_vec())?;
        let metadata = &mut weights.metadata;
        metadata.recipe = Some("kvrm run --learn".to_owned());
        metadata.seed = Some(self.seed);
        metadata.data_hash =
            Some(self.digest.clone().finalize().iter().map(|byte| format!("{byte:02x}")).collect());
        for (name, value) in [
            ("parent", self.parent.clone()),
            ("accesses", learned.accesses.to_string()),
            ("steps", learned.steps.to_string()),
        ] {
            metadata.config.insert(name.to_owned(), value);
        }
        if !learned.history.is_empty() {
            let [parent, learning] = learned.accuracies().map(|accuracy| accuracy.used_share());
            metadata.metrics.insert("parent_used_share".to_owned(), parent);
            metadata.metrics.insert("learning_used_share".to_owned(), learning);
        }
        Ok(weights)
    }

    /// Returns the student, after its round.
    fn student(&mut self) -> Option<&mut Student> {
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

    fn begin_round(&mut self) {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what was learned from so many accesses to every third page, and the weights. Perhaps somebody asks before each access.
    fn learn(accesses: u64, seed: u64, is_asked: bool) -> (Learned, Weights) {
        let value = |index: usize| ((index * 7919 + 13) % 1000) as f32 / 4000.0 - 0.125;
        let flat: Vec<f32> = (0..MemoryOracle::PARAMETERS).map(value).collect();
        let network = MemoryOracle::from_flat(&flat).and_then(|network| network.rounded_to_half());
        let mut learner = OracleLearner::new(&Arc::new(network.expect("small weights")), seed);
        let access = |n| PageAccess { page: 7000 + 3 * n, pc: 0x400, ..PageAccess::default() };
        for n in 0..accesses {
            let before = learner.network().clone();
            if is_asked {
                let _ = learner.learned();
            }
            assert!(Arc::ptr_eq(&before, learner.network()), "only what is heard changes the network in use");
            learner.hear(5, access(n));
        }
        (learner.learned(), learner.weights().expect("as many weights as it has"))
    }

    #[test]
    fn a_stride_is_learned_and_named_before_it_is_used() {
        let (learned, weights) = learn(12_000, 1, false);
        let [before, after] = learned.of_last(2);
        assert!(learned.adopted > 0, "{learned}");
        assert!(after.used_share() > before.used_share() + 0.2, "{before:?}, then {after:?}");
        let metadata = &weights.metadata;
        assert_eq!((metadata.seed, metadata.config["accesses"].as_str()), (Some(1), "12000"), "the origin");
        let bytes = weights.to_bytes(kvrm_models::Dtype::F16).expect("half precision holds them");
        let read = Weights::from_bytes("learned", &bytes).expect("a file of weights");
        assert_eq!(read, weights, "nothing is lost in a file");
    }

    #[test]
    fn the_same_accesses_and_the_same_seed_give_the_same_weights() {
        let (learned, weights) = learn(3300, 7, false);
        assert_eq!(learned.rounds, 2, "{learned}");
        assert_eq!(learn(3300, 7, true), (learned, weights), "bit for bit, also if somebody asks in between");
    }

    #[test]
    fn only_some_lanes_are_heard_and_those_that_begin_anew_have_no_past() {
        let mut learner = OracleLearner::new(
            &Arc::new(MemoryOracle::from_flat(&[0.0; MemoryOracle::PARAMETERS]).expect("zeros")),
            1,
        );
        for n in 0..50 {
            for lane in 0..100 {
                learner.hear(lane, PageAccess { page: n, ..PageAccess::default() });
            }
            (0..100).for_each(|lane| learner.forget(lane));
        }
        let weights = learner.weights().expect("as many weights as it has");
        assert!(weights.metadata.metrics.is_empty(), "nothing was measured");
        assert_eq!(learner.learned().accesses, 50 * LANES as u64, "of the first lanes with accesses");
        assert_eq!(learner.samples.len(), 0, "no lane has a past that is long enough");
    }
}
