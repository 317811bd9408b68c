//! The prefetchers that are compared: the classical ones, and that of the memory oracle.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use kvrm_models::{Architecture, MemoryOracle, Weights};
use kvrm_prefetch::{
    Baseline, Candidates, Markov, OraclePrefetcher, OracleSettings, PageAccess, Policy, Prefetcher, Trigger,
};

/// The policies that are compared, besides `none`.
pub(super) const POLICIES: [Policy; 5] =
    [Policy::Next, Policy::Stride, Policy::BestOffset, Policy::Markov, Policy::Oracle];
/// The number of pages that the table of `markov` knows: more than any program of the tables has.
const MARKOV_ENTRIES: usize = 4096;

/// Makes prefetchers that have heard nothing.
pub(super) struct Prefetchers {
    pub(super) network: Arc<MemoryOracle>,
    pub(super) settings: OracleSettings,
}

/// A prefetcher of any policy.
pub(super) enum AnyPrefetcher {
    Baseline(Baseline),
    Oracle(Box<OraclePrefetcher>),
}

impl Prefetchers {
    /// Takes the weights of a file, or those that come with KVRM.
    pub(super) fn new(weights: Option<&Path>, settings: OracleSettings) -> Result<Self> {
        let weights = match weights {
            Some(path) => Weights::load(path)?,
            None => {
                let (weights, _) = Weights::builtin(Architecture::MemoryOracle)?
                    .context("KVRM has no weights of the memory oracle; run `cargo xtask train oracle`")?;
                weights
            }
        };
        let network = MemoryOracle::from_flat(weights.values())?.rounded_to_half()?;
        Ok(Self { network: Arc::new(network), settings })
    }

    pub(super) fn of(&self, policy: Policy) -> AnyPrefetcher {
        match policy {
            Policy::Markov => AnyPrefetcher::Baseline(Baseline::Markov(Markov::with_entries(MARKOV_ENTRIES))),
            _ => policy.baseline().map_or_else(
                || {
                    AnyPrefetcher::Oracle(Box::new(OraclePrefetcher::new(
                        self.network.clone(),
                        self.settings,
                    )))
                },
                AnyPrefetcher::Baseline,
            ),
        }
    }
}

impl AnyPrefetcher {
    /// Returns how often the network has predicted.
    pub(super) fn inferences(&self) -> u64 {
        match self {
            Self::Baseline(_) => 0,
            Self::Oracle(prefetcher) => prefetcher.inferences(),
        }
    }
}

impl Prefetcher for AnyPrefetcher {
    fn observe(&mut self, access: &PageAccess, trigger: Trigger, candidates: &mut Candidates) {
        match self {
            Self::Baseline(prefetcher) => prefetcher.observe(access, trigger, candidates),
            Self::Oracle(prefetcher) => prefetcher.observe(access, trigger, candidates),
        }
    }

    fn arrived(&mut self, page: u64, is_prefetched: bool) {
        match self {
            Self::Baseline(prefetcher) => prefetcher.arrived(page, is_prefetched),
            Self::Oracle(prefetcher) => prefetcher.arrived(page, is_prefetched),
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Baseline(prefetcher) => prefetcher.bytes(),
            Self::Oracle(prefetcher) => prefetcher.bytes(),
        }
    }
}
