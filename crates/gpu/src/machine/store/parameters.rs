//! The parameters of kernels.

use std::mem::offset_of;

use bytemuck::Zeroable as _;
use kvrm_arm64::{Feature, Features};
use kvrm_machine::{Answer, CallTable};
use kvrm_shaders::interface::machine::Parameters;
use kvrm_shaders::layout::{
    CALL_ANSWER, CALL_BREAK, CALL_CLOCK, CALL_EXIT, CALL_HOST, CALL_LIMIT, CALL_NAME, CALL_RANDOM,
    CALL_ROBUST_LIST, CALL_VALUE, CALL_WRITE, CALLS,
};

use crate::device::buffer::Buffer;
use crate::device::error::Error;

/// What differs from one dispatch to the next.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Launch {
    /// The most steps a lane takes.
    pub(crate) steps: u32,
    /// The most loop iterations of an invocation.
    pub(crate) fuel: u32,
    /// How many steps an iteration of other loops costs, in units of 1/256.
    pub(crate) work_steps: u32,
    /// How many invocations share the loop iterations that the driver allows.
    pub(crate) sharers: u32,
    /// How many pages the heap may grow by in one call that the shader serves.
    pub(crate) break_pages: u32,
    /// Jobs of kernels that work on a list.
    pub(crate) jobs: u32,
}

/// How calls of the table are served, as kernels are told; nothing else.
pub(super) fn of_calls(table: Option<&CallTable>) -> Parameters {
    let Some(table) = table else { return Parameters::zeroed() };
    let CallTable { heap, epoch, seed, limits, .. } = table;
    Parameters {
        heap_start: heap.start,
        heap_end: heap.end,
        epoch: epoch.unwrap_or(0),
        seed: *seed,
        limits: *limits,
        calls: calls(table),
        ..Parameters::zeroed()
    }
}

/// Uploads the parameters that change from dispatch to dispatch. They come first; the rest never changes.
pub(super) fn upload_launch(buffer: &Buffer, parameters: &Parameters) -> Result<(), Error> {
    buffer.upload(0, &bytemuck::bytes_of(parameters)[..offset_of!(Parameters, heap_start)])
}

/// The entry of each system call, by number: `CALL_*`.
fn calls(table: &CallTable) -> [u32; CALLS as usize] {
    let mut calls = [CALL_HOST; CALLS as usize];
    for (number, answer) in table.answers.iter().copied() {
        let call = match answer {
            Answer::Value(value) => {
                let call = (value as u32) << CALL_VALUE | CALL_ANSWER;
                // Others than small ones are the host's.
                if i64::from(call as i32 >> CALL_VALUE) as u64 == value { call } else { CALL_HOST }
            }
            Answer::Exit => CALL_EXIT,
            Answer::MoveHeapEnd => CALL_BREAK,
            Answer::Clock => CALL_CLOCK,
            Answer::Write => CALL_WRITE,
            Answer::RobustList => CALL_ROBUST_LIST,
            Answer::Limit => CALL_LIMIT,
            Answer::Name => CALL_NAME,
            Answer::Random => CALL_RANDOM,
        };
        if let Some(entry) = calls.get_mut(number as usize) {
            *entry = call;
        }
    }
    calls
}

/// The features of a machine, a bit each.
pub(super) fn feature_bits(features: Features) -> u32 {
    Feature::ALL
        .into_iter()
        .filter(|feature| features.has(*feature))
        .fold(0, |bits, feature| bits | 1 << feature as u32)
}
