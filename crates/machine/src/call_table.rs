//! The system calls that an executor may serve itself, described in terms that name no operating system.

use serde::{Deserialize, Serialize};

use crate::pages::ADDRESS_BITS;

/// The system calls that an executor may serve without the host, and the values it needs for that.
///
/// A call is `svc #0` with its number in X8, the arguments in X0 to X5, and the answer in X0. The executor leaves a
/// call to the host if it cannot finish it at once or if the call would fail. A call that it serves has the same effect
/// as on the host, and counts as a service in the report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallTable {
    /// The number of each call, and its answer.
    pub answers: Vec<(u64, Answer)>,
    /// The time of day before the first step, in nanoseconds since 1970; `None` if clocks do not count steps.
    pub epoch: Option<u64>,
    /// The seed of random numbers. They also depend on the number of the lane and on how many were used.
    pub seed: u64,
    /// The number of lane 0 of the executor in the random numbers: several executors may share the lanes of a machine, and several
    /// machines those of a larger one.
    pub first_lane: u64,
    /// The resource limits, by resource number.
    pub limits: [u64; 16],
}

/// The answer to a call: its value in X0 and its effects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    /// This value, always.
    Value(u64),
    /// The lane exits with the low 8 bits of X0, if [`ProcessState::more_threads`] is 0.
    Exit,
    /// [`ProcessState::process`].
    Process,
    /// [`ProcessState::thread`].
    Thread,
    /// [`ProcessState::parent`].
    Parent,
    /// [`ProcessState::thread`], after [`ProcessState::clear_tid`] is set to X0.
    ClearTid,
    /// 0, if [`ProcessState::more_threads`] is 0.
    Yield,
    /// 0, if X1 without its bits 7 and 8 is 1, X0 is a readable multiple of 4, and [`ProcessState::futex_waiters`] is 0.
    WakeFutex,
    /// [`ProcessState::heap_end`], after it is set to X0, if X0 is between the present end and [`ProcessState::heap_limit`], and
    /// [`ProcessState::limits_changed`] is 0. Pages that the heap gains are mapped with [`Mapping::Heap`](crate::Mapping::Heap). If X0
    /// is 0, the end stays.
    MoveHeapEnd,
    /// 0, after the time of clock X0 is written to address X1 as seconds and nanoseconds. Clocks 2 and 3 show the
    /// steps, if [`ProcessState::more_threads`] is 0. Clocks 1, 4, 6 and 7 add [`ProcessState::slept`]; clocks 0, 5 and 11 also add the epoch.
    Clock,
    /// X2, after X2 bytes at address X1 are written to descriptor X0, if that is console output, or writes to one of
    /// [`ProcessState::pipes`] that has room for them.
    Write,
    /// X2 or as many bytes as there are, after so many bytes are read from descriptor X0 to address X1, if that reads from one of
    /// [`ProcessState::pipes`] that is not empty.
    Read,
    /// 0, after [`ProcessState::robust_list`] is set to X0, if X1 is 24.
    RobustList,
    /// 0, after the limit of resource X1 is written to address X3 twice, as soft and hard limit, if X0 is 0 or
    /// [`ProcessState::process`], X2 is 0, X3 is not 0, and [`ProcessState::limits_changed`] is 0.
    Limit,
    /// 0, after [`ProcessState::name`] is written to address X1, if X0 is 16.
    Name,
    /// X1, after X1 random bytes are written to address X0, if X2 has only known flags. [`ProcessState::random`] grows
    /// by X1. Each eight bytes are a hash of seed, lane and position: the finalizer of `SplitMix64`, applied twice.
    Random,
}

/// The process state: what Linux knows of a lane and the calls of a [`CallTable`] read and change.
///
/// The executor holds it as part of the lane's state, so snapshot and reset include it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessState {
    /// The address at which the heap ends.
    pub heap_end: u64,
    /// The largest address at which the heap of the process may end.
    pub heap_limit: u64,
    /// The time the lane has slept, in nanoseconds.
    pub slept: u64,
    /// The address of the robust futex list.
    pub robust_list: u64,
    /// The number of random bytes that the lane has used.
    pub random: u64,
    /// The name of the process, which ends before the first NUL.
    pub name: [u8; 16],
    /// The address that is set to zero when the thread ends; 0 if there is none.
    pub clear_tid: u64,
    /// The ID of the process.
    pub process: u32,
    /// The ID of the thread.
    pub thread: u32,
    /// The ID of the parent of the process.
    pub parent: u32,
    /// The number of threads that the lane has had besides its first one. If there are any, only the host knows how the end of a
    /// thread, and the processor time, have to be dealt with.
    pub more_threads: u32,
    /// The number of threads that wait at a futex.
    pub futex_waiters: u32,
    /// 1 if the limits of the process are others than those of the table, otherwise 0. Only the host knows them, and how far they let
    /// the heap grow.
    pub limits_changed: u32,
    /// The pipes that the executor may read and write without the host.
    pub pipes: [PipeWindow; PIPE_WINDOWS],
}

/// The number of pipes of a lane that the executor may read and write without the host.
pub const PIPE_WINDOWS: usize = 2;
/// The number of bytes of a pipe window.
pub const PIPE_BYTES: usize = 65_536;
/// The number of descriptors that may be ends of pipe windows: 0 to one less than this.
pub const PIPE_HANDLES: u64 = 16;
/// The most bytes that a call moves through a pipe window.
pub const PIPE_CALL_BYTES: usize = 4096;
/// The address of the pipe windows, which lie one behind the other, for [`Executor::prefetch`](crate::Executor::prefetch). It is
/// behind all addresses of guests.
pub const PIPE_ADDRESS: u64 = 1 << ADDRESS_BITS;

/// A pipe window: a pipe that the executor may read and write without the host, between two services. The executor has its bytes, in
/// a ring of [`PIPE_BYTES`] bytes.
///
/// Nobody waits for the pipe, and nothing but its bytes depends on what the executor does. The window of a lane without such a pipe
/// has no descriptors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PipeWindow {
    /// The descriptors that read from the pipe, a bit each.
    pub readers: u16,
    /// The descriptors that write to the pipe, a bit each.
    pub writers: u16,
    /// The place of the first byte in the ring.
    pub start: u16,
    /// The number of bytes in the pipe.
    pub bytes: u32,
    /// The number of bytes that the executor has read since the host has offered the window.
    pub read: u32,
}
