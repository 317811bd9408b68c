//! How large the buffers of a machine are, and may become.

use kvrm_arm64::micro_op::MicroOp;
use kvrm_shaders::interface::machine::MachineGroup;
use kvrm_shaders::layout::PAGE_OPS;

use crate::device::Device;
use crate::device::error::Error;

/// Bytes that are known of each frame.
pub(crate) const INFO_BYTES: u64 = MachineGroup::<()>::FRAME_INFO_STRIDE;

/// Bytes of a micro-op.
pub(super) const OP_BYTES: u64 = MachineGroup::<()>::MICRO_OPS_STRIDE;
/// Bytes of the micro-ops of a page.
pub(crate) const CODE_PAGE_BYTES: u64 = PAGE_OPS as u64 * OP_BYTES;

const _: () = assert!(size_of::<MicroOp>() as u64 == OP_BYTES, "micro-ops are the same on both sides");

/// The most bytes of console output that wait for the host, of all lanes together.
const CONSOLE_BYTES: u64 = 64 << 20;
/// The fewest and the most bytes of a lane.
const CONSOLE_BYTES_OF_LANE: (u64, u64) = (64, 64 << 10);

/// Whether there is no room for a buffer, in the device's memory or by its limits.
pub(super) const fn is_full(error: &Error) -> bool {
    matches!(error, Error::OutOfMemory { .. } | Error::TooLarge { .. })
}

/// The sizes to try if something of size `there` should become `wanted`, and there may not be room for that.
pub(super) fn sizes(there: u64, wanted: u64) -> impl Iterator<Item = u64> {
    let more = wanted.saturating_sub(there);
    std::iter::successors(Some(more), |more| Some(more / 2))
        .take_while(|more| *more > 0)
        .map(move |more| there + more)
}

/// The largest power of two of words that a binding can have.
pub(super) fn pool_shift(device: &Device) -> u32 {
    (device.limits().storage_bytes() / 8).max(1).ilog2().min(28)
}

/// How many pages of lowered code a binding of the device can hold.
pub(crate) fn code_pages_max(device: &Device) -> usize {
    (device.limits().storage_bytes() / CODE_PAGE_BYTES) as usize
}

/// How much console output of a lane may wait for the host.
pub(super) fn console_bytes(device: &Device, lanes: usize) -> u32 {
    let (least, most) = CONSOLE_BYTES_OF_LANE;
    let share = CONSOLE_BYTES.min(device.limits().storage_bytes()) / lanes.max(1) as u64;
    1 << share.clamp(least, most).ilog2()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ever_less_is_tried_until_there_is_nothing_to_gain() {
        assert_eq!(sizes(100, 200).collect::<Vec<_>>(), [200, 150, 125, 112, 106, 103, 101], "halves");
        assert_eq!(sizes(100, 100).count() + sizes(100, 50).count(), 0, "there is room already");
    }
}
