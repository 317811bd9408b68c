//! The options for networks that learn while a program runs.

use anyhow::{Result, bail};
use kvrm::prefetch::Policy;
use kvrm::{Learning, LoopMode, SelectionMode};

/// The options for networks that learn while a program runs.
#[derive(clap::Args)]
pub(super) struct LearnArgs {
    /// Let networks learn from the program, in spare threads of the host: that of --prefetch oracle from the pages that the program
    /// uses, and the iteration predictor of --loops networks from the loops that it enters. Results are the same. --stats shows what
    /// was learned.
    #[arg(long)]
    learn: bool,
    /// The seed of --learn: for the same accesses to memory and the same loops, the same seed gives the same weights.
    #[arg(long, value_name = "SEED", default_value = "1", requires = "learn")]
    learn_seed: u64,
}

/// The options of an engine that decide which networks are asked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub(super) selection: SelectionMode,
    pub(super) prefetch: Policy,
    pub(super) loops: LoopMode,
}

impl Asked {
    /// Returns whether any network that can learn is asked.
    const fn can_learn(self) -> bool {
        // Loops are not accelerated where a network is asked in each step.
        let is_in_steps = matches!(self.selection, SelectionMode::Network | SelectionMode::Hybrid);
        let asks_predictor = matches!(self.loops, LoopMode::Networks) && !is_in_steps;
        matches!(self.prefetch, Policy::Oracle) || asks_predictor
    }
}

impl LearnArgs {
    /// Returns the learning of the networks that are asked, if they learn.
    pub(super) fn learning(&self, asked: Asked) -> Result<Option<Learning>> {
        if self.learn && !asked.can_learn() {
            let Asked { selection, prefetch, loops } = asked;
            bail!(
                "--learn: no network that can learn is asked with --prefetch {prefetch}, --loops {loops} and --class-selection \
                 {selection}; use --prefetch oracle, or --loops networks and a --class-selection that asks no network in each step"
            );
        }
        Ok(self.learn.then(|| Learning::new(self.learn_seed)))
    }
}
