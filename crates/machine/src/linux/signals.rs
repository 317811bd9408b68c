//! The signals of a lane: actions, masks, and pending signals.
//!
//! The only sources of signals are the lane's own calls and its faults. A signal is delivered when the call or fault
//! that caused it is served, so the interrupted instruction is always the same.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::errno::EAGAIN;
use super::failure::CallResult;

pub(super) const SIGILL: u64 = 4;
pub(super) const SIGTRAP: u64 = 5;
pub(super) const SIGBUS: u64 = 7;
pub(super) const SIGSEGV: u64 = 11;
/// Raised by a write to a pipe whose read end is closed.
pub(super) const SIGPIPE: u64 = 13;
/// The first real-time signal. These are queued each time they are sent; others are pending at most once.
const SIGRTMIN: u64 = 32;
/// The highest signal number.
pub(super) const SIGNAL_MAX: u64 = 64;
/// The number of pending signals from which on real-time signals are refused.
const PENDING_MAX: usize = 1024;

/// The signals that are ignored by default: SIGCHLD, SIGCONT, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, SIGURG, SIGWINCH.
///
/// On Linux, four of these stop the process; here they do nothing.
const IGNORED_BY_DEFAULT: u64 = 1 << 16 | 1 << 17 | 1 << 18 | 1 << 19 | 1 << 20 | 1 << 21 | 1 << 22 | 1 << 27;
/// The signals that cannot be blocked or handled: SIGKILL and SIGSTOP.
pub(super) const UNBLOCKABLE: u64 = 1 << 8 | 1 << 18;

/// In place of a handler: the default action, and none.
pub(super) const SIG_DFL: u64 = 0;
const SIG_IGN: u64 = 1;

pub(super) const SA_NODEFER: u64 = 0x4000_0000;
pub(super) const SA_RESETHAND: u64 = 0x8000_0000;

/// The flags of `stack_t`: the lane is running on the stack, the stack is disabled, a handler disables it at its start.
pub(super) const SS_ONSTACK: u64 = 1;
pub(super) const SS_DISABLE: u64 = 2;
pub(super) const SS_AUTODISARM: u64 = 1 << 31;

/// The information about a signal: `siginfo_t`.
pub(super) type SigInfo = [u8; 128];

/// Returns the information about signal `number`. `value` is the first field after the header: an address, or a sender.
pub(super) fn siginfo(number: u64, code: i32, value: u64) -> SigInfo {
    let mut info = [0; 128];
    info[..4].copy_from_slice(&(number as u32).to_le_bytes());
    info[8..12].copy_from_slice(&code.to_le_bytes());
    info[16..24].copy_from_slice(&value.to_le_bytes());
    info
}

/// The action for a signal, as in Linux's `struct sigaction`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Action {
    pub(super) handler: u64,
    pub(super) flags: u64,
    pub(super) restorer: u64,
    /// The signals that are blocked while the handler runs.
    pub(super) mask: u64,
}

/// The alternate signal stack, as in `stack_t`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct SignalStack {
    pub(super) start: u64,
    pub(super) flags: u64,
    pub(super) bytes: u64,
}

impl SignalStack {
    pub(super) const NONE: Self = Self { start: 0, flags: SS_DISABLE, bytes: 0 };

    /// Returns whether a lane with this stack pointer is running on the stack.
    pub(super) const fn contains(&self, sp: u64) -> bool {
        self.flags & SS_AUTODISARM == 0 && sp > self.start && sp - self.start <= self.bytes
    }

    /// Returns whether there is an alternate stack.
    pub(super) const fn is_enabled(&self) -> bool {
        self.bytes > 0
    }
}

/// The last fault of a lane, which appears in every signal frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct LastFault {
    pub(super) address: u64,
    /// The exception syndrome, as the processor reports it to Linux in `ESR_EL1`; 0 if there is none.
    pub(super) syndrome: u64,
}

