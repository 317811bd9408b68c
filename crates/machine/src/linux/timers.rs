//! The timers of processes, which send signals.

use serde::{Deserialize, Serialize};

use super::open_files::Expiry;

/// A timer of a process.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Timer {
    pub(super) clock: TimerClock,
    pub(super) times: Expiry,
    pub(super) target: Target,
    /// The number of expirations while the last signal that a thread took was pending.
    pub(super) overrun: u64,
    /// The number of expirations since the pending signal was sent.
    pub(super) missed: u64,
}

/// The clock of a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum TimerClock {
    /// The uptime of the lane. The number is that of the clock of Linux.
    Uptime(u64),
    /// The steps of the process.
    Processor,
}

/// What a timer does when it expires.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Target {
    Nothing,
    /// Sends a signal to the process, without a value.
    Interval {
        signal: u64,
    },
    /// Sends a signal with a value, to the process or to a thread.
    Signal {
        signal: u64,
        value: u64,
        thread: Option<u32>,
    },
}

impl Target {
    pub(super) const fn signal(self) -> Option<u64> {
        match self {
            Self::Nothing => None,
            Self::Interval { signal } | Self::Signal { signal, .. } => Some(signal),
        }
    }
}
