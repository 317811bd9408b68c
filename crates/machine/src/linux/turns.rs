//! The turns of threads: which thread has the lane, and which are next.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use super::mix::{GOLDEN, mixed};
use super::thread::Thread;

/// The turns of threads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Turns {
    /// The thread that has the lane. It may have ended, or may have to wait, if no other thread can go on.
    pub(super) current: u32,
    /// The threads that can go on, in the order in which they became able to. The current one is among them only if its turn is over.
    pub(super) ready: VecDeque<u32>,
    /// The threads that wait, in the order in which they began to.
    pub(super) waiting: Vec<u32>,
    /// The number of steps of the lane at which the turn ends, if another thread can go on.
    pub(super) end: u64,
    /// The state of the schedule's random numbers; `None` if threads take turns in order, all of the same length.
    pub(super) schedule: Option<u64>,
}

impl Turns {
    pub(super) const fn new(first: u32) -> Self {
        Self { current: first, ready: VecDeque::new(), waiting: Vec::new(), end: 0, schedule: None }
    }

    /// Returns whether the lists have all threads that do not have the lane, each once, and those that wait as waiting.
    pub(super) fn is_valid(&self, threads: &BTreeMap<u32, Box<Thread>>) -> bool {
        let waits = |id: &u32| threads.get(id).map(|thread| thread.wait.is_some());
        let mut listed: Vec<u32> = self.ready.iter().chain(&self.waiting).copied().collect();
        listed.sort_unstable();
        listed.is_sorted_by(|a, b| a < b)
            && self.ready.iter().all(|id| waits(id) == Some(false))
            && self.waiting.iter().all(|id| waits(id) == Some(true))
            && threads.keys().all(|id| *id == self.current || listed.binary_search(id).is_ok())
    }

    /// Begins the turn of a thread at a number of steps.
    pub(super) fn begin(&mut self, thread: u32, steps: u64, quantum: u64) {
        let length = match self.random() {
            None => quantum,
            // All magnitudes are equally likely: a race may need a switch within few instructions, or a long turn.
            Some(random) => {
                let magnitudes = u64::from(64 - quantum.leading_zeros()).max(1);
                let most = quantum >> (random % magnitudes);
                1 + (random >> 8) % most.max(1)
            }
        };
        (self.current, self.end) = (thread, steps.saturating_add(length));
    }

    /// Removes the thread that is next from those that can go on and for which `may_run` holds.
    pub(super) fn take_next(&mut self, may_run: impl Fn(u32) -> bool) -> Option<u32> {
        let able: Vec<usize> = (0..self.ready.len()).filter(|place| may_run(self.ready[*place])).collect();
        let choice = match able.len() {
            0 => return None,
            1 => 0,
            count => self.random().map_or(0, |random| (random % count as u64) as usize),
        };
        self.ready.remove(able[choice])
    }

    /// Removes a thread that has ended.
    pub(super) fn remove(&mut self, thread: u32) {
        self.ready.retain(|id| *id != thread);
        self.waiting.retain(|id| *id != thread);
    }

    /// Returns the next random number of the schedule, by `SplitMix64`.
    fn random(&mut self) -> Option<u64> {
        let state = self.schedule.as_mut()?;
        *state = state.wrapping_add(GOLDEN);
        Some(mixed(*state))
    }
}
