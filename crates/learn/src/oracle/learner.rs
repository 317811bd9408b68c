//! A memory oracle that learns while lanes run.

use std::collections::BTreeMap;
use std::sync::Arc;

use kvrm_models::{MemoryOracle, Weights};
use kvrm_prefetch::{PageAccess, RecordedAccess};

use super::accuracy::Accuracy;
use super::sample::{SAMPLE_ACCESSES, Sample};
use super::sequences::Sequences;
use crate::learned::Learned;
use crate::rounds::Rounds;

/// The largest number of lanes from whose accesses the network learns: the first ones that make any.
const LANES: usize = 64;
/// The number of accesses behind a sample that its labels may need.
const BEHIND: usize = 40;
/// The least number of accesses of a sequence that has ended and becomes a sample.
const SHORTEST: usize = 10;

/// A memory oracle that learns while lanes run.
///
/// It divides the accesses of lanes into sequences, and these into samples, from which the network learns in rounds of 64. What it
/// learns depends on nothing but the accesses and the seed.
#[derive(Debug)]
pub struct OracleLearner {
    lanes: BTreeMap<usize, Sequences>,
    rounds: Rounds<MemoryOracle>,
}

impl OracleLearner {
    /// Begins to learn from a network, whose weights are in half precision.
    #[must_use]
    pub fn new(network: &Arc<MemoryOracle>, seed: u64) -> Self {
        Self { lanes: BTreeMap::new(), rounds: Rounds::new(network, seed) }
    }

    /// Hears of an access of a lane. If a round begins, waits for the one before.
    pub fn hear(&mut self, lane: usize, access: PageAccess) {
        if !self.lanes.contains_key(&lane) && self.lanes.len() == LANES {
            return;
        }
        let PageAccess { page, size, load, pc, .. } = access;
        self.rounds.note([lane as u64, page, pc, u64::from(size), u64::from(load)]);
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
        self.rounds.add(full.into_iter().chain(last));
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
        self.rounds.network()
    }

    /// Returns what was learned, after the round that is not finished.
    pub fn learned(&mut self) -> Learned<Accuracy> {
        self.rounds.learned()
    }

    /// Returns the weights of the network to use, after the round that is not finished, with what was learned as metadata. Its
    /// `config.parent` is the SHA-256 of the weights from which they were learned, and the data hash that of the accesses.
    ///
    /// # Errors
    ///
    /// Never: the network has as many weights as it needs.
    pub fn weights(&mut self) -> Result<Weights, kvrm_models::Error> {
        self.rounds.weights()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what was learned from so many accesses to every third page, and the weights. Perhaps somebody asks before each access.
    fn learn(accesses: u64, seed: u64, is_asked: bool) -> (Learned<Accuracy>, Weights) {
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
        assert_eq!(learner.learned().heard, 50 * LANES as u64, "of the first lanes with accesses");
        assert!(!learner.rounds.has_samples(), "no lane has a past that is long enough");
    }
}
