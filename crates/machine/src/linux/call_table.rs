//! The table of system calls that an executor can serve without the host.

use super::failure::negative;
use super::futex_calls::{FUTEX_COMMAND, FUTEX_WAKE};
use super::limits::{Limits, RESOURCES};
use super::process_calls::{PR_GET_NAME, RANDOM_FLAGS, ROBUST_LIST_BYTES};
use super::settings::EPOCH;
use super::table::{CALLS, Implementation, Status};
use super::time_calls::{CLOCKS, CLOCKS_OF_DAY, CLOCKS_OF_PROCESSOR, NANOSECONDS};
use crate::call_table::{Answer, CallTable};

/// Constants for the shaders, which serve the calls of this table themselves: name, value and meaning of each.
pub const SHADER_NUMBERS: &[(&str, u32, &str)] = &[
    ("FUTEX_COMMAND", FUTEX_COMMAND as u32, "The part of the operation of `futex` that names it."),
    ("FUTEX_WAKE", FUTEX_WAKE as u32, "The operation of `futex` that wakes threads."),
    ("PR_GET_NAME", PR_GET_NAME as u32, "The operation of `prctl` that returns the name of the process."),
    ("RANDOM_FLAGS", RANDOM_FLAGS as u32, "The flags that `getrandom` accepts."),
    ("ROBUST_LIST_BYTES", ROBUST_LIST_BYTES as u32, "The size of the head of a robust futex list, in bytes."),
    ("NANOSECONDS", NANOSECONDS as u32, "The nanoseconds of a second."),
    ("CLOCKS", CLOCKS, "The clocks that exist, one bit for each clock ID."),
    ("CLOCKS_OF_DAY", CLOCKS_OF_DAY, "The clocks that show the time of day."),
    (
        "CLOCKS_OF_PROCESSOR",
        CLOCKS_OF_PROCESSOR,
        "The clocks that count processor time, so they stand still while the lane sleeps.",
    ),
];

/// Returns the table of system calls that an executor may serve without the host.
///
/// `stack_bytes` is the size of the stack, which is a resource limit.
/// With `real_time`, the table leaves the clocks to the host.
#[must_use]
pub fn call_table(stack_bytes: u64, seed: u64, real_time: bool) -> CallTable {
    // The report counts refused calls, so the host has to see them.
    let answers = CALLS.iter().filter(|call| call.status != Status::Refused).filter_map(|call| {
        let answer = match (call.implementation, call.name) {
            (Implementation::Constant(answer), _) => Answer::Value(answer.unwrap_or_else(negative)),
            (_, "exit" | "exit_group") => Answer::Exit,
            (_, "getpid") => Answer::Process,
            (_, "gettid") => Answer::Thread,
            (_, "getppid") => Answer::Parent,
            (_, "set_tid_address") => Answer::ClearTid,
            (_, "futex") => Answer::WakeFutex,
            (_, "sched_yield") => Answer::Yield,
            (_, "brk") => Answer::MoveHeapEnd,
            (_, "clock_gettime") if !real_time => Answer::Clock,
            (_, "write") => Answer::Write,
            (_, "read") => Answer::Read,
            (_, "set_robust_list") => Answer::RobustList,
            (_, "prlimit64") => Answer::Limit,
            (_, "prctl") => Answer::Name,
            (_, "getrandom") => Answer::Random,
            _ => return None,
        };
        Some((call.number, answer))
    });
    let mut limits = [0; RESOURCES];
    limits.iter_mut().zip(Limits::new(stack_bytes).iter()).for_each(|(place, limit)| *place = limit.soft);
    CallTable {
        answers: answers.collect(),
        limits,
        epoch: (!real_time).then_some(EPOCH),
        seed,
        first_lane: 0,
    }
}
