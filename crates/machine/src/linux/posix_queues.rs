//! Message queues of POSIX, which descriptors refer to.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

/// The largest priority of a message, and one more.
pub(super) const PRIORITIES: u64 = 32_768;

/// A message queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct PosixQueue {
    /// The name; `None` after `mq_unlink`.
    pub(super) name: Option<Vec<u8>>,
    /// The messages by priority, the highest first, and in the order in which they were sent.
    pub(super) messages: VecDeque<(u32, Vec<u8>)>,
    pub(super) messages_max: usize,
    pub(super) bytes_max: usize,
    pub(super) notice: Option<Notice>,
}

/// The process that a message to an empty queue is announced to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Notice {
    pub(super) process: u32,
    /// The signal and its value; `None` if nothing is sent.
    pub(super) signal: Option<(u64, u64)>,
}

impl PosixQueue {
    pub(super) fn is_full(&self) -> bool {
        self.messages.len() >= self.messages_max
    }

    pub(super) fn put(&mut self, priority: u32, data: Vec<u8>) {
        let place = self.messages.partition_point(|(other, _)| *other >= priority);
        self.messages.insert(place, (priority, data));
    }
}

/// The queues of a lane by ID.
pub(super) type PosixQueues = BTreeMap<u32, PosixQueue>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_in_the_order_of_priorities_and_then_of_time() {
        let messages = VecDeque::new();
        let mut queue = PosixQueue { name: None, messages, messages_max: 4, bytes_max: 9, notice: None };
        for (priority, data) in [(1, b"a"), (5, b"b"), (1, b"c"), (5, b"d")] {
            assert!(!queue.is_full(), "there is room");
            queue.put(priority, data.to_vec());
        }
        let order: Vec<u8> = queue.messages.iter().map(|(_, data)| data[0]).collect();
        assert_eq!((&order[..], queue.is_full()), (&b"bdac"[..], true), "high priorities first");
    }
}
