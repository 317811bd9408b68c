//! What tests have fail on a device, counted down by its calls.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// What is to fail.
#[derive(Debug, Default)]
pub(super) struct Injected {
    /// After how many calls of wgpu the device is lost; 0 for never.
    pub(super) calls_to_loss: AtomicU32,
    /// How many buffers are made before the first one that is refused.
    pub(super) buffers_made: AtomicU32,
    /// How many are refused then.
    pub(super) buffers_refused: AtomicU32,
    /// How many have been refused.
    pub(super) refusals: AtomicU32,
}

/// Takes one from a number that is not 0; says whether it was not.
fn take(number: &AtomicU32) -> bool {
    number.load(Relaxed) != 0 && number.fetch_update(Relaxed, Relaxed, |number| number.checked_sub(1)).is_ok()
}

impl Injected {
    /// Whether the device is to be lost at this call.
    pub(super) fn is_lost_now(&self) -> bool {
        let take = |calls: u32| calls.checked_sub(1);
        self.calls_to_loss.load(Relaxed) != 0
            && self.calls_to_loss.fetch_update(Relaxed, Relaxed, take) == Ok(1)
    }

    /// Whether this buffer is to be refused.
    pub(super) fn is_refused_now(&self) -> bool {
        if self.buffers_refused.load(Relaxed) == 0 || take(&self.buffers_made) {
            return false;
        }
        let is_refused = take(&self.buffers_refused);
        self.refusals.fetch_add(is_refused.into(), Relaxed);
        is_refused
    }
}
