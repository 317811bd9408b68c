//! Signals: their numbers, actions, and those that are pending.
//!
//! The only sources of signals are the lane's own calls, timers and faults. A thread gets a signal when a call or a fault of it is
//! served or when its turn begins, so the interrupted instruction is always the same.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::errno::{EAGAIN, Errno};

pub(super) const SIGHUP: u64 = 1;
pub(super) const SIGINT: u64 = 2;
pub(super) const SIGQUIT: u64 = 3;
pub(super) const SIGILL: u64 = 4;
pub(super) const SIGTRAP: u64 = 5;
pub(super) const SIGBUS: u64 = 7;
pub(super) const SIGSEGV: u64 = 11;
pub(super) const SIGKILL: u64 = 9;
pub(super) const SIGALRM: u64 = 14;
/// Raised by a write to a pipe whose read end is closed.
pub(super) const SIGPIPE: u64 = 13;
/// Raised when a process has used the processor for as long as it may.
pub(super) const SIGXCPU: u64 = 24;
/// Raised by a write behind the largest size that a file may have.
pub(super) const SIGXFSZ: u64 = 25;
/// Raised when the size of the terminal changes.
pub(super) const SIGWINCH: u64 = 28;
pub(super) const SIGIO: u64 = 29;
/// Raised when a child ends, stops or continues.
pub(super) const SIGCHLD: u64 = 17;
pub(super) const SIGCONT: u64 = 18;
pub(super) const SIGSTOP: u64 = 19;
/// Sent by a terminal: to stop its foreground, and to processes in the background that read or write.
pub(super) const SIGTSTP: u64 = 20;
pub(super) const SIGTTIN: u64 = 21;
pub(super) const SIGTTOU: u64 = 22;
/// The first real-time signal. These are queued each time they are sent; others are pending at most once.
const SIGRTMIN: u64 = 32;
/// The highest signal number.
pub(super) const SIGNAL_MAX: u64 = 64;
/// The number of pending signals from which on real-time signals are refused.
const PENDING_MAX: usize = 1024;

/// The signals that are ignored by default.
const IGNORED_BY_DEFAULT: u64 = bit(SIGCHLD) | bit(SIGCONT) | bit(23) | bit(SIGWINCH);
/// The signals that stop the process by default.
pub(super) const STOPPING: u64 = bit(SIGSTOP) | bit(SIGTSTP) | bit(SIGTTIN) | bit(SIGTTOU);
/// The signals that cannot be blocked or handled.
pub(super) const UNBLOCKABLE: u64 = bit(SIGKILL) | bit(SIGSTOP);

/// In place of a handler: the default action, and none.
pub(super) const SIG_DFL: u64 = 0;
pub(super) const SIG_IGN: u64 = 1;

/// A child that stops sends no SIGCHLD.
pub(super) const SA_NOCLDSTOP: u64 = 1;
/// A child that ends leaves no zombie.
pub(super) const SA_NOCLDWAIT: u64 = 2;
/// A call that the handler interrupts is made again.
pub(super) const SA_RESTART: u64 = 0x1000_0000;
pub(super) const SA_NODEFER: u64 = 0x4000_0000;
pub(super) const SA_RESETHAND: u64 = 0x8000_0000;

/// The flags of `stack_t`: the lane is running on the stack, the stack is disabled, a handler disables it at its start.
pub(super) const SS_ONSTACK: u64 = 1;
pub(super) const SS_DISABLE: u64 = 2;
pub(super) const SS_AUTODISARM: u64 = 1 << 31;

/// The information about a signal: `siginfo_t`.
pub(super) type SigInfo = [u8; 128];

/// The `si_code` of signals that timers of `timer_create` send.
pub(super) const SI_TIMER: i32 = -2;
/// The `si_code` of signals that the kernel sends.
pub(super) const SI_KERNEL: i32 = 0x80;

/// Returns the 32 bits at an offset of the information about a signal. The code is at 8.
pub(super) fn info_word(info: &SigInfo, at: usize) -> i32 {
    i32::from_le_bytes([info[at], info[at + 1], info[at + 2], info[at + 3]])
}

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

