//! Hooks: breakpoints, watchpoints and system-call filters.

use std::ops::Range;

use kvrm_arm64::{Access, Stop};
use serde::{Deserialize, Serialize};

use crate::pages::ADDRESS_BITS;

/// The addresses and system calls at which lanes stop for the host: breakpoints, watchpoints and system-call filters.
///
/// Hooks apply to all lanes of a machine. A lane stops *before* the instruction, which has had no effect, and at the
/// same step on every engine:
///
/// | hook | stop | when |
/// | --- | --- | --- |
/// | breakpoint | [`Stop::HardwareBreakpoint`] | the lane is about to execute the instruction at the address |
/// | watchpoint | [`Stop::Watchpoint`] | a load, store or atomic instruction is about to access a watched byte |
/// | filter | [`Stop::SystemCall`] | the lane is about to make the system call or the semihosting call |
///
/// If the fetch or the access fails, the lane stops with the fault and not at the hook. At the end of its budget, a lane
/// stops with [`Stop::Budget`] and not at a hook of the next instruction. A watchpoint for stores does not stop a
/// compare-and-swap or an exclusive store that stores nothing. Cache maintenance by address counts as a load of one
/// byte. Watchpoints do not see the memory that a system call reads or writes.
///
/// [`Machine::resume`](crate::Machine::resume) lets a stopped lane execute the instruction and go on. A machine without
/// hooks is as fast as ever. In a machine with hooks, instructions in a page with a breakpoint are slower, and so are
/// accesses to a page with a watched byte.
///
/// ```
/// use kvrm_machine::{Access, Hooks, Machine, Permissions, Program, Stop};
///
/// // movz x0, #0x2000; str x0, [x0]; hlt #0
/// let program = Program::builder()
///     .code(0x1000, &[0xd284_0000, 0xf900_0000, 0xd440_0000])
///     .data(0x2000, [0; 8], Permissions::RW)
///     .build()?;
/// let mut machine = Machine::builder(program).lanes(2).build()?;
/// machine.set_hooks(Hooks::new().watch_writes(0x2004..0x2008))?;
/// machine.run(100)?;
/// assert_eq!(machine.stop(1)?, Some(Stop::Watchpoint { access: Access::Write, address: 0x2004 }));
/// assert_eq!(machine.cpu(1)?.steps, 1);
/// machine.resume(1)?;
/// machine.run(100)?;
/// assert_eq!(machine.stop(1)?, Some(Stop::Halt { imm: 0 }));
/// # Ok::<(), kvrm_machine::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hooks {
    /// The ranges of each [`HookKind`]: sorted, and neither overlapping nor touching.
    ranges: [Vec<Range<u64>>; HookKind::COUNT],
}

/// The kind of a hook: what its range counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookKind {
    /// Bytes of memory that loads read.
    Read,
    /// Bytes of memory that stores write.
    Write,
    /// Bytes of instructions that are executed.
    Execute,
    /// Numbers of system calls or of semihosting operations.
    Call,
}

impl HookKind {
    const COUNT: usize = 4;

    /// All kinds, in the order of their numbers.
    pub const ALL: [Self; Self::COUNT] = [Self::Read, Self::Write, Self::Execute, Self::Call];
}

impl From<Access> for HookKind {
    fn from(access: Access) -> Self {
        match access {
            Access::Read => Self::Read,
            Access::Write => Self::Write,
            Access::Execute => Self::Execute,
        }
    }
}

impl Hooks {
    /// Creates an empty set of hooks.
    #[must_use]
    pub const fn new() -> Self {
        Self { ranges: [const { Vec::new() }; HookKind::COUNT] }
    }

    /// Adds a breakpoint at an instruction.
    #[must_use]
    pub fn breakpoint(self, address: u64) -> Self {
        self.breakpoints(address..address.saturating_add(4))
    }

    /// Adds breakpoints at all instructions in a range of addresses.
    #[must_use]
    pub fn breakpoints(self, addresses: Range<u64>) -> Self {
        self.with(HookKind::Execute, addresses)
    }

    /// Adds a watchpoint for loads from any byte of a range.
    #[must_use]
    pub fn watch_reads(self, addresses: Range<u64>) -> Self {
        self.with(HookKind::Read, addresses)
    }

    /// Adds a watchpoint for stores to any byte of a range.
    #[must_use]
    pub fn watch_writes(self, addresses: Range<u64>) -> Self {
        self.with(HookKind::Write, addresses)
    }

    /// Adds a watchpoint for loads and stores.
    #[must_use]
    pub fn watch(self, addresses: Range<u64>) -> Self {
        self.watch_reads(addresses.clone()).watch_writes(addresses)
    }

    /// Adds a filter for a system call, by its number: in Linux programs 64 is `write`. In other programs, the number is
    /// that of a semihosting operation: 5 is `SYS_WRITE`.
    ///
    /// To replace the call, set X0 to its result and move the pc to the next instruction before resuming the lane.
    #[must_use]
    pub fn system_call(self, number: u32) -> Self {
        self.with(HookKind::Call, number.into()..u64::from(number) + 1)
    }

    /// Adds filters for all system calls.
    #[must_use]
    pub fn all_system_calls(self) -> Self {
        self.with(HookKind::Call, 0..1 << u32::BITS)
    }

