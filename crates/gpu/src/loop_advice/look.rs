//! The evaluation of networks on many loops, on a device or on the host.

use std::sync::{Mutex, PoisonError};

use kvrm_machine::LoopCandidate;
use kvrm_models::{LoopProposal, PatternMatch};

use super::weights::Networks;
use crate::device::Device;
use crate::loop_networks::{self, LoopModels, LoopNetworks};

/// The answers of the detector and the recogniser about a body of one to 32 words.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) proposal: LoopProposal,
    pub(super) matched: PatternMatch,
}

/// The place where networks are evaluated.
#[derive(Debug)]
pub(super) enum Evaluator {
    Host,
    Device(Mutex<OnDevice>),
}

/// The networks on a device.
#[derive(Debug)]
pub(super) enum OnDevice {
    /// Their kernels are compiled when they are needed first.
    New(Device),
    Ready(Box<LoopNetworks>),
    /// The device has failed, so the host takes over.
    Failed,
}

impl Evaluator {
    /// Returns the answers about each candidate; `None` about bodies that are too long for the networks.
    pub(super) fn look(&self, networks: &Networks, candidates: &[LoopCandidate<'_>]) -> Vec<Option<Seen>> {
        let on_device = match self {
            Self::Host => None,
            Self::Device(device) => {
                device.lock().unwrap_or_else(PoisonError::into_inner).look(networks, candidates)
            }
        };
        on_device.unwrap_or_else(|| candidates.iter().map(|candidate| on_host(networks, candidate)).collect())
    }
}

fn on_host(networks: &Networks, candidate: &LoopCandidate<'_>) -> Option<Seen> {
    Some(Seen {
        proposal: networks.detector.propose(candidate.words, candidate.registers)?,
        matched: networks.recogniser.recognise(candidate.words)?,
    })
}

impl OnDevice {
    /// Returns the answers of the device about all candidates, in one submission. Returns `None` if it fails.
    fn look(&mut self, networks: &Networks, candidates: &[LoopCandidate<'_>]) -> Option<Vec<Option<Seen>>> {
        if let Self::New(device) = self {
            // The predictor is so small that the host evaluates it, and only for loops that the others propose.
            let models = LoopModels {
                detector: Some(&networks.detector),
                recogniser: Some(&networks.recogniser),
                predictor: None,
            };
            *self = LoopNetworks::new(device, models).map_or(Self::Failed, |all| Self::Ready(Box::new(all)));
        }
        let Self::Ready(on_device) = self else { return None };
        let candidates: Vec<_> = candidates
            .iter()
            .map(|candidate| loop_networks::LoopCandidate {
                body: candidate.words,
                registers: *candidate.registers,
                distance: 0,
                step: 0,
                pc: candidate.head,
            })
            .collect();
        let Ok(answers) = on_device.evaluate(&candidates) else {
            *self = Self::Failed;
            return None;
        };
        let seen = answers.into_iter().map(|answer| answer.proposal.zip(answer.matched));
        Some(seen.map(|seen| seen.map(|(proposal, matched)| Seen { proposal, matched })).collect())
    }
}
