//! What a thread waits for.

use serde::{Deserialize, Serialize};

use super::files::InodeNumber;
use super::locks::Lock;

/// A thread's wait.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Wait {
    pub(super) event: Event,
    /// The end of the wait, as uptime of the lane in nanoseconds; `None` if it waits without a limit.
    pub(super) deadline: Option<u64>,
    /// The value of the call, if it is done except for the wait. Otherwise the call is served again after the wait.
    pub(super) value: Option<u64>,
}

/// An event that threads wait for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Event {
    /// None, except a signal or the end of the time.
    Signal,
    /// A signal of this mask, although the thread blocks it.
    BlockedSignal(u64),
    /// A call of futex that wakes waiters of this futex, with one of these bits.
    Futex { key: FutexKey, bits: u32 },
    /// One of these open file descriptions is ready for one of its poll events.
    Ready(Vec<(u32, u16)>),
    /// The slave that a description refers to can read a line, or so many bytes if there are no lines, or is hung up.
    Input { description: u32, terminal: u32, bytes: usize },
    /// This socket has room for another message or connection, or is closed.
    Room(u32),
    /// An end of a named pipe, 0 for the reading one, was opened more often than this.
    Opened { pipe: u32, end: usize, before: u64 },
    /// No lock of the file excludes this one.
    Lock { number: InodeNumber, wanted: Lock },
    /// This set of semaphores of System V changes or is removed. The rest says for which semaphore, and whether for its value 0.
    Semaphore { set: u32, number: u16, is_zero: bool, seen: u64 },
    /// This message queue of System V changes or is removed.
    Queue { queue: u32, seen: u64 },
    /// One of these children of the process ends, or stops or continues if the call has asked for that.
    Child(Children),
    /// The child that has borrowed the address space ends or executes a program.
    Vfork { child: u32 },
}

/// What tells futexes apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FutexKey {
    /// Whether it is in memory that address spaces share. `home` is then the ID of the shared object, and otherwise that of the space.
    pub(super) is_shared: bool,
    pub(super) home: u32,
    /// The address in the object or in the space.
    pub(super) address: u64,
}

/// Why a thread no longer waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Woken {
    /// The event has happened.
    Event,
    /// The time is over.
    Time,
    /// A signal has to be delivered.
    Signal,
}

/// The children that a process waits for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Children {
    pub(super) which: Which,
    /// Whether those that have ended, stopped or continued count.
    pub(super) ended: bool,
    pub(super) stopped: bool,
    pub(super) continued: bool,
}

/// Which children a process waits for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Which {
    Any,
    Process(u32),
    Group(u32),
}