    /// Returns whether there are no hooks.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ranges.iter().all(Vec::is_empty)
    }

    /// Returns whether the ranges are sorted, and neither empty nor touching. Ranges from a file may break that.
    pub(crate) fn is_valid(&self) -> bool {
        self.ranges.iter().all(|ranges| {
            ranges.iter().all(|range| !range.is_empty())
                && ranges.windows(2).all(|pair| pair[0].end < pair[1].start)
        })
    }

    /// Returns whether there are filters for system calls.
    pub(crate) fn has_call(&self) -> bool {
        self.find(HookKind::Call, 0, 1 << u32::BITS).is_some()
    }

    /// Returns the first hooked address or call number among the `count` from `first` on.
    #[must_use]
    pub fn find(&self, kind: HookKind, first: u64, count: u64) -> Option<u64> {
        let ranges = &self.ranges[kind as usize];
        let found = ranges.get(ranges.partition_point(|range| range.end <= first))?;
        (found.start < first.saturating_add(count)).then(|| found.start.max(first))
    }

    /// Returns the stop before an access of `bytes` bytes, if there is one.
    #[must_use]
    pub fn stop_before(&self, access: Access, address: u64, bytes: u64) -> Option<Stop> {
        let address = self.find(access.into(), address, bytes)?;
        Some(match access {
            Access::Execute => Stop::HardwareBreakpoint,
            Access::Read | Access::Write => Stop::Watchpoint { access, address },
        })
    }

    /// Returns the stop before a call, if there is one.
    #[must_use]
    pub fn stop_before_call(&self, number: u32) -> Option<Stop> {
        self.find(HookKind::Call, number.into(), 1).map(|_| Stop::SystemCall { number })
    }

    /// Returns the hooks that can still stop a lane at the same instruction after `stop`. Breakpoints come first, then
    /// watchpoints, then system-call filters.
    #[must_use]
    pub fn after(&self, stop: Stop) -> Self {
        let passed: &[HookKind] = match stop {
            Stop::HardwareBreakpoint => &[HookKind::Execute],
            Stop::Watchpoint { .. } => &[HookKind::Execute, HookKind::Read, HookKind::Write],
            Stop::SystemCall { .. } => &HookKind::ALL,
            _ => &[],
        };
        let mut hooks = self.clone();
        passed.iter().for_each(|kind| hooks.ranges[*kind as usize].clear());
        hooks
    }

    /// Returns all ranges as keys in ascending order, for engines that search them on a device.
    ///
    /// A key is an address or a call number, with the number of the [`HookKind`] above the 48 bits of an address. So one
    /// search serves hooks of every kind.
    pub fn keys(&self) -> impl Iterator<Item = Range<u64>> {
        HookKind::ALL.into_iter().zip(&self.ranges).flat_map(|(kind, ranges)| {
            let key = move |address: u64| ((kind as u64) << ADDRESS_BITS) + address;
            ranges.iter().map(move |range| key(range.start)..key(range.end))
        })
    }

    /// Adds a range, without addresses beyond the address space, which no access reaches.
    fn with(mut self, kind: HookKind, added: Range<u64>) -> Self {
        let mut added = added.start..added.end.min(1 << ADDRESS_BITS);
        if added.is_empty() {
            return self;
        }
        let ranges = &mut self.ranges[kind as usize];
        let first = ranges.partition_point(|range| range.end < added.start);
        let end = ranges.partition_point(|range| range.start <= added.end);
        for range in &ranges[first..end] {
            added = added.start.min(range.start)..added.end.max(range.end);
        }
        ranges.splice(first..end, [added]);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_merge_and_stay_sorted() {
        let hooks =
            Hooks::new().watch_writes(20..30).watch_writes(0..5).watch_writes(5..10).watch_writes(8..21);
        assert_eq!(hooks, Hooks::new().watch_writes(0..30), "touching and overlapping ranges become one");
        let apart = Hooks::new().watch_reads(9..10).watch_reads(1..2).watch_reads(4..4);
        assert_eq!(apart.keys().collect::<Vec<_>>(), [1..2, 9..10], "sorted, without the empty range");
    }

    #[test]
    fn the_first_hooked_byte_of_an_access_is_found() {
        let hooks = Hooks::new().watch_reads(100..104).watch_reads(110..111).breakpoint(0x1000);
        let find = |first, count| hooks.find(HookKind::Read, first, count);
        assert_eq!(find(92, 8), None, "just before");
        assert_eq!(find(93, 8), Some(100), "the last byte");
        assert_eq!(find(103, 64), Some(103), "both ranges");
        assert_eq!(find(104, 64), Some(110), "the second range");
        assert_eq!(find(111, u64::MAX), None, "behind all");
        assert_eq!(hooks.stop_before(Access::Write, 100, 4), None, "only loads are watched");
        let stop = hooks.stop_before(Access::Execute, 0x1000, 4);
        assert_eq!(stop, Some(Stop::HardwareBreakpoint), "the breakpoint");
    }

    #[test]
    fn keys_of_kinds_do_not_mix() {
        let all = 0..u64::MAX;
        let hooks = Hooks::new().watch(all.clone()).breakpoints(all).all_system_calls();
        let keys: Vec<_> = hooks.keys().collect();
        assert!(keys.windows(2).all(|pair| pair[0].end <= pair[1].start), "sorted and apart: {keys:x?}");
        assert_eq!(keys.len(), HookKind::COUNT, "one range of each kind");
    }
}
