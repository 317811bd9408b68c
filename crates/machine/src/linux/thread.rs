//! Threads: what Linux keeps for each of them.

use kvrm_arm64::Cpu;
use serde::{Deserialize, Serialize};

use super::scheduling::Scheduling;
use super::signals::{LastFault, Pending, SignalStack, UNBLOCKABLE, bit};
use super::wait::{Wait, Woken};

/// A thread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Thread {
    /// The ID of its process.
    pub(super) process: u32,
    /// Its registers and settings while another thread has the lane; `None` while it has the lane itself.
    pub(super) parked: Option<Box<Parked>>,
    /// What it waits for. Its registers are then those after the system call, whose arguments they still hold.
    pub(super) wait: Option<Wait>,
    /// Set while a call is unfinished and the thread no longer waits: why it was woken, and the end of its waiting time.
    pub(super) woken: Option<(Woken, Option<u64>)>,
    /// The bytes that an unfinished write to a pipe has written.
    pub(super) written: usize,
    /// The open file description that an unfinished call has made.
    pub(super) held: Option<u32>,
    /// The signal mask: the signals that are blocked now.
    pub(super) blocked: u64,
    /// The mask to restore after the delivery of a signal, set by `rt_sigsuspend`.
    pub(super) saved_mask: Option<u64>,
    /// The pending signals of this thread only.
    pub(super) pending: Pending,
    pub(super) stack: SignalStack,
    pub(super) fault: LastFault,
    pub(super) scheduling: Scheduling,
    /// The uptime at its birth, in nanoseconds.
    pub(super) started: u64,
    /// The steps that it has retired in earlier turns.
    pub(super) retired: u64,
    /// The steps of the lane when its current turn began.
    pub(super) turn_start: u64,
}

/// The registers of a thread that does not have the lane, and what the executor keeps for the thread that has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Parked {
    #[serde(with = "crate::arm64_forms::cpu")]
    pub(super) cpu: Cpu,
    pub(super) robust_list: u64,
    pub(super) clear_tid: u64,
    pub(super) name: [u8; 16],
}

impl Thread {
    /// Returns whether the thread takes a signal, because it does not block it or the signal cannot be blocked.
    pub(super) const fn takes(&self, number: u64) -> bool {
        (!self.blocked | UNBLOCKABLE) & bit(number) != 0
    }

    /// Returns the steps that the thread has retired when the lane has retired `steps`, if it has the lane.
    pub(super) const fn retired_at(&self, steps: u64) -> u64 {
        // A call that is undone in the turn after it was made takes back a step of that turn.
        self.retired.wrapping_add(steps.wrapping_sub(self.turn_start))
    }

    /// Creates a thread that has the lane.
    pub(super) const fn new(process: u32) -> Self {
        Self {
            process,
            parked: None,
            wait: None,
            woken: None,
            written: 0,
            held: None,
            blocked: 0,
            saved_mask: None,
            pending: Pending::NONE,
            stack: SignalStack::NONE,
            fault: LastFault { address: 0, syndrome: 0 },
            scheduling: Scheduling::USUAL,
            started: 0,
            retired: 0,
            turn_start: 0,
        }
    }
}
