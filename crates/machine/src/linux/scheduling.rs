//! The scheduling of threads, as Linux shows it. Threads take turns as the machine says, whatever their policy.

use serde::{Deserialize, Serialize};

use super::errno::{EINVAL, Errno};

/// The policies: the usual one, for real time with and without a time slice, for batches, and for idle time.
const SCHED_OTHER: u32 = 0;
pub(super) const SCHED_FIFO: u32 = 1;
pub(super) const SCHED_RR: u32 = 2;
const SCHED_BATCH: u32 = 3;
const SCHED_IDLE: u32 = 5;
const SCHED_DEADLINE: u32 = 6;
/// Children get the usual policy.
const SCHED_RESET_ON_FORK: u32 = 1 << 30;

/// The policy, the priority and the nice value of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Scheduling {
    pub(super) policy: u32,
    /// The priority of a policy for real time, from 1 to 99; otherwise 0.
    pub(super) priority: u32,
    /// From -20 to 19.
    pub(super) nice: i32,
    /// Whether children get the usual policy.
    resets: bool,
}

/// Returns the smallest and the largest priority of a policy.
pub(super) const fn priorities(policy: u32) -> Result<[u32; 2], Errno> {
    match policy {
        SCHED_FIFO | SCHED_RR => Ok([1, 99]),
        SCHED_OTHER | SCHED_BATCH | SCHED_IDLE | SCHED_DEADLINE => Ok([0, 0]),
        _ => Err(EINVAL),
    }
}

impl Scheduling {
    /// The scheduling of the first thread.
    pub(super) const USUAL: Self = Self { policy: SCHED_OTHER, priority: 0, nice: 0, resets: false };

    /// Returns the scheduling with a policy, which may have the flag `SCHED_RESET_ON_FORK`, and a priority.
    pub(super) fn with_policy(self, policy: u32, priority: u32) -> Result<Self, Errno> {
        let (resets, policy) = (policy & SCHED_RESET_ON_FORK != 0, policy & !SCHED_RESET_ON_FORK);
        let [least, most] = priorities(policy)?;
        // Deadlines need more parameters than a priority.
        if policy == SCHED_DEADLINE || !(least..=most).contains(&priority) {
            return Err(EINVAL);
        }
        Ok(Self { policy, priority, resets, ..self })
    }

    /// Returns the policy and its flag, as `sched_getscheduler` does.
    pub(super) const fn policy_word(self) -> u32 {
        self.policy | if self.resets { SCHED_RESET_ON_FORK } else { 0 }
    }

    /// Returns the scheduling of a new thread.
    pub(super) fn of_child(self) -> Self {
        if !self.resets {
            return self;
        }
        let is_of_real_time = matches!(self.policy, SCHED_FIFO | SCHED_RR);
        Self {
            policy: if is_of_real_time { SCHED_OTHER } else { self.policy },
            priority: 0,
            nice: if is_of_real_time { 0 } else { self.nice.max(0) },
            resets: false,
        }
    }

    /// Returns the priority as `/proc` shows it.
    pub(super) const fn shown_priority(self) -> i32 {
        match self.priority {
            0 => 20 + self.nice,
            priority => -1 - priority as i32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_get_the_usual_policy_if_their_parent_says_so() {
        let usual = Scheduling { nice: -5, ..Scheduling::USUAL };
        let strict = usual.with_policy(SCHED_RR, 10).expect("a policy for real time");
        assert_eq!(strict.of_child(), strict, "inherited");
        let resetting = usual.with_policy(SCHED_RR | SCHED_RESET_ON_FORK, 10).expect("a flag");
        assert_eq!(resetting.policy_word(), SCHED_RR | SCHED_RESET_ON_FORK, "the flag is shown");
        assert_eq!(resetting.of_child(), Scheduling::USUAL, "reset");
        assert_eq!(usual.with_policy(SCHED_OTHER, 1), Err(EINVAL), "a priority without real time");
        assert_eq!(usual.with_policy(SCHED_DEADLINE, 0), Err(EINVAL), "a deadline");
        assert_eq!((usual.shown_priority(), strict.shown_priority()), (15, -11), "priorities in /proc");
    }
}
