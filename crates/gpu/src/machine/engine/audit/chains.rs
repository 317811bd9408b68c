//! The chains of lanes: which frames each has taken, in order.

use kvrm_machine::{Damage, Violation};

use super::copy::Memory;

/// To whom frames belong.
#[derive(Debug)]
pub(super) struct Chains {
    /// One more than the lane that has each frame, or 0.
    owners: Vec<u32>,
    /// The place of each frame in the chain of its lane, counted from 1.
    places: Vec<u32>,
}

impl Chains {
    /// Follows the chains of all lanes, which begin with the frames `first`, 0 for none. Each ends where it leads to a
    /// frame that is not there or that a lane has already.
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
        violations.extend(lost.map(|frame| Violation::new(Damage::Lost).of_frame(frame)));
        chains
    }

    /// The lane that has a frame.
    pub(super) fn owner(&self, frame: u32) -> Option<usize> {
        self.owners[frame as usize].checked_sub(1).map(|lane| lane as usize)
    }

    /// The place of a frame in the chain of its lane, counted from 1.
    pub(super) fn place(&self, frame: u32) -> u32 {
        self.places[frame as usize]
    }

    /// How many frames of its chain a lane uses, the last of which is `tail`; `least` are used by the snapshot.
    pub(super) fn uses(&self, lane: usize, tail: u32, least: u32, violations: &mut Vec<Violation>) -> u32 {
        let is_there = (tail as usize) < self.owners.len() && self.owner(tail) == Some(lane);
        let place = if is_there { self.place(tail) } else { 0 };
        if place < least || (tail != 0 && place == 0) {
            violations.push(Violation::new(Damage::ChainTail { tail, place, least }).of_lane(lane));
        }
        place.max(least)
    }
}
