//! Calls that an executor may serve by itself, described without the system that defines them.

use std::ops::Range;

/// The calls that an executor may serve by itself, and what it needs to know for that.
///
/// The call is `svc #0` with its number in X8, the arguments in X0 to X5, and the answer in X0. An executor leaves to
/// the host whatever it cannot do at once, and everything that fails. What it does itself is what the host would have
/// done, and the call is counted as a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallTable {
    /// The calls by number, and how they are answered.
    pub answers: Vec<(u64, Answer)>,
    /// The addresses that the heap may end at, the last one included.
    pub heap: Range<u64>,
    /// The time of day before the first step, in nanoseconds; nothing if time is not counted in steps.
    pub epoch: Option<u64>,
    /// What randomness follows from, beside the number of the lane.
    pub seed: u64,
    /// The limits of resources, by number.
    pub limits: [u64; 16],
}

/// How a call is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Always with this value.
    Value(u64),
    /// The lane ends with the low 8 bits of X0.
    Exit,
    /// With [`ProcessState::heap_end`], after it is moved to X0 if that is within the heap. Pages it moves over are
    /// mapped with [`Mapping::Heap`](crate::Mapping::Heap).
    MoveHeapEnd,
    /// With 0, after the clock X0 is written to the address X1 as seconds and nanoseconds. Clocks 2 and 3 show the steps;
    /// 1, 4, 6 and 7 those and [`ProcessState::slept`]; 0, 5 and 11 these and the epoch.
    Clock,
    /// With X2, after so many bytes at X1 are written to the descriptor X0, if that is the console's.
    Write,
    /// With 0, after X0 has become [`ProcessState::robust_list`], if X1 is 24.
    RobustList,
    /// With 0, after the limit of the resource X1 is written twice to the address X3, if X0 is 0 or 1, X2 is 0 and X3 is
    /// not.
    Limit,
    /// With 0, after [`ProcessState::name`] is written to the address X1, if X0 is 16.
    Name,
    /// With X1, after so many bytes of randomness are written to the address X0, if X2 has only known flags.
    /// [`ProcessState::random`] moves on by as many. Eight bytes are a hash of seed, lane and position: twice the
    /// finalizer of `SplitMix64`.
    Random,
}

/// What the calls of a [`CallTable`] read and change of a lane, beside registers and memory.
///
/// The executor has it, as part of the lane's state: snapshot and reset keep it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessState {
    /// Where the heap ends.
    pub heap_end: u64,
    /// How long the lane has slept, in nanoseconds.
    pub slept: u64,
    /// Where its list of robust locks is.
    pub robust_list: u64,
    /// How many bytes of randomness it has used.
    pub random: u64,
    /// Its name, which ends before the first zero.
    pub name: [u8; 16],
}