/// Returns the bit of a signal in a mask: bit 0 is signal 1.
pub(super) const fn bit(number: u64) -> u64 {
    1 << (number - 1)
}

/// What a process does about each signal.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Actions(BTreeMap<u64, Action>);

/// What happens when a signal is delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reaction {
    /// Nothing.
    Ignore,
    /// A handler runs.
    Handle,
    /// The process ends.
    End,
    /// The process stops until SIGCONT.
    Stop,
}

impl Actions {
    pub(super) fn get(&self, number: u64) -> Action {
        self.0.get(&number).copied().unwrap_or_default()
    }

    pub(super) fn set(&mut self, number: u64, action: Action) {
        self.0.insert(number, Action { mask: action.mask & !UNBLOCKABLE, ..action });
    }

    /// Returns to the default action for a signal.
    pub(super) fn remove(&mut self, number: u64) {
        self.0.remove(&number);
    }

    /// Returns to the default action for all signals that are handled, as `execve` does.
    pub(super) fn remove_handlers(&mut self) {
        self.0.retain(|_, action| action.handler == SIG_IGN);
    }

    /// Returns the masks of the signals that are ignored, and of those that are handled.
    pub(super) fn masks(&self) -> (u64, u64) {
        self.0.iter().fold((0, 0), |(ignored, handled), (number, action)| match action.handler {
            SIG_DFL => (ignored, handled),
            SIG_IGN => (ignored | bit(*number), handled),
            _ => (ignored, handled | bit(*number)),
        })
    }

    pub(super) fn reaction(&self, number: u64) -> Reaction {
        match self.get(number).handler {
            SIG_DFL if IGNORED_BY_DEFAULT & bit(number) != 0 => Reaction::Ignore,
            SIG_DFL if STOPPING & bit(number) != 0 => Reaction::Stop,
            SIG_DFL => Reaction::End,
            SIG_IGN => Reaction::Ignore,
            _ => Reaction::Handle,
        }
    }

    pub(super) fn is_ignored(&self, number: u64) -> bool {
        self.reaction(number) == Reaction::Ignore
    }
}

/// The signals that wait to be delivered to a thread, or to any thread of a process, in the order in which they were sent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Pending(#[serde(with = "pending")] Vec<(u64, SigInfo)>);

impl Pending {
    pub(super) const NONE: Self = Self(Vec::new());

    /// Returns the mask of pending signals.
    pub(super) fn mask(&self) -> u64 {
        self.0.iter().fold(0, |mask, (number, _)| mask | bit(*number))
    }

    /// Makes a signal, from 1 to [`SIGNAL_MAX`], pending.
    pub(super) fn add(&mut self, number: u64, info: SigInfo) -> Result<(), Errno> {
        if number < SIGRTMIN && self.mask() & bit(number) != 0 {
            return Ok(());
        }
        // Other signals are pending at most once each, so they need no limit.
        if number >= SIGRTMIN && self.0.len() >= PENDING_MAX {
            return Err(EAGAIN);
        }
        self.0.push((number, info));
        Ok(())
    }

    /// Returns the information about all pending signals.
    pub(super) fn infos(&self) -> impl Iterator<Item = &SigInfo> {
        self.0.iter().map(|(_, info)| info)
    }

    /// Returns the pending signal in `mask` with the lowest number.
    pub(super) fn first(&self, mask: u64) -> Option<&(u64, SigInfo)> {
        self.0.iter().filter(|(number, _)| mask & bit(*number) != 0).min_by_key(|(number, _)| *number)
    }

    /// Removes the signal that [`Pending::first`] returns.
    pub(super) fn take_first(&mut self, mask: u64) -> Option<(u64, SigInfo)> {
        let &(number, _) = self.first(mask)?;
        let index = self.0.iter().position(|(other, _)| *other == number)?;
        Some(self.0.remove(index))
    }

    /// Discards the signals in `mask`.
    pub(super) fn discard(&mut self, mask: u64) {
        self.0.retain(|(number, _)| mask & bit(*number) == 0);
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
