//! Limits below those of a device, so that tests meet them.

use crate::device::LoopLimit;

/// Limits below those of the device, for tests.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// The binary logarithm of the words of a pool, 9 at least.
    pub pool_shift: Option<u32>,
    /// The most pools.
    pub pools: Option<usize>,
    /// The most pages of lowered code.
    pub code_pages: Option<usize>,
    /// The most steps of a slice.
    pub slice_steps: Option<u32>,
    /// How many loop iterations invocations may take, as if the driver cut off longer ones.
    pub loop_limit: Option<LoopLimit>,
    /// How many lanes share a workgroup of the interpreter.
    pub workgroup: Option<u32>,
    /// The most bytes of console output of a lane that wait for the host, a multiple of 8 and not 0.
    pub console_bytes: Option<u32>,
    /// How many bytes a journal may have before the state is copied in its place.
    pub journal_bytes: Option<u64>,
    /// Whether invocations of a subgroup share work.
    pub subgroups: bool,
}

impl Bounds {
    /// What the device allows.
    pub const NONE: Self = Self {
        pool_shift: None,
        pools: None,
        code_pages: None,
        slice_steps: None,
        loop_limit: None,
        workgroup: None,
        console_bytes: None,
        journal_bytes: None,
        subgroups: true,
    };
}
