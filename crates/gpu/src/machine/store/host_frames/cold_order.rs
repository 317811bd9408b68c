//! The order in which frames have come to the memory of the host.

use std::collections::VecDeque;

/// The number of entries that may be old before they are removed.
const OLD: usize = 1 << 12;

/// The slots that have contents, those that have had them for the longest time first.
#[derive(Debug, Default)]
pub(super) struct ColdOrder {
    /// Slots with the time at which they got contents. An entry is old if the slot has another time now.
    queue: VecDeque<(u32, u64)>,
    /// The time and the frame of each slot; the time is 0 if the slot has no contents.
    slots: Vec<(u64, u32)>,
    /// The number of slots with contents.
    used: usize,
    now: u64,
}

impl ColdOrder {
    /// Adds a slot without contents, which gets those of a frame.
    pub(super) fn add(&mut self, slot: u32, frame: u32) {
        self.now += 1;
        if self.slots.len() <= slot as usize {
            self.slots.resize(slot as usize + 1, (0, 0));
        }
        self.slots[slot as usize] = (self.now, frame);
        self.queue.push_back((slot, self.now));
        self.used += 1;
        if self.queue.len() > 2 * self.used + OLD {
            let slots = &self.slots;
            self.queue.retain(|&(slot, time)| slots[slot as usize].0 == time);
        }
    }

    /// Removes a slot, if it has contents.
    pub(super) fn remove(&mut self, slot: u32) {
        if let Some((time @ 1.., _)) = self.slots.get_mut(slot as usize) {
            *time = 0;
            self.used -= 1;
        }
    }

    /// Returns the slots that have had contents for the longest time, at most `count`, and their frames.
    pub(super) fn coldest(&mut self, count: usize) -> Vec<(u32, u32)> {
        let is_old = |slots: &[(u64, u32)], (slot, time): (u32, u64)| slots[slot as usize].0 != time;
        while self.queue.front().is_some_and(|entry| is_old(&self.slots, *entry)) {
            self.queue.pop_front();
        }
        let entries = self.queue.iter().filter(|entry| !is_old(&self.slots, **entry));
        entries.take(count).map(|&(slot, _)| (slot, self.slots[slot as usize].1)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_that_came_first_are_the_coldest() {
        let mut order = ColdOrder::default();
        [(4, 40), (2, 20), (7, 70)].iter().for_each(|&(slot, frame)| order.add(slot, frame));
        assert_eq!(order.coldest(2), [(4, 40), (2, 20)], "the first two");
        order.remove(4);
        order.remove(4);
        order.add(4, 41);
        assert_eq!(order.coldest(9), [(2, 20), (7, 70), (4, 41)], "slot 4 is used again");
    }

    #[test]
    fn old_entries_do_not_fill_memory() {
        let mut order = ColdOrder::default();
        order.add(1, 1);
        for _ in 0..10 * OLD {
            order.add(0, 5);
            order.remove(0);
        }
        assert!(order.queue.len() <= 2 * OLD, "{} entries", order.queue.len());
        assert_eq!(order.coldest(5), [(1, 1)], "the slot that was never removed");
    }
}
