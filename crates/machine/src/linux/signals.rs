//! Signals: what a lane wants done with them, and those that wait.
//!
//! A lane gets signals from itself and for its faults; there is nobody else to send any. They arrive when the call or
//! fault that caused them is served, so where they do is exact.

use std::collections::BTreeMap;

use super::errno::EAGAIN;
use super::failure::Served;

pub(super) const SIGILL: u64 = 4;
pub(super) const SIGTRAP: u64 = 5;
pub(super) const SIGBUS: u64 = 7;
pub(super) const SIGSEGV: u64 = 11;
/// That of a writer whom nobody reads.
pub(super) const SIGPIPE: u64 = 13;
/// Signals from here on wait as often as they are sent, others once.
const SIGRTMIN: u64 = 32;
/// The highest number.
pub(super) const SIGNALS: u64 = 64;
/// How many signals may wait before those of real time are refused.
const WAITING_MAX: usize = 1024;

/// Signals that do nothing unless somebody wants them: those of children, of continuing and stopping, of urgent data,
/// of the window.
const IGNORED: u64 = 1 << 16 | 1 << 17 | 1 << 18 | 1 << 19 | 1 << 20 | 1 << 21 | 1 << 22 | 1 << 27;
/// Signals that nobody can block or handle: kill and stop.
pub(super) const UNSTOPPABLE: u64 = 1 << 8 | 1 << 18;

/// In place of a handler: what the signal does by itself, and nothing.
pub(super) const SIG_DFL: u64 = 0;
const SIG_IGN: u64 = 1;

pub(super) const SA_NODEFER: u64 = 0x4000_0000;
pub(super) const SA_RESETHAND: u64 = 0x8000_0000;

/// What the flags of a signal stack say: the lane is on it, there is none, it is forgotten when a handler begins.
pub(super) const SS_ONSTACK: u64 = 1;
pub(super) const SS_DISABLE: u64 = 2;
pub(super) const SS_AUTODISARM: u64 = 1 << 31;

/// What is told of a signal: `siginfo_t`.
pub(super) type Info = [u8; 128];

/// What is told of signal `number`: its code, and 64 bits behind it.
pub(super) fn info(number: u64, code: i32, value: u64) -> Info {
    let mut info = [0; 128];
    info[..4].copy_from_slice(&(number as u32).to_le_bytes());
    info[8..12].copy_from_slice(&code.to_le_bytes());
    info[16..24].copy_from_slice(&value.to_le_bytes());
    info
}

/// What the lane wants done with a signal, as the kernel's `struct sigaction`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Action {
    pub(super) handler: u64,
    pub(super) flags: u64,
    pub(super) restorer: u64,
    /// What is blocked meanwhile.
    pub(super) mask: u64,
}

/// The stack handlers may ask for, as `stack_t`.
#[derive(Clone, Copy, Debug)]
pub(super) struct SignalStack {
    pub(super) start: u64,
    pub(super) flags: u64,
    pub(super) bytes: u64,
}

impl SignalStack {
    pub(super) const NONE: Self = Self { start: 0, flags: SS_DISABLE, bytes: 0 };

    /// Whether a lane with this stack pointer is on it.
    pub(super) const fn is_at(&self, sp: u64) -> bool {
        self.flags & SS_AUTODISARM == 0 && sp > self.start && sp - self.start <= self.bytes
    }

    pub(super) const fn is_enabled(&self) -> bool {
        self.bytes > 0
    }
}

/// The last fault of a lane, which every frame tells.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LastFault {
    pub(super) address: u64,
    /// The syndrome, as the processor gives it to the kernel; 0 if there is none.
    pub(super) syndrome: u64,
}

/// The signals of a lane. Bit 0 of a mask is signal 1.
#[derive(Clone, Debug)]
pub(super) struct Signals {
    pub(super) actions: BTreeMap<u64, Action>,
    pub(super) blocked: u64,
    /// What is to be blocked again once a signal has arrived, instead of what `blocked` says.
    pub(super) blocked_later: Option<u64>,
    /// In the order they were sent.
    pub(super) waiting: Vec<(u64, Info)>,
    pub(super) stack: SignalStack,
    pub(super) fault: LastFault,
}

pub(super) const fn bit(number: u64) -> u64 {
    1 << (number - 1)
}

impl Signals {
    pub(super) const fn new() -> Self {
        Self {
            actions: BTreeMap::new(),
            blocked: 0,
            blocked_later: None,
            waiting: Vec::new(),
            stack: SignalStack::NONE,
            fault: LastFault { address: 0, syndrome: 0 },
        }
    }

    pub(super) fn action(&self, number: u64) -> Action {
        self.actions.get(&number).copied().unwrap_or_default()
    }

    pub(super) const fn is_blocked(&self, number: u64) -> bool {
        self.blocked & bit(number) & !UNSTOPPABLE != 0
    }

    pub(super) fn is_handled(&self, number: u64) -> bool {
        self.action(number).handler > SIG_IGN
    }

    pub(super) fn is_ignored(&self, number: u64) -> bool {
        match self.action(number).handler {
            SIG_DFL => IGNORED & bit(number) != 0,
            handler => handler == SIG_IGN,
        }
    }

    /// Replaces what is done with a signal. What is ignored does not wait any more.
    pub(super) fn set_action(&mut self, number: u64, action: Action) {
        self.actions.insert(number, Action { mask: action.mask & !UNSTOPPABLE, ..action });
        if self.is_ignored(number) {
            self.waiting.retain(|(waiting, _)| *waiting != number);
        }
    }

    /// Those that wait, as a mask.
    pub(super) fn waiting_mask(&self) -> u64 {
        self.waiting.iter().fold(0, |mask, (number, _)| mask | bit(*number))
    }

    /// Sends a signal, from 1 to [`SIGNALS`], which arrives when the call is done, or later if it is blocked.
    pub(super) fn send(&mut self, number: u64, info: Info) -> Served {
        let is_there = number < SIGRTMIN && self.waiting_mask() & bit(number) != 0;
        if is_there || self.is_ignored(number) && !self.is_blocked(number) {
            return Ok(0);
        }
        // The others have room anyway, as each waits once.
        if number >= SIGRTMIN && self.waiting.len() >= WAITING_MAX {
            return Err(EAGAIN.into());
        }
        self.waiting.push((number, info));
        Ok(0)
    }

    /// Takes the signal that comes next out of those that wait and are in a mask.
    pub(super) fn take(&mut self, mask: u64) -> Option<(u64, Info)> {
        let next = self.waiting.iter().enumerate().filter(|(_, (number, _))| mask & bit(*number) != 0);
        let (index, _) = next.min_by_key(|(_, (number, _))| *number)?;
        Some(self.waiting.remove(index))
    }

    /// Whether a signal waits that would do anything if it were not for what is blocked.
    pub(super) fn can_wake(&self) -> bool {
        self.waiting.iter().any(|(number, _)| !self.is_blocked(*number) && !self.is_ignored(*number))
    }
}
