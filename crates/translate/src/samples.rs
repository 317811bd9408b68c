//! The selection of regions: where lanes spend their steps.

use std::collections::{BTreeMap, BTreeSet};

use kvrm_arm64::micro_op::MicroOp;

use crate::block::{Block, End, Limits};
use crate::region::Region;

/// An instruction is hot if it has at least one of so many samples. Code a few branches from it is translated, too.
const HOT: u64 = 1000;
/// An instruction is translated if it has at least one of so many samples.
const WARM: u64 = 20_000;

/// Samples of program counters.
///
/// ```
/// use kvrm_arm64::Features;
/// use kvrm_arm64::lowering::lower;
/// use kvrm_translate::{Limits, Samples};
///
/// let words = [0xd503_201f, 0xf100_0400, 0x54ff_ffe1]; // nop; subs x0, x0, #1; b.ne to it
/// let fetch = |pc: u64| Some(lower(*words.get(pc as usize / 4)?, Features::BASE));
/// let mut samples = Samples::default();
/// samples.add(8); // at the branch
/// let limits = Limits { instructions: 100, pages: 1, distance: 3 };
/// let regions = samples.regions(&limits, fetch);
/// assert_eq!(regions[0].blocks[0].pc, 4, "the loop");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Samples {
    counts: BTreeMap<u64, u64>,
    total: u64,
}

impl Samples {
    /// Adds a sample.
    pub fn add(&mut self, pc: u64) {
        *self.counts.entry(pc).or_default() += 1;
        self.total += 1;
    }

    /// Returns the number of all samples.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.total
    }

    /// Returns the number of samples in a region.
    #[must_use]
    pub fn count_in(&self, region: &Region) -> u64 {
        region.addresses().filter_map(|pc| self.counts.get(&pc)).sum()
    }

    /// Returns the addresses with samples, and their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> {
        self.counts.iter().map(|(pc, count)| (*pc, *count))
    }

    /// Returns the regions of the hot code, the hottest first. No two have the same instruction. `fetch` is that of
    /// [`Region::find`]; `limits` are for all regions together.
    pub fn regions(&self, limits: &Limits, fetch: impl Fn(u64) -> Option<MicroOp>) -> Vec<Region> {
        let is_hot = |pc: u64| self.counts.get(&pc).is_some_and(|count| self.is_share(*count, HOT));
        let mut seen: Vec<(u64, u64)> = self.counts.iter().map(|(pc, count)| (*count, *pc)).collect();
        seen.retain(|(count, _)| self.is_share(*count, WARM));
        // The address with the most samples first; of several, the lowest.
        seen.sort_unstable_by_key(|(count, pc)| (u64::MAX - count, *pc));
        let seen: Vec<u64> = seen.into_iter().map(|(_, pc)| pc).collect();
        let mut regions = Region::find_around(&seen, limits, is_hot, fetch);
        regions.retain(|region| self.count_in(region) > 0);
        regions.sort_by_key(|region| u64::MAX - self.count_in(region));
        connect(&mut regions);
        regions
    }

    /// Whether so many samples are at least one of `of`.
    const fn is_share(&self, count: u64, of: u64) -> bool {
        count > 0 && count.saturating_mul(of) >= self.total
    }
}

impl FromIterator<(u64, u64)> for Samples {
    /// Makes samples of addresses with their numbers.
    fn from_iter<I: IntoIterator<Item = (u64, u64)>>(counts: I) -> Self {
        let counts: BTreeMap<u64, u64> = counts.into_iter().collect();
        Self { total: counts.values().sum(), counts }
    }
}

/// Makes the blocks entries to which another region leaves.
fn connect(regions: &mut [Region]) {
    let exits: BTreeSet<u64> = regions.iter().flat_map(|region| &region.blocks).flat_map(exits).collect();
    for block in regions.iter_mut().flat_map(|region| &mut region.blocks) {
        block.is_entry |= exits.contains(&block.pc);
    }
}

/// Returns the addresses outside of its region to which a block leads.
fn exits(block: &Block) -> Vec<u64> {
    let edges = match &block.end {
        End::Always(edge) => vec![*edge],
        End::Either { taken, next } => vec![*taken, *next],
        End::Register(_) => Vec::new(),
    };
    edges.iter().filter(|edge| edge.block.is_none()).map(|edge| edge.pc).collect()
}
