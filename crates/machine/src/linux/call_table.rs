//! The system calls whose answers an executor can work out without the host.

use std::ops::Range;

use super::failure::negative;
use super::process_calls::{PR_GET_NAME, PROCESS, RANDOM_FLAGS, ROBUST_LIST_BYTES, limits};
use super::settings::EPOCH;
use super::table::{CALLS, Serve};
use super::time_calls::{CLOCKS, CLOCKS_OF_DAY, CLOCKS_OF_PROCESSOR, NANOSECONDS};
use crate::call_table::{Answer, CallTable};

/// The numbers that shaders need, as they serve calls of the table themselves: name, value, meaning.
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

/// The system calls that an executor may serve by itself, for lanes with this heap and stack. With real time it leaves
/// clocks to the host.
#[must_use]
pub fn call_table(heap: Range<u64>, stack_bytes: u64, seed: u64, real_time: bool) -> CallTable {
    let answers = CALLS.iter().filter_map(|call| {
        let answer = match (call.serve, call.name) {
            (Serve::Always(answer), _) => Answer::Value(answer.unwrap_or_else(negative)),
            (_, "exit" | "exit_group") => Answer::Exit,
            (_, "brk") => Answer::MoveHeapEnd,
            (_, "clock_gettime") if !real_time => Answer::Clock,
            (_, "write") => Answer::Write,
            (_, "set_robust_list") => Answer::RobustList,
            (_, "prlimit64") => Answer::Limit,
            (_, "prctl") => Answer::Name,
            (_, "getrandom") => Answer::Random,
            _ => return None,
        };
        Some((call.number, answer))
    });
    CallTable {
        answers: answers.collect(),
        limits: limits(&heap, stack_bytes),
        heap,
        epoch: (!real_time).then_some(EPOCH),
        seed,
    }
}
