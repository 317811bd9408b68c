//! Counters of injected faults, which calls of the device count down.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// The faults that a test has injected into a device.
#[derive(Debug, Default)]
pub(super) struct FaultCounters {
    /// The number of wgpu calls until the device is lost; 0 for never.
    pub(super) calls_to_loss: AtomicU32,
    /// The number of buffers that are made before the first refusal.
    pub(super) buffers_made: AtomicU32,
    /// The number of buffers that are refused after that.
    pub(super) buffers_refused: AtomicU32,
    /// The number of buffers that have been refused so far.
    pub(super) refusals: AtomicU32,
}

/// Decrements a number unless it is 0, and returns whether it did.
fn count_down(number: &AtomicU32) -> bool {
    number.load(Relaxed) != 0 && number.fetch_update(Relaxed, Relaxed, |number| number.checked_sub(1)).is_ok()
}

impl FaultCounters {
    /// Counts a call of wgpu, and returns whether the device is to be lost at this call.
    pub(super) fn is_lost_now(&self) -> bool {
        let take = |calls: u32| calls.checked_sub(1);
        self.calls_to_loss.load(Relaxed) != 0
            && self.calls_to_loss.fetch_update(Relaxed, Relaxed, take) == Ok(1)
    }

    /// Counts a buffer, and returns whether it is to be refused.
    pub(super) fn is_refused_now(&self) -> bool {
        if self.buffers_refused.load(Relaxed) == 0 || count_down(&self.buffers_made) {
            return false;
        }
        let is_refused = count_down(&self.buffers_refused);
        self.refusals.fetch_add(is_refused.into(), Relaxed);
        is_refused
    }
}
