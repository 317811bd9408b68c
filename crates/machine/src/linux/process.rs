//! Processes: what Linux keeps for each of them, shared by its threads.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::descriptors::Descriptors;
use super::errno::Errno;
use super::files::InodeNumber;
use super::limits::{Limits, Resource};
use super::signals::{Actions, Pending};
use super::timers::Timer;

/// The flag of the execution domain with which memory that can be read can also be executed.
pub(super) const READ_IMPLIES_EXEC: u32 = 0x40_0000;

/// Returns the name of a process that executes a file: the end of the path, up to 15 bytes.
pub(super) fn command_name(path: &[u8]) -> [u8; 16] {
    let file = path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    let mut name = [0; 16];
    name.iter_mut().zip(file.iter().take(15)).for_each(|(to, from)| *to = *from);
    name
}

/// A process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Process {
    /// The ID of the parent.
    pub(super) parent: u32,
    /// The IDs of process group and session.
    pub(super) group: u32,
    pub(super) session: u32,
    /// The ID of the address space.
    pub(super) space: u32,
    pub(super) descriptors: Descriptors,
    /// The current directory.
    pub(super) directory: InodeNumber,
    /// The root directory, where absolute paths start.
    pub(super) root: InodeNumber,
    /// The largest number of pages that it was seen to have.
    pub(super) pages_max: u64,
    pub(super) umask: u32,
    /// The execution domain. Of its flags, only [`READ_IMPLIES_EXEC`] has an effect.
    pub(super) personality: u32,
    pub(super) actions: Actions,
    /// The pending signals that any of its threads may take.
    pub(super) pending: Pending,
    pub(super) state: State,
    /// The timers by number. Those of `setitimer` have negative numbers.
    pub(super) timers: BTreeMap<i32, Timer>,
    /// Whether it has executed a program since it was made.
    pub(super) has_executed: bool,
    /// The signal that its parent gets when it ends; 0 for none.
    pub(super) exit_signal: u64,
    /// The uptime at its birth, in nanoseconds.
    pub(super) started: u64,
    /// The name of its first thread when it ended.
    pub(super) name: [u8; 16],
    /// The steps that its ended threads, and its children that were waited for, have retired.
    pub(super) retired: u64,
    pub(super) children_retired: u64,
    pub(super) limits: Limits,
    /// The number of the terminal of its session.
    pub(super) terminal: Option<u32>,
    /// The process group that was in the foreground of the terminal when that was hung up, if it leads a session; otherwise 0.
    pub(super) hung_group: u32,
}

/// The state of a process, as its parent sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum State {
    Running,
    /// Stopped by this signal.
    Stopped {
        signal: u64,
        is_reported: bool,
    },
    /// Running again, which its parent may still ask for.
    Continued,
    /// Ended, and not yet waited for.
    Zombie(Status),
}

/// How a process has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Status {
    Exited(u8),
    Killed { signal: u8, core: bool },
}

impl Status {
    /// Returns the status of a process that signal `number` kills.
    pub(super) const fn killed_by(number: u64) -> Self {
        /// The signals that write a core file: SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGXCPU, SIGXFSZ, SIGSYS.
        const DUMPING: u64 =
            1 << 2 | 1 << 3 | 1 << 4 | 1 << 5 | 1 << 6 | 1 << 7 | 1 << 10 | 3 << 23 | 1 << 30;
        Self::Killed { signal: number as u8, core: DUMPING >> (number - 1) & 1 == 1 }
    }

    /// Returns the status as `wait4` reports it.
    pub(super) const fn word(self) -> u32 {
        match self {
            Self::Exited(code) => (code as u32) << 8,
            Self::Killed { signal, core } => signal as u32 | if core { 0x80 } else { 0 },
        }
    }

    /// Returns the exit status as shells report it: 128 plus the number of the signal that ended the process.
    pub(super) const fn code(self) -> i32 {
        match self {
            Self::Exited(code) => code as i32,
            Self::Killed { signal, .. } => 128 + signal as i32,
        }
    }
}

impl Process {
    /// Returns whether it has ended.
    pub(super) const fn has_ended(&self) -> bool {
        matches!(self.state, State::Zombie(_))
    }

    /// Returns the lowest unused descriptor that is at least `from`.
    pub(super) fn lowest_free(&self, from: u64) -> Result<u64, Errno> {
        self.descriptors.lowest_free(from, self.limits.soft(Resource::OpenFiles))
    }

    /// Returns whether its threads may take turns.
    pub(super) const fn is_running(&self) -> bool {
        matches!(self.state, State::Running | State::Continued)
    }
}
