//! The check of chains, which link the frames of each lane in the order in which the lane took them.

use kvrm_machine::{Damage, Violation};

use super::copy::Memory;

/// The lane and the place in its chain of each frame.
#[derive(Debug)]
pub(super) struct Chains {
    /// For each frame, the number of the lane that has it plus one, or 0 for none.
    owners: Vec<u32>,
    /// For each frame, its place in the chain of its lane, counted from 1; 0 for none.
    places: Vec<u32>,
}

impl Chains {
    /// Follows the chains of all lanes. `first` is the first frame of each lane, or 0 for none. Following a chain ends
    /// at a link to a frame that does not exist or that is in a chain already, which is a violation.
    pub(super) fn follow(
        memory: &Memory,
        first: impl Iterator<Item = u32>,
        violations: &mut Vec<Violation>,
    ) -> Self {
        let frames = memory.info.len();
        let mut chains = Self { owners: vec![0; frames], places: vec![0; frames] };
        for (lane, first) in first.enumerate() {
            let (mut from, mut to, mut place) = (0, first, 0);
            while to != 0 {
                if to < memory.shared() || to >= memory.used {
                    let damage = Damage::ChainLink { from, to, first: memory.shared(), end: memory.used };
                    violations.push(Violation::new(damage).of_lane(lane));
                    break;
                }
                if let Some(owner) = chains.owner(to) {
                    let damage = Damage::ChainTwice { from, owner };
                    violations.push(Violation::new(damage).of_lane(lane).of_frame(to));
                    break;
                }
                place += 1;
                chains.owners[to as usize] = lane as u32 + 1;
                chains.places[to as usize] = place;
                (from, to) = (to, memory.info[to as usize][2]);
            }
        }
        let lost = (memory.shared()..memory.used).filter(|frame| chains.owner(*frame).is_none());
        violations.extend(lost.map(|frame| Violation::new(Damage::NotInChain).of_frame(frame)));
        chains
    }

    /// Returns the lane that has a frame.
    pub(super) fn owner(&self, frame: u32) -> Option<usize> {
        self.owners[frame as usize].checked_sub(1).map(|lane| lane as usize)
    }

    /// Returns the place of a frame in the chain of its lane, counted from 1.
    pub(super) fn place(&self, frame: u32) -> u32 {
        self.places[frame as usize]
    }

    /// Returns the number of frames of its chain that a lane uses. The last one is `tail`; the snapshot uses the first
    /// `least`.
    pub(super) fn uses(&self, lane: usize, tail: u32, least: u32, violations: &mut Vec<Violation>) -> u32 {
        let is_there = (tail as usize) < self.owners.len() && self.owner(tail) == Some(lane);
        let place = if is_there { self.place(tail) } else { 0 };
        if place < least || (tail != 0 && place == 0) {
            violations.push(Violation::new(Damage::ChainTail { tail, place, least }).of_lane(lane));
        }
        place.max(least)
    }
}
