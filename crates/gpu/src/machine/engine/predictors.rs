//! The prefetchers of all lanes, classical ones on the host or a memory oracle on the device, and what they have brought.

use std::collections::HashSet;
use std::sync::Arc;

use kvrm_learn::Learning;
use kvrm_models::MemoryOracle;
use kvrm_prefetch::{
    Baseline, Candidates, Degree, OracleLane, OracleQuestion, OracleSettings, PageAccess, Prefetcher as _,
    Throttle, Trigger,
};
use kvrm_shaders::interface::machine::Move;
use rayon::prelude::*;

use super::words::LANES_MIN;
use crate::device::Device;
use crate::device::error::Error;
use crate::machine::prefetch::Prefetch;
use crate::memory_oracle::MemoryOracleKernels;

/// An access of which the prefetcher of a lane hears.
#[derive(Clone, Copy, Debug)]
pub(super) struct Heard {
    pub(super) lane: usize,
    pub(super) access: PageAccess,
    pub(super) trigger: Trigger,
    /// Whether pages may be named after the access.
    pub(super) may_name: bool,
}

/// A page that was named after an access.
#[derive(Clone, Copy, Debug)]
pub(super) struct Named {
    /// The place of the page among those that were named after the same access.
    pub(super) rank: usize,
    pub(super) page: u64,
    pub(super) after: Heard,
}

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
            oracle.kernels = None;
        }
    }
}

/// The prefetchers of all lanes. That of a lane is made when the lane first waits.
#[derive(Debug)]
pub(super) enum Predictors {
    Baselines(Vec<Option<Box<Baseline>>>, Prefetch),
    Oracle(Box<OracleLanes>),
}

/// The memory oracle, and what is known of each lane.
#[derive(Debug)]
pub(super) struct OracleLanes {
    network: Arc<MemoryOracle>,
    degree: Degree,
    /// The network on the device, once it was asked.
    kernels: Option<MemoryOracleKernels>,
    /// What is told of all accesses, if the network learns.
    learning: Option<Learning>,
    lanes: Vec<Option<Box<OracleLane>>>,
    /// The number of windows that it was asked about since the last report.
    asked: u64,
}

impl Predictors {
    pub(super) fn new(prefetch: &Prefetch, lanes: usize) -> Self {
        match prefetch.network() {
            None => Self::Baselines(vec![None; lanes], prefetch.clone()),
            Some(network) => Self::Oracle(Box::new(OracleLanes {
                network: network.clone(),
                degree: prefetch.degree(),
                kernels: None,
                learning: prefetch.begin_learning(),
                lanes: vec![None; lanes],
                asked: 0,
            })),
        }
    }

    /// Lets a lane begin anew.
    pub(super) fn forget(&mut self, lane: usize) {
        match self {
            Self::Baselines(lanes, _) => lanes[lane] = None,
            Self::Oracle(oracle) => {
                oracle.lanes[lane] = None;
                if let Some(learning) = &oracle.learning {
                    learning.forget([lane]);
                }
            }
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
            Self::Oracle(oracle) => {
                if let Some(known) = &mut oracle.lanes[lane] {
                    known.arrived(page, is_prefetched);
                }
            }
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
            Self::Oracle(oracle) => std::mem::take(&mut oracle.asked),
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

/// Returns candidates with the access after which they were named.
fn named_after(after: &Heard, candidates: &Candidates) -> impl Iterator<Item = Named> {
    candidates.pages().enumerate().map(|(rank, page)| Named { rank, page, after: *after })
}

/// Returns the accesses of each lane that has any, with what is known of the lane.
fn by_lane<'a, T>(lanes: &'a mut [T], mut heard: &'a [Heard]) -> Vec<(&'a mut T, &'a [Heard])> {
    let mut all = Vec::new();
    for (lane, known) in lanes.iter_mut().enumerate() {
        let (now, later) = heard.split_at(heard.iter().take_while(|heard| heard.lane == lane).count());
        heard = later;
        if !now.is_empty() {
            all.push((known, now));
        }
    }
    all
}

impl OracleLanes {
    /// Hears of accesses. Asks the network about those after which pages may be named, all at once, and again about those that go on.
    fn hear(&mut self, device: &Device, heard: &[Heard]) -> Result<Vec<Named>, Error> {
        let questions = by_lane(&mut self.lanes, heard)
            .into_par_iter()
            .with_min_len(LANES_MIN)
            .flat_map_iter(|(lane, heard)| {
                let lane = lane.get_or_insert_with(|| Box::new(OracleLane::new(OracleSettings::default())));
                let ask = |heard: &Heard| lane.hear(&heard.access, heard.trigger);
                heard.iter().map(ask).collect::<Vec<_>>()
            });
        let questions = questions.collect::<Vec<_>>().into_iter().enumerate();
        let mut open: Vec<(usize, OracleQuestion)> =
            questions.filter(|(index, _)| heard[*index].may_name).collect();
        let mut candidates = vec![Candidates::new(self.degree); heard.len()];
        self.learn(heard)?;
        if self.kernels.is_none() && !open.is_empty() {
            self.kernels = Some(MemoryOracleKernels::new(device, &self.network)?);
        }
        while let (false, Some(kernels)) = (open.is_empty(), &mut self.kernels) {
            let windows: Vec<_> = open.iter().map(|(_, question)| question.window()).collect();
            let predictions = kernels.evaluate(&windows)?;
            self.asked += windows.len() as u64;
            let mut going_on = Vec::new();
            for ((index, mut question), prediction) in open.into_iter().zip(predictions) {
                let (Some(lane), Some(prediction)) = (&mut self.lanes[heard[index].lane], prediction) else {
                    continue;
                };
                let goes_on = lane.answer(&mut question, &prediction, &mut candidates[index]);
                if goes_on {
                    going_on.push((index, question));
                } else {
                    lane.note(&candidates[index]);
                }
            }
            open = going_on;
        }
        Ok(heard
            .iter()
            .zip(&candidates)
            .flat_map(|(after, candidates)| named_after(after, candidates))
            .collect())
    }

    /// Tells of accesses, and takes what was learned into use.
    fn learn(&mut self, heard: &[Heard]) -> Result<(), Error> {
        let Some(learning) = &self.learning else { return Ok(()) };
        if let Some(network) = learning.hear(heard.iter().map(|heard| (heard.lane, heard.access))) {
            self.network = network;
            if let Some(kernels) = &mut self.kernels {
                kernels.set_weights(&self.network)?;
            }
        }
        Ok(())
    }
}
