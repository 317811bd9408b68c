//! Settings that all lanes of a machine share.

use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use kvrm_arm64::Features;
use serde::{Deserialize, Serialize};

use crate::pages::PAGE_BYTES;

/// The time of day before the first step: the first second of 2020, in nanoseconds since 1970.
pub(super) const EPOCH: u64 = 1_577_836_800_000_000_000;

/// The address ranges in which lanes map memory while they run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Areas {
    /// The heap, whose end `brk` moves.
    pub(crate) heap: Range<u64>,
    /// The range in which `mmap` chooses addresses first, so that page tables stay small.
    pub(crate) arena: Range<u64>,
    /// The size of the stack, in bytes.
    pub(crate) stack_bytes: u64,
    /// The return address of signal handlers without `SA_RESTORER`.
    pub(crate) trampoline: u64,
}

impl Areas {
    /// Returns the addresses of the stack of the first thread.
    pub(super) fn stack(&self) -> Range<u64> {
        // An unmapped page is between them.
        let end = self.heap.start - PAGE_BYTES as u64;
        end - self.stack_bytes..end
    }
}

/// Where a program is in memory.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Place {
    /// The addresses of the stack.
    pub(crate) stack: Range<u64>,
    /// The address of the first instruction of the program itself, which its interpreter jumps to.
    pub(crate) entry: u64,
    /// The address and the number of the program headers.
    pub(crate) headers: u64,
    pub(crate) count: u64,
    /// The address of the interpreter; 0 if there is none.
    pub(crate) base: u64,
}

/// The code at [`Areas::trampoline`]: `mov x8, #139; svc #0`, a call of `rt_sigreturn`.
pub(crate) const TRAMPOLINE: [u32; 2] = [0xd280_1168, 0xd400_0001];

/// The settings that all lanes of a machine share.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Settings {
    /// The address ranges of the program that the machine was built for.
    pub(crate) areas: Areas,
    /// The address behind which they are.
    pub(crate) end: u64,
    /// The place of this program in memory.
    pub(crate) place: Place,
    /// Its path in the file system of lanes.
    pub(crate) executable: String,
    /// Its file; empty if the memory of the image is not that of the program before its first step.
    #[serde(with = "crate::interned")]
    pub(crate) program: Arc<Vec<u8>>,
    #[serde(with = "crate::arm64_forms::FeaturesForm")]
    pub(crate) features: Features,
    /// The seed of random numbers.
    pub(crate) seed: u64,
    /// The time at which the machine was built, if clocks are the host's; `None` if clocks count steps.
    #[serde(with = "uptime")]
    pub(crate) real_time: Option<Instant>,
    /// Whether the three standard streams are a terminal.
    pub(crate) terminal: bool,
    /// The number of steps after which another thread gets its turn.
    pub(crate) quantum: u64,
}

/// The form of [`Settings::real_time`] in a saved machine: how long ago it was. So clocks stand still while a machine is saved.
mod uptime {
    use std::time::{Duration, Instant};

    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    #[expect(clippy::ref_option, reason = "serde passes the field like this")]
    pub(super) fn serialize<S: Serializer>(
        built: &Option<Instant>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        built.map(|built| built.elapsed()).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Instant>, D::Error> {
        let uptime = Option::<Duration>::deserialize(deserializer)?;
        let now = Instant::now();
        // A host that has just started may know no earlier time.
        Ok(uptime.map(|uptime| now.checked_sub(uptime).unwrap_or(now)))
    }
}
