//! The parameters that the host passes to kernels.

use std::mem::offset_of;

use bytemuck::Zeroable as _;
use kvrm_arm64::Features;
use kvrm_machine::{Answer, CallTable};
use kvrm_shaders::interface::machine::Parameters;
use kvrm_shaders::layout::{
    CALL_ANSWER, CALL_BREAK, CALL_CLEAR_TID, CALL_CLOCK, CALL_EXIT, CALL_HOST, CALL_LIMIT, CALL_NAME,
    CALL_PARENT, CALL_PROCESS, CALL_RANDOM, CALL_READ, CALL_ROBUST_LIST, CALL_THREAD, CALL_VALUE,
    CALL_WAKE_FUTEX, CALL_WRITE, CALL_YIELD, CALLS,
};

use crate::device::buffer::Buffer;
use crate::device::error::Error;

/// The parameters that change from dispatch to dispatch.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Launch {
    /// The largest number of steps that a lane takes.
    pub(crate) steps: u32,
    /// The largest number of loop iterations of an invocation.
    pub(crate) fuel: u32,
    /// The number of steps that a loop iteration of other work costs, in units of 1/256.
    pub(crate) work_steps: u32,
    /// The number of invocations that share the loop iterations that the driver allows.
    pub(crate) sharers: u32,
    /// The largest number of pages that the heap may grow by in one call that the shader serves.
    pub(crate) break_pages: u32,
    /// The number of jobs, for kernels that work on a list.
    pub(crate) jobs: u32,
    /// The largest number of steps that a lane takes in a translated region before it leaves it.
    pub(crate) quantum: u32,
}

/// Returns the parameters that describe how kernels serve the calls of a table. All others are zero.
pub(super) fn of_calls(table: Option<&CallTable>) -> Parameters {
    let Some(table) = table else { return Parameters::zeroed() };
    let CallTable { epoch, seed, first_lane, limits, .. } = table;
    Parameters {
        epoch: epoch.unwrap_or(0),
        seed: *seed,
        first_lane: *first_lane,
        limits: *limits,
        calls: calls(table),
        ..Parameters::zeroed()
    }
}

/// Uploads the parameters that change from dispatch to dispatch. They precede those that never change.
pub(super) fn upload_launch(buffer: &Buffer, parameters: &Parameters) -> Result<(), Error> {
    buffer.upload(0, &bytemuck::bytes_of(parameters)[..offset_of!(Parameters, epoch)])
}

/// Returns the entry of each system call, `CALL_*`, indexed by the number of the call.
fn calls(table: &CallTable) -> [u32; CALLS as usize] {
    let mut calls = [CALL_HOST; CALLS as usize];
    for (number, answer) in table.answers.iter().copied() {
        let call = match answer {
            Answer::Value(value) => {
                let call = (value as u32) << CALL_VALUE | CALL_ANSWER;
                // The host serves calls whose value does not fit an entry.
                if i64::from(call as i32 >> CALL_VALUE) as u64 == value { call } else { CALL_HOST }
            }
            Answer::Exit => CALL_EXIT,
            Answer::MoveHeapEnd => CALL_BREAK,
            Answer::Clock => CALL_CLOCK,
            Answer::Write => CALL_WRITE,
            Answer::Read => CALL_READ,
            Answer::RobustList => CALL_ROBUST_LIST,
            Answer::Limit => CALL_LIMIT,
            Answer::Name => CALL_NAME,
            Answer::Random => CALL_RANDOM,
            Answer::Process => CALL_PROCESS,
            Answer::Thread => CALL_THREAD,
            Answer::Parent => CALL_PARENT,
            Answer::ClearTid => CALL_CLEAR_TID,
            Answer::WakeFutex => CALL_WAKE_FUTEX,
            Answer::Yield => CALL_YIELD,
        };
        if let Some(entry) = calls.get_mut(number as usize) {
            *entry = call;
        }
    }
    calls
}

/// Returns the features of a machine: bit n stands for feature n.
pub(super) fn feature_bits(features: Features) -> u32 {
    features.bits() as u32
}
