//! The memory oracle of a machine, and what is known of each lane.

use std::sync::Arc;

use kvrm_learn::Learning;
use kvrm_models::MemoryOracle;
use kvrm_prefetch::{
    Candidates, Degree, OracleLane, OraclePrefetcher, OracleQuestion, OracleSettings, Prefetcher as _,
};
use rayon::prelude::*;

use super::heard::{Heard, Named, by_lane, named_after};
use super::words::LANES_MIN;
use crate::device::Device;
use crate::device::error::Error;
use crate::machine::prefetch::Prefetch;
use crate::memory_oracle::MemoryOracleKernels;

/// The memory oracle, and what is known of each lane.
#[derive(Debug)]
pub(super) struct OracleLanes {
    network: Arc<MemoryOracle>,
    degree: Degree,
    /// What is told of all accesses, if the network learns.
    learning: Option<Learning>,
    lanes: Lanes,
    /// The number of windows that the network was asked about since the last report.
    asked: u64,
}

/// What is known of each lane that was heard, by where the network is evaluated.
#[derive(Debug)]
enum Lanes {
    /// On the host, for each lane.
    Host(Vec<Option<Box<OraclePrefetcher>>>),
    /// On the device, for all lanes at once.
    Device(Box<DeviceLanes>),
}

/// The network on the device, and what is known of each lane.
#[derive(Debug)]
struct DeviceLanes {
    /// The network on the device, once it was asked.
    kernels: Option<MemoryOracleKernels>,
    lanes: Vec<Option<Box<OracleLane>>>,
}

impl OracleLanes {
    /// Creates what is known of lanes that were not heard.
    ///
    /// If there are no more lanes than threads, the host evaluates the network. It keeps the states of the LSTM, so most accesses take one or
    /// two steps: about 0.2 ms on the host of an H200. The device takes up to 24 steps, and sometimes as many again, but no longer
    /// for many lanes than for one.
    pub(super) fn new(network: &Arc<MemoryOracle>, prefetch: &Prefetch, lanes: usize) -> Self {
        let lanes = if lanes <= rayon::current_num_threads() {
            Lanes::Host(vec![None; lanes])
        } else {
            Lanes::Device(Box::new(DeviceLanes { kernels: None, lanes: vec![None; lanes] }))
        };
        let (network, degree) = (network.clone(), prefetch.degree());
        Self { network, degree, learning: prefetch.begin_learning(), lanes, asked: 0 }
    }

    /// Lets a lane begin anew.
    pub(super) fn forget(&mut self, lane: usize) {
        match &mut self.lanes {
            Lanes::Host(lanes) => lanes[lane] = None,
            Lanes::Device(device) => device.lanes[lane] = None,
        }
        if let Some(learning) = &self.learning {
            learning.forget([lane]);
        }
    }

    /// Forgets the device, which is lost.
    pub(super) fn leave_device(&mut self) {
        if let Lanes::Device(device) = &mut self.lanes {
            device.kernels = None;
        }
    }

    /// Hears that a page has arrived.
    pub(super) fn arrived(&mut self, lane: usize, page: u64, is_prefetched: bool) {
        match &mut self.lanes {
            Lanes::Host(lanes) => {
                if let Some(lane) = &mut lanes[lane] {
                    lane.arrived(page, is_prefetched);
                }
            }
            Lanes::Device(device) => {
                if let Some(lane) = &mut device.lanes[lane] {
                    lane.arrived(page, is_prefetched);
                }
            }
        }
    }

    /// Returns the number of windows that the network was asked about since the last call.
    pub(super) const fn take_asked(&mut self) -> u64 {
        std::mem::replace(&mut self.asked, 0)
    }

    /// Hears of accesses, in the order of lanes, and returns the pages that are named.
    pub(super) fn hear(&mut self, device: &Device, heard: &[Heard]) -> Result<Vec<Named>, Error> {
        self.learn(heard)?;
        match &mut self.lanes {
            Lanes::Host(lanes) => {
                let answers = by_lane(lanes, heard).into_par_iter().map(|(lane, heard)| {
                    let new =
                        || Box::new(OraclePrefetcher::new(self.network.clone(), OracleSettings::default()));
                    hear_on_host(lane.get_or_insert_with(new), self.degree, heard)
                });
                let answers: Vec<_> = answers.collect();
                self.asked += answers.iter().map(|(_, asked)| asked).sum::<u64>();
                Ok(answers.into_iter().flat_map(|(named, _)| named).collect())
            }
            Lanes::Device(lanes) => {
                let (candidates, asked) = lanes.hear(device, &self.network, self.degree, heard)?;
                self.asked += asked;
                let named = heard.iter().zip(&candidates);
                Ok(named.flat_map(|(after, candidates)| named_after(after, candidates)).collect())
            }
        }
    }

    /// Tells of accesses, and takes what was learned into use.
    fn learn(&mut self, heard: &[Heard]) -> Result<(), Error> {
        let Some(learning) = &self.learning else { return Ok(()) };
        let Some(network) = learning.hear(heard.iter().map(|heard| (heard.lane, heard.access))) else {
            return Ok(());
        };
        match &mut self.lanes {
            Lanes::Host(lanes) => {
                lanes.iter_mut().flatten().for_each(|lane| lane.set_network(network.clone()));
            }
            Lanes::Device(lanes) => {
                if let Some(kernels) = &mut lanes.kernels {
                    kernels.set_weights(&network)?;
                }
            }
        }
        self.network = network;
        Ok(())
    }
}

/// Tells a prefetcher of the accesses of its lane. Returns the pages that it names, and how often it has asked the network.
fn hear_on_host(lane: &mut OraclePrefetcher, degree: Degree, heard: &[Heard]) -> (Vec<Named>, u64) {
    let before = lane.inferences();
    let mut named = Vec::new();
    for after in heard {
        if after.may_name {
            let mut candidates = Candidates::new(degree);
            lane.observe(&after.access, after.trigger, &mut candidates);
            named.extend(named_after(after, &candidates));
        } else {
            lane.hear(&after.access, after.trigger);
        }
    }
    (named, lane.inferences() - before)
}

impl DeviceLanes {
    /// Hears of accesses. Asks the network about those after which pages may be named, all at once, and again about those that go on.
    /// Returns the candidates of each access, and the number of windows that the network was asked about.
    fn hear(
        &mut self,
        device: &Device,
        network: &MemoryOracle,
        degree: Degree,
        heard: &[Heard],
    ) -> Result<(Vec<Candidates>, u64), Error> {
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
        let mut candidates = vec![Candidates::new(degree); heard.len()];
        let mut asked = 0;
        if self.kernels.is_none() && !open.is_empty() {
            self.kernels = Some(MemoryOracleKernels::new(device, network)?);
        }
        while let (false, Some(kernels)) = (open.is_empty(), &mut self.kernels) {
            let windows: Vec<_> = open.iter().map(|(_, question)| question.window()).collect();
            let predictions = kernels.evaluate(&windows)?;
            asked += windows.len() as u64;
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
        Ok((candidates, asked))
    }
}
