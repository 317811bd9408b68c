//! Address spaces: where a process maps memory, and its memory while another process has the lane.

use serde::{Deserialize, Serialize};

use super::settings::Areas;
use crate::lane_memory::LaneMemory;

/// An address space. The process and a child that borrows it (`vfork`) use it together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Space {
    pub(super) areas: Areas,
    /// The memory; `None` while the executor has it.
    pub(super) memory: Option<LaneMemory>,
    /// The end of the heap while the executor has another space.
    pub(super) heap_end: u64,
    /// The number of processes that use it.
    pub(super) users: u32,
    /// The path of the program.
    pub(super) executable: Vec<u8>,
}