/// The signals of a lane. Bit 0 of a mask is signal 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Signals {
    pub(super) actions: BTreeMap<u64, Action>,
    /// The signal mask: the signals that are blocked now.
    pub(super) blocked: u64,
    /// The mask to restore after the delivery of a signal, set by `rt_sigsuspend`.
    pub(super) saved_mask: Option<u64>,
    /// The pending signals in the order in which they were sent.
    #[serde(with = "pending")]
    pub(super) pending: Vec<(u64, SigInfo)>,
    pub(super) stack: SignalStack,
    pub(super) fault: LastFault,
}

/// Returns the bit of a signal in a mask.
pub(super) const fn bit(number: u64) -> u64 {
    1 << (number - 1)
}

impl Signals {
    pub(super) const fn new() -> Self {
        Self {
            actions: BTreeMap::new(),
            blocked: 0,
            saved_mask: None,
            pending: Vec::new(),
            stack: SignalStack::NONE,
            fault: LastFault { address: 0, syndrome: 0 },
        }
    }

    pub(super) fn action(&self, number: u64) -> Action {
        self.actions.get(&number).copied().unwrap_or_default()
    }

    pub(super) const fn is_blocked(&self, number: u64) -> bool {
        self.blocked & bit(number) & !UNBLOCKABLE != 0
    }

    pub(super) fn is_handled(&self, number: u64) -> bool {
        self.action(number).handler > SIG_IGN
    }

    pub(super) fn is_ignored(&self, number: u64) -> bool {
        match self.action(number).handler {
            SIG_DFL => IGNORED_BY_DEFAULT & bit(number) != 0,
            handler => handler == SIG_IGN,
        }
    }

    /// Replaces the action for a signal, and discards pending signals that are ignored from now on.
    pub(super) fn set_action(&mut self, number: u64, action: Action) {
        self.actions.insert(number, Action { mask: action.mask & !UNBLOCKABLE, ..action });
        if self.is_ignored(number) {
            self.pending.retain(|(pending, _)| *pending != number);
        }
    }

    /// Returns the mask of pending signals.
    pub(super) fn pending_mask(&self) -> u64 {
        self.pending.iter().fold(0, |mask, (number, _)| mask | bit(*number))
    }

    /// Makes a signal, from 1 to [`SIGNAL_MAX`], pending. It is delivered at the end of the call, or when unblocked.
    pub(super) fn send(&mut self, number: u64, info: SigInfo) -> CallResult {
        let is_there = number < SIGRTMIN && self.pending_mask() & bit(number) != 0;
        if is_there || self.is_ignored(number) && !self.is_blocked(number) {
            return Ok(0);
        }
        // Other signals are pending at most once each, so they need no limit.
        if number >= SIGRTMIN && self.pending.len() >= PENDING_MAX {
            return Err(EAGAIN.into());
        }
        self.pending.push((number, info));
        Ok(0)
    }

    /// Removes and returns the pending signal in `mask` with the lowest number.
    pub(super) fn dequeue(&mut self, mask: u64) -> Option<(u64, SigInfo)> {
        let next = self.pending.iter().enumerate().filter(|(_, (number, _))| mask & bit(*number) != 0);
        let (index, _) = next.min_by_key(|(_, (number, _))| *number)?;
        Some(self.pending.remove(index))
    }

    /// Returns whether a pending signal is neither blocked nor ignored.
    pub(super) fn has_deliverable(&self) -> bool {
        self.pending.iter().any(|(number, _)| !self.is_blocked(*number) && !self.is_ignored(*number))
    }
}

/// The form of pending signals in a saved machine: serde knows no arrays of 128 bytes.
mod pending {
    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serializer};

    use super::SigInfo;

    pub(super) fn serialize<S: Serializer>(
        pending: &[(u64, SigInfo)],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(pending.iter().map(|(number, info)| (number, &info[..])))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<(u64, SigInfo)>, D::Error> {
        let pending = Vec::<(u64, Vec<u8>)>::deserialize(deserializer)?.into_iter();
        let sized = |(number, info): (u64, Vec<u8>)| Some((number, info.try_into().ok()?));
        pending.map(sized).collect::<Option<_>>().ok_or_else(|| D::Error::custom("a siginfo has 128 bytes"))
    }
}
