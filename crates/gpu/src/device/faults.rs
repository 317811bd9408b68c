//! Injection of failures into a device, for tests.

use std::sync::atomic::Ordering::Relaxed;

use super::error::Error;
use super::logical::Device;

impl Device {
    /// Makes the device be lost at the `calls`th call of wgpu from now; 0 cancels that. For tests.
    #[doc(hidden)]
    pub fn lose_at(&self, calls: u32) {
        self.fault_counters().calls_to_loss.store(calls, Relaxed);
    }

    /// After the next `made` buffers, refuses `count` buffers as if memory were full, and then no more; for tests.
    /// Drops the staging buffers of downloads, so the next download makes a new one.
    #[doc(hidden)]
    pub fn refuse_buffers(&self, made: u32, count: u32) {
        self.staging().clear();
        self.fault_counters().buffers_refused.store(0, Relaxed);
        self.fault_counters().buffers_made.store(made, Relaxed);
        self.fault_counters().buffers_refused.store(count, Relaxed);
    }

    /// Returns how many buffers were refused because of [`Device::refuse_buffers`].
    #[doc(hidden)]
    pub fn refusals(&self) -> u32 {
        self.fault_counters().refusals.load(Relaxed)
    }

    /// Calls `make`, which makes a wgpu buffer in the memory of the device or of the host.
    pub(crate) fn allocate<T>(&self, doing: &str, make: impl FnOnce() -> T) -> Result<T, Error> {
        if self.fault_counters().is_refused_now() {
            return Err(Error::OutOfMemory { doing: doing.to_owned(), max: self.limits().storage_bytes() });
        }
        self.catch(doing, make)
    }
}
