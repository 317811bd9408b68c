//! The engines among which lanes are divided, and the share of each.

use std::fmt;
use std::num::NonZeroU32;
use std::ops::Range;
use std::sync::Arc;

use super::parts::{Part, at_once};
use crate::call_table::CallTable;
use crate::error::Error;
use crate::executor::{Factory, Plan};

/// The engines, each with its weight. There is at least one.
#[derive(Clone)]
pub(super) struct Engines(Vec<(Arc<dyn Factory + Send + Sync>, NonZeroU32)>);

impl Engines {
    pub(super) fn new(engine: impl Factory + Send + Sync + 'static, weight: NonZeroU32) -> Self {
        Self(vec![(Arc::new(engine), weight)])
    }

    pub(super) fn and(mut self, engine: impl Factory + Send + Sync + 'static, weight: NonZeroU32) -> Self {
        self.0.push((Arc::new(engine), weight));
        self
    }

    /// Returns the sum of the weights.
    fn total(&self) -> u128 {
        self.0.iter().map(|(_, weight)| u128::from(weight.get())).sum()
    }

    /// Returns the share of each engine in `lanes` lanes: less than a lane more or less than in proportion to its weight. The
    /// first engine has a lane if there is any.
    pub(super) fn shares(&self, lanes: usize) -> Vec<Range<usize>> {
        let total = self.total();
        let (mut weights, mut start) = (0, 0);
        let share = |(_, weight): &(_, NonZeroU32)| {
            weights += u128::from(weight.get());
            // At most `lanes`.
            let end = (lanes as u128 * weights).div_ceil(total) as usize;
            let share = start..end;
            start = end;
            share
        };
        self.0.iter().map(share).collect()
    }

    /// Returns the number of lanes with an image of their own that every executor has room for.
    pub(super) fn images_max(&self) -> usize {
        let total = self.total();
        let lanes = |(engine, weight): &(Arc<dyn Factory + Send + Sync>, NonZeroU32)| {
            // A share is less than a lane larger than in proportion, so it is at most the next whole number.
            let lanes = engine.images_max() as u128 * total / u128::from(weight.get());
            usize::try_from(lanes).unwrap_or(usize::MAX)
        };
        self.0.iter().map(lanes).min().unwrap_or(usize::MAX)
    }

    /// Makes the executors of a plan, one for each engine with a share. Without lanes, there is one nevertheless.
    pub(super) fn parts(&self, plan: &Plan<'_>) -> Result<Vec<Part>, Error> {
        let jobs: Vec<_> = self
            .0
            .iter()
            .zip(self.shares(plan.lanes))
            .enumerate()
            .filter(|(index, (_, share))| !share.is_empty() || plan.lanes == 0 && *index == 0)
            .map(|(_, ((engine, _), share))| (engine, share))
            .collect();
        let parts = at_once(jobs, |(engine, share)| {
            let calls = plan.calls.map(|calls| CallTable {
                first_lane: calls.first_lane + share.start as u64,
                ..calls.clone()
            });
            let images = if plan.images.len() > 1 { &plan.images[share.clone()] } else { plan.images };
            let part = Plan { images, lanes: share.len(), calls: calls.as_ref(), ..*plan };
            Ok(Part { first: share.start, executor: engine.executor(&part)? })
        });
        parts.into_iter().collect()
    }
}

impl fmt::Debug for Engines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(_, weight)| weight)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::Executor;
    use crate::reference::ReferenceEngine;

    /// Returns engines with these weights.
    fn engines(weights: &[u32]) -> Engines {
        let engine = |weight: &u32| -> (Arc<dyn Factory + Send + Sync>, _) {
            (Arc::new(ReferenceEngine), NonZeroU32::new(*weight).expect("weights are positive"))
        };
        Engines(weights.iter().map(engine).collect())
    }

    #[test]
    fn shares_are_in_proportion_to_weights() {
        let shares = |weights: &[u32], lanes| engines(weights).shares(lanes);
        assert_eq!(shares(&[1, 1, 1], 10), [0..4, 4..7, 7..10], "equal weights");
        assert_eq!(shares(&[1, 3], 16), [0..4, 4..16], "a quarter and three quarters");
        assert_eq!(shares(&[5, 5, 5], 1), [0..1, 1..1, 1..1], "the first one has the only lane");
        assert_eq!(shares(&[7, 1], 3), [0..3, 3..3], "less than a lane");
        assert_eq!(shares(&[1, 2], 0), [0..0, 0..0], "no lanes");
        let large = shares(&[u32::MAX, u32::MAX], usize::MAX);
        assert_eq!(large.last().map(|share| share.end), Some(usize::MAX), "no number overflows");
    }

    #[test]
    fn no_share_exceeds_the_images_that_its_engine_has_room_for() {
        /// An engine with room for few images.
        struct Small(usize);

        impl Factory for Small {
            fn executor(&self, plan: &Plan<'_>) -> Result<Box<dyn Executor>, Error> {
                ReferenceEngine.executor(plan)
            }

            fn images_max(&self) -> usize {
                self.0
            }
        }

        let weight = |weight| NonZeroU32::new(weight).expect("weights are positive");
        for (first, second) in [(1, 1), (3, 7), (5, 2), (1, 100)] {
            let engines = Engines::new(Small(20), weight(first)).and(Small(9), weight(second));
            let max = engines.images_max();
            for lanes in 0..=max {
                let shares = engines.shares(lanes);
                let fits = shares[0].len() <= 20 && shares[1].len() <= 9;
                assert!(fits, "{lanes} lanes of {max}, weights {first} and {second}: {shares:?}");
            }
            let shares = engines.shares(max + 2);
            let is_full = shares[0].len() >= 20 || shares[1].len() >= 9;
            assert!(is_full, "{max} lanes are as many as fit with weights {first} and {second}: {shares:?}");
        }
        assert_eq!(engines(&[1, 2]).images_max(), usize::MAX, "there is no limit");
    }
}
