//! The prefetchers of all lanes, classical ones or a memory oracle, and what they have brought.

use std::collections::HashSet;

use kvrm_prefetch::{Baseline, Candidates, Degree, PageAccess, Prefetcher as _, Throttle, Trigger};
use kvrm_shaders::interface::machine::Move;
use rayon::prelude::*;

use super::heard::{Heard, Named, by_lane, named_after};
use super::oracle_lanes::OracleLanes;
use super::words::LANES_MIN;
use crate::device::Device;
use crate::device::error::Error;
use crate::machine::prefetch::Prefetch;

/// The prefetchers of all lanes, and the pages that they have brought.
#[derive(Debug)]
pub(super) struct Prefetching {
    pub(super) predictors: Predictors,
    /// The frames that were prefetched, and that no lane has used yet.
    pub(super) unused: Vec<Prefetched>,
    /// The throttle of each lane.
    pub(super) throttles: Vec<Throttle>,
}

/// A frame that was prefetched.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prefetched {
    /// The page of a lane, with its frame.
    pub(super) page: Move,
    /// The access after which the page was named. Its instruction most likely also uses the page, whose use leaves no trace but
    /// that it happened.
    pub(super) after: PageAccess,
}

impl Prefetching {
    /// Creates prefetchers that have heard nothing. Returns `None` if nothing is prefetched.
    pub(super) fn new(prefetch: &Prefetch, lanes: usize) -> Option<Self> {
        let new = || Self {
            predictors: Predictors::new(prefetch, lanes),
            unused: Vec::new(),
            throttles: vec![Throttle::default(); lanes],
        };
        prefetch.is_active().then(new)
    }

    /// Lets lanes begin anew.
    pub(super) fn forget(&mut self, lanes: &[usize]) {
        let lanes: HashSet<usize> = lanes.iter().copied().collect();
        self.unused.retain(|unused| !lanes.contains(&(unused.page.lane as usize)));
        for lane in lanes {
            self.throttles[lane] = Throttle::default();
            self.predictors.forget(lane);
        }
    }

    /// Lets all lanes begin anew on another device. What the network has learned stays.
    pub(super) fn restart(&mut self, lanes: usize) {
        self.forget(&(0..lanes).collect::<Vec<_>>());
        if let Predictors::Oracle(oracle) = &mut self.predictors {
            oracle.leave_device();
        }
    }
}

/// The prefetchers of all lanes. That of a lane is made when the lane first waits.
#[derive(Debug)]
pub(super) enum Predictors {
    Baselines(Vec<Option<Box<Baseline>>>, Prefetch),
    Oracle(Box<OracleLanes>),
}

impl Predictors {
    pub(super) fn new(prefetch: &Prefetch, lanes: usize) -> Self {
        match prefetch.network() {
            None => Self::Baselines(vec![None; lanes], prefetch.clone()),
            Some(network) => Self::Oracle(Box::new(OracleLanes::new(network, prefetch, lanes))),
        }
    }

    /// Lets a lane begin anew.
    pub(super) fn forget(&mut self, lane: usize) {
        match self {
            Self::Baselines(lanes, _) => lanes[lane] = None,
            Self::Oracle(oracle) => oracle.forget(lane),
        }
    }

    /// Hears that a page has arrived.
    pub(super) fn arrived(&mut self, lane: usize, page: u64, is_prefetched: bool) {
        match self {
            Self::Baselines(lanes, _) => {
                if let Some(prefetcher) = &mut lanes[lane] {
                    prefetcher.arrived(page, is_prefetched);
                }
            }
            Self::Oracle(oracle) => oracle.arrived(lane, page, is_prefetched),
        }
    }

    /// Hears of accesses, in the order of lanes, and returns the pages that are named.
    pub(super) fn hear(&mut self, device: &Device, heard: &[Heard]) -> Result<Vec<Named>, Error> {
        match self {
            Self::Baselines(lanes, prefetch) => {
                let named = by_lane(lanes, heard).into_par_iter().with_min_len(LANES_MIN).flat_map_iter(
                    |(prefetcher, heard)| {
                        if prefetcher.is_none() {
                            *prefetcher = prefetch.policy().baseline().map(Box::new);
                        }
                        let prefetcher = prefetcher.as_deref_mut();
                        prefetcher.map_or_else(Vec::new, |it| name(it, prefetch.degree(), heard))
                    },
                );
                Ok(named.collect())
            }
            Self::Oracle(oracle) => oracle.hear(device, heard),
        }
    }

    /// Returns the number of windows that the memory oracle was asked about since the last call.
    pub(super) fn take_asked(&mut self) -> u64 {
        match self {
            Self::Baselines(..) => 0,
            Self::Oracle(oracle) => oracle.take_asked(),
        }
    }
}

/// Tells a prefetcher of the accesses of its lane, and returns the pages that it names.
fn name(prefetcher: &mut Baseline, degree: Degree, heard: &[Heard]) -> Vec<Named> {
    let mut named = Vec::new();
    for after in heard {
        if after.trigger == Trigger::Miss {
            prefetcher.arrived(after.access.page, false);
        }
        let mut candidates = Candidates::new(degree);
        prefetcher.observe(&after.access, after.trigger, &mut candidates);
        if after.may_name {
            named.extend(named_after(after, &candidates));
        }
    }
    named
}
