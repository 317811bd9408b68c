//! What all lanes of a machine have in common.

use std::ops::Range;
use std::time::Instant;

use kvrm_arm64::Features;

/// What a lane is told the time is before its first step: the first second of the year 2020, in nanoseconds.
pub(super) const EPOCH: u64 = 1_577_836_800_000_000_000;

/// Where memory may be mapped while a lane runs.
#[derive(Clone, Debug)]
pub(crate) struct Areas {
    /// What `brk` moves through.
    pub(crate) heap: Range<u64>,
    /// Where `mmap` finds room.
    pub(crate) arena: Range<u64>,
    /// How large the stack is.
    pub(crate) stack_bytes: u64,
    /// Where handlers of signals return to, unless the program says where.
    pub(crate) trampoline: u64,
}

/// What lies at [`Areas::trampoline`]: `mov x8, #139; svc #0`, which is `rt_sigreturn`.
pub(crate) const TRAMPOLINE: [u32; 2] = [0xd280_1168, 0xd400_0001];

/// What all lanes have in common.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) areas: Areas,
    pub(crate) features: Features,
    /// What randomness follows from.
    pub(crate) seed: u64,
    /// When the machine was built, if time is the host's and not counted in steps.
    pub(crate) real_time: Option<Instant>,
    /// Whether the three standard streams are a terminal.
    pub(crate) terminal: bool,
}
