//! The calls that an executor may serve by itself, without the host.

use std::ops::Range;

use super::process_calls::{PR_GET_NAME, PROCESS, RANDOM_FLAGS, ROBUST_LIST_BYTES, limits};
use super::table::{CALLS, Serve};
use super::time_calls::{CLOCKS, CLOCKS_OF_DAY, CLOCKS_OF_PROCESSOR, NANOSECONDS};
use super::{EPOCH, negative};

/// The numbers that shaders need, as they serve frequent calls themselves: name, value, meaning.
pub const SHADER_NUMBERS: &[(&str, u32, &str)] = &[
    ("PROCESS", PROCESS as u32, "The only process."),
    ("PR_GET_NAME", PR_GET_NAME as u32, "What `prctl` is asked for the name with."),
    ("RANDOM_FLAGS", RANDOM_FLAGS as u32, "What randomness may be asked for with."),
    ("ROBUST_LIST_BYTES", ROBUST_LIST_BYTES as u32, "What a list of robust locks has for a head, in bytes."),
    ("NANOSECONDS", NANOSECONDS as u32, "How many are a second."),
    ("CLOCKS", CLOCKS, "The clocks there are, a bit each."),
    ("CLOCKS_OF_DAY", CLOCKS_OF_DAY, "Those that show the time of day."),
    ("CLOCKS_OF_PROCESSOR", CLOCKS_OF_PROCESSOR, "Those that stand still while the lane sleeps."),
];

/// What an executor has to know to serve frequent calls of a machine's lanes by itself.
///
/// It leaves to the host whatever it cannot do at once, and everything that fails. What it does itself is what the host
/// would have done, and the call is counted as a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frequent {
    /// The addresses that the heap may end at, the last one included.
    pub heap: Range<u64>,
    /// The time of day before the first step, in nanoseconds; nothing if time is not counted in steps.
    pub epoch: Option<u64>,
    /// What randomness follows from, beside the number of the lane.
    pub seed: u64,
    /// The limits of resources, by number.
    pub limits: [u64; 16],
}

/// How a frequent call is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Always with this value.
    Value(u64),
    /// The lane ends with the low 8 bits of X0.
    Exit,
    /// With [`Kept::heap_end`](crate::Kept::heap_end), after it is moved to X0 if that is within the heap. Pages it moves
    /// over are mapped with [`Mapping::Heap`](crate::Mapping::Heap).
    Break,
    /// With 0, after the clock X0 is written to the address X1 as seconds and nanoseconds. Clocks 2 and 3 show the steps;
    /// 1, 4, 6 and 7 those and [`Kept::slept`](crate::Kept::slept); 0, 5 and 11 these and the epoch.
    Clock,
    /// With X2, after so many bytes at X1 are written to the descriptor X0, if that is the console's.
    Write,
    /// With 0, after X0 has become [`Kept::robust_list`](crate::Kept::robust_list), if X1 is 24.
    RobustList,
    /// With 0, after the limit of the resource X1 is written twice to the address X3, if X0 is 0 or 1, X2 is 0 and X3 is
    /// not.
    Limit,
    /// With 0, after [`Kept::name`](crate::Kept::name) is written to the address X1, if X0 is 16.
    Name,
    /// With X1, after so many bytes of randomness are written to the address X0, if X2 has only known flags.
    /// [`Kept::random`](crate::Kept::random) moves on by as many. Eight bytes are a hash of seed, lane and position:
    /// twice the finalizer of `SplitMix64`.
    Random,
}

impl Frequent {
    pub(crate) fn new(heap: Range<u64>, stack_bytes: u64, seed: u64, real_time: bool) -> Self {
        let limits = limits(&heap, stack_bytes);
        Self { heap, epoch: (!real_time).then_some(EPOCH), seed, limits }
    }

    /// The calls, by number, and how they are answered.
    pub fn answers(&self) -> impl Iterator<Item = (u64, Answer)> {
        CALLS.iter().filter_map(|call| {
            let answer = match (call.serve, call.name) {
                (Serve::Always(answer), _) => Answer::Value(answer.unwrap_or_else(negative)),
                (_, "exit" | "exit_group") => Answer::Exit,
                (_, "brk") => Answer::Break,
                (_, "clock_gettime") if self.epoch.is_some() => Answer::Clock,
                (_, "write") => Answer::Write,
                (_, "set_robust_list") => Answer::RobustList,
                (_, "prlimit64") => Answer::Limit,
                (_, "prctl") => Answer::Name,
                (_, "getrandom") => Answer::Random,
                _ => return None,
            };
            Some((call.number, answer))
        })
    }
}
