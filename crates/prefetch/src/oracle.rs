//! The prefetcher of the memory oracle, a network.

mod lane;
mod settings;

use std::sync::Arc;

use kvrm_models::{MemoryOracle, OracleProgress};

pub use self::lane::{OracleLane, OracleQuestion};
pub use self::settings::{InvalidOracleSettings, OracleSettings};
use crate::access::{PageAccess, Trigger};
use crate::candidates::Candidates;
use crate::prefetcher::Prefetcher;

/// The prefetcher of the memory oracle, which evaluates the network on the CPU for each access. [`OracleLane`] says how it works.
///
/// ```
/// use kvrm_models::{Architecture, MemoryOracle, inputs::encoded_delta};
/// use kvrm_prefetch::{Candidates, Degree, OraclePrefetcher, OracleSettings, PageAccess, Prefetcher, Trigger};
///
/// // A network that always predicts a distance of three pages, with a confidence of one half.
/// let mut flat = vec![0.0; MemoryOracle::PARAMETERS];
/// let deltas = Architecture::MemoryOracle.tensor("delta_head.3.bias").ok_or("no tensor")?;
/// flat[deltas.offset..][..8].fill(encoded_delta(3));
/// let network = MemoryOracle::from_flat(&flat)?;
/// let mut prefetcher = OraclePrefetcher::new(network, OracleSettings::new(0.4, 1)?);
/// let mut candidates = Candidates::new(Degree::new(4)?);
/// prefetcher.observe(&PageAccess { page: 100, ..PageAccess::default() }, Trigger::Miss, &mut candidates);
/// assert_eq!(candidates.pages().collect::<Vec<_>>(), [103, 106]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct OraclePrefetcher {
    network: Arc<MemoryOracle>,
    lane: OracleLane,
    /// The network's progress with the window of each group, so that it takes a step for each access and not for each window.
    windows: Vec<OracleProgress>,
    inferences: u64,
}

impl OraclePrefetcher {
    /// Creates a prefetcher that has heard nothing.
    #[must_use]
    pub fn new(network: impl Into<Arc<MemoryOracle>>, settings: OracleSettings) -> Self {
        Self { network: network.into(), lane: OracleLane::new(settings), windows: Vec::new(), inferences: 0 }
    }

    /// Replaces the network. What is known of the lane stays.
    pub fn set_network(&mut self, network: impl Into<Arc<MemoryOracle>>) {
        self.network = network.into();
        self.windows.iter_mut().for_each(|window| *window = self.network.begin());
    }

    /// Hears of an access after which no page is to be named, and does not evaluate the network.
    pub fn hear(&mut self, access: &PageAccess, trigger: Trigger) {
        self.ask(access, trigger);
    }

    /// Hears of an access. The network has then seen none, some or all of the earlier accesses in the window.
    fn ask(&mut self, access: &PageAccess, trigger: Trigger) -> OracleQuestion {
        let question = self.lane.hear(access, trigger);
        let group = question.group();
        if group == self.windows.len() {
            self.windows.push(self.network.begin());
        } else if !question.has_grown() {
            self.windows[group] = self.network.begin();
        }
        question
    }

    /// Returns how often the network has predicted.
    #[must_use]
    pub const fn inferences(&self) -> u64 {
        self.inferences
    }
}

impl Prefetcher for OraclePrefetcher {
    fn observe(&mut self, access: &PageAccess, trigger: Trigger, candidates: &mut Candidates) {
        let mut question = self.ask(access, trigger);
        let progress = &mut self.windows[question.group()];
        let unknown = &question.window()[progress.accesses()..];
        unknown.iter().for_each(|access| self.network.advance(progress, access));
        let mut known = question.window().len();
        let mut ahead: Option<OracleProgress> = None;
        while let Some(prediction) = self.network.answer(ahead.as_ref().unwrap_or(progress)) {
            self.inferences += 1;
            if !self.lane.answer(&mut question, &prediction, candidates) {
                break;
            }
            let ahead = ahead.get_or_insert_with(|| progress.clone());
            question.window()[known..].iter().for_each(|access| self.network.advance(ahead, access));
            known = question.window().len();
        }
        self.lane.note(candidates);
    }

    fn arrived(&mut self, page: u64, is_prefetched: bool) {
        self.lane.arrived(page, is_prefetched);
    }

    fn bytes(&self) -> usize {
        let windows: usize = self.windows.iter().map(OracleProgress::bytes).sum();
        size_of::<Arc<MemoryOracle>>() + size_of::<u64>() + self.lane.bytes() + windows
    }
}

#[cfg(test)]
mod tests {
    use kvrm_models::{Architecture, Weights};

    use super::*;
    use crate::Degree;

    #[test]
    fn the_network_catches_up_with_accesses_after_which_it_was_not_asked() {
        let weights = Weights::builtin(Architecture::MemoryOracle).expect("the weights are right");
        let (weights, _) = weights.expect("they come with KVRM");
        let network = Arc::new(MemoryOracle::from_flat(weights.values()).expect("of the oracle"));
        let settings = OracleSettings::default();
        let mut prefetcher = OraclePrefetcher::new(network.clone(), settings);
        let mut lane = OracleLane::new(settings);
        let mut named = 0;
        // Windows become shorter again and again. Two instructions have a group each.
        for step in 0..200_u64 {
            let access =
                PageAccess { page: 1000 * (step % 2) + step, pc: 4 * (step % 2), ..PageAccess::default() };
            let mut question = lane.hear(&access, Trigger::Miss);
            if step % 7 != 0 {
                prefetcher.hear(&access, Trigger::Miss);
                continue;
            }
            let [mut expected, mut found] = [(); 2].map(|()| Candidates::new(Degree::new(8).expect("small")));
            while let Some(prediction) = network.predict(question.window())
                && lane.answer(&mut question, &prediction, &mut expected)
            {}
            lane.note(&expected);
            prefetcher.observe(&access, Trigger::Miss, &mut found);
            assert_eq!(found.as_slice(), expected.as_slice(), "at step {step}");
            named += found.as_slice().len();
        }
        assert!(named > 20, "pages are named: {named}");
    }
}
