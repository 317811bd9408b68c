//! The sizes of the buffers of a machine, and their limits.

use kvrm_arm64::micro_op::MicroOp;
use kvrm_shaders::interface::machine::MachineGroup;
use kvrm_shaders::layout::PAGE_OPS;

use crate::device::Device;
use crate::device::error::Error;

/// The size of the information about a frame in bytes.
pub(crate) const INFO_BYTES: u64 = MachineGroup::<()>::FRAME_INFO_STRIDE;

/// The size of a micro-op in bytes.
pub(super) const OP_BYTES: u64 = MachineGroup::<()>::MICRO_OPS_STRIDE;
/// The size of a code page in bytes.
pub(crate) const CODE_PAGE_BYTES: u64 = PAGE_OPS as u64 * OP_BYTES;

const _: () =
    assert!(size_of::<MicroOp>() as u64 == OP_BYTES, "a micro-op has the same size on host and device");

/// The size of the buffers for console output of all lanes together, in bytes, at most.
const CONSOLE_BYTES: u64 = 64 << 20;
/// The smallest and the largest size of a lane's buffer for console output, in bytes.
const CONSOLE_BYTES_OF_LANE: (u64, u64) = (64, 64 << 10);

/// Returns whether an error means that a buffer exceeds the device's memory or its limits.
pub(super) const fn is_full(error: &Error) -> bool {
    matches!(error, Error::OutOfMemory { .. } | Error::TooLarge { .. })
}

/// Returns the sizes to try, in order, if a buffer of size `there` should grow to `wanted`: each adds half as much as
/// the one before.
pub(super) fn sizes(there: u64, wanted: u64) -> impl Iterator<Item = u64> {
    let more = wanted.saturating_sub(there);
    std::iter::successors(Some(more), |more| Some(more / 2))
        .take_while(|more| *more > 0)
        .map(move |more| there + more)
}

/// Returns the binary logarithm of the number of words of a pool: the largest power of two that fits a binding.
pub(super) fn pool_shift(device: &Device) -> u32 {
    (device.limits().storage_bytes() / 8).max(1).ilog2().min(28)
}

/// Returns the number of code pages that a binding of the device has room for.
pub(crate) fn code_pages_max(device: &Device) -> usize {
    (device.limits().storage_bytes() / CODE_PAGE_BYTES) as usize
}

/// The largest number of sets of a lane's TLB for data.
///
/// On an H200, `kvrm bench doom --engine gpu --translate off --picture half --blocks 6 --lanes 32768` is 18 % faster with 64 sets
/// than with 32, and 4 % faster with 128 than with 64. On an H100, 256 sets are 2 % faster than 128 in 33,792 lanes, and 7 %
/// in 42,240. 512 and more sets are not faster, and lanes clear all sets when they forget their pages.
const TLB_SETS_MAX: u32 = 256;

/// The size of a set, in bytes.
pub(super) const TLB_SET_BYTES: u64 = MachineGroup::<()>::KEPT_PAGES_STRIDE;

/// Returns the number of sets of each lane's TLB for data: as many as a binding has room for.
pub(super) fn tlb_sets(device: &Device, lanes: usize) -> u32 {
    let mut sets = TLB_SETS_MAX;
    while sets > 1 && tlb_bytes(lanes, sets) > device.limits().storage_bytes() {
        sets /= 2;
    }
    sets
}

/// Returns the number of sets of each lane's TLB for code. Programs use fewer pages of code than of data at a time.
pub(super) const fn code_tlb_sets(sets: u32) -> u32 {
    if sets < 8 { 1 } else { sets / 8 }
}

/// Returns the size of the TLBs of `lanes` lanes, in bytes.
pub(super) fn tlb_bytes(lanes: usize, sets: u32) -> u64 {
    u64::from(sets + code_tlb_sets(sets)) * lanes as u64 * TLB_SET_BYTES
}

/// Returns the size of each lane's buffer for console output, in bytes.
pub(super) fn console_bytes(device: &Device, lanes: usize) -> u32 {
    let (least, most) = CONSOLE_BYTES_OF_LANE;
    let share = CONSOLE_BYTES.min(device.limits().storage_bytes()) / lanes.max(1) as u64;
    1 << share.clamp(least, most).ilog2()
}

/// Returns the number of pools from which on they are elements of an array, in machines with workgroups of this size.
///
/// An access to one of several bindings branches over all of them, and an access to an element of an array reads the
/// element's address from memory. In a workgroup of many lanes, which usually do the same, branches are faster (on an
/// H200, render in 131,072 lanes is 25 % slower with an array); lanes that part need the smaller code of arrays.
pub(super) const fn array_min(workgroup: u32) -> usize {
    if workgroup <= 16 { 2 } else { 9 }
}

/// Returns the least number of lanes in a workgroup whose lanes execute several micro-ops in each step.
///
/// On an H200, stages are faster in workgroups of 16 lanes or more: by a fifth to two fifths for mix, by 3 to 25 % for render.
/// In workgroups of 8 they make render 10 % slower, because some lane needs each stage and few take part. A CPU executes
/// the code of all stages for all lanes.
pub(super) fn stages_min(device: &Device) -> u32 {
    if device.info().is_software() { u32::MAX } else { 16 }
}

/// The least number of lanes in a workgroup in which votes of subgroups on the stages may be faster than a fixed order.
///
/// On an H200, 131,072 lanes have workgroups of 64. With votes, render is 9 % faster there and mix 3 %, but sha256 and sieve,
/// whose lanes stay together, are 20 to 24 % slower. In workgroups of 16, mix and render are slower, too.
pub(super) const VOTES_MIN: u32 = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smaller_and_smaller_growths_are_tried() {
        assert_eq!(sizes(100, 200).collect::<Vec<_>>(), [200, 150, 125, 112, 106, 103, 101], "halves");
        assert_eq!(sizes(100, 100).count() + sizes(100, 50).count(), 0, "there is room already");
    }
}
