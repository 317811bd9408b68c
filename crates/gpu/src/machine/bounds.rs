//! The options of an executor: limits below those of a device, with which tests reach the limits, and translation.

use super::host_faults::HostFaults;
use super::host_file::HostFile;
use super::memory_limits::MemoryLimits;
use super::prefetch::Prefetch;
use super::translation::{RegionBounds, Translation};
use crate::device::LoopLimit;

/// Limits below those of the device, for tests, where `None` stands for the device's own limit; and when code is
/// translated.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// The binary logarithm of the number of words of a pool, at least 9.
    pub pool_shift: Option<u32>,
    /// The largest number of pools.
    pub pools: Option<usize>,
    /// The memory of the machine. `None`: frames never move to the host.
    pub memory: Option<MemoryLimits>,
    /// The file for frames that find no room in the memory of the host.
    pub host_file: Option<HostFile>,
    /// The failures of the host that a test injects.
    pub host_faults: HostFaults,
    /// Which pages are brought back from the host ahead of their use.
    pub prefetch: Prefetch,
    /// The largest number of frames in the pools, instead of that which `memory` allows.
    pub places: Option<u32>,
    /// Whether all frames that may leave the pools leave them between any two slices.
    pub moves_eagerly: bool,
    /// Whether several pools may be elements of an array of buffers.
    pub buffer_arrays: bool,
    /// The number of sets of each lane's TLB for data, a power of two.
    pub tlb_sets: Option<u32>,
    /// The largest number of code pages.
    pub code_pages: Option<usize>,
    /// The largest number of steps of a slice.
    pub slice_steps: Option<u32>,
    /// The number of loop iterations that invocations may take, as if the driver ended longer loops.
    pub loop_limit: Option<LoopLimit>,
    /// The number of lanes in a workgroup of the interpreter.
    pub workgroup: Option<u32>,
    /// The least number of lanes in a workgroup whose lanes may execute several micro-ops in each step, at least 2.
    pub stages_min: Option<u32>,
    /// Whether lanes vote on stages in all workgroups that have stages, if the device has subgroups. Otherwise lanes vote only
    /// where the tuner chooses it.
    pub votes: bool,
    /// The size of each lane's buffer for console output in bytes, a multiple of 8 and not 0.
    pub console_bytes: Option<u32>,
    /// The largest size of the data of one transfer between host and guest memory in bytes, at least that of a page.
    pub transfer_bytes: Option<usize>,
    /// The size in bytes at which a checkpoint replaces the journal.
    pub journal_bytes: Option<u64>,
    /// Whether the invocations of a subgroup may share work.
    pub subgroups: bool,
    /// When hot code is translated.
    pub translation: Translation,
    /// The sizes of translated regions.
    pub regions: Option<RegionBounds>,
}

impl Bounds {
    /// The limits of the device. Code is not translated.
    pub const NONE: Self = Self {
        pool_shift: None,
        pools: None,
        memory: None,
        host_file: None,
        host_faults: HostFaults::NONE,
        prefetch: Prefetch::NONE,
        places: None,
        moves_eagerly: false,
        buffer_arrays: true,
        tlb_sets: None,
        code_pages: None,
        slice_steps: None,
        loop_limit: None,
        workgroup: None,
        stages_min: None,
        votes: false,
        console_bytes: None,
        transfer_bytes: None,
        journal_bytes: None,
        subgroups: true,
        translation: Translation::Off,
        regions: None,
    };

    /// Returns the largest number of frames on the host, in its memory and in a file.
    pub(crate) fn frames_away(&self) -> u64 {
        let Some(limits) = self.memory else { return 0 };
        limits.host_frames() + self.host_file.as_ref().map_or(0, |file| file.frames(limits))
    }
}
