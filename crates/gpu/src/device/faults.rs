//! Failures that tests inject into a device.

use std::sync::atomic::Ordering::Relaxed;

use super::error::Error;
use super::logical::Device;

impl Device {
    /// Loses the device at the `calls`th call of wgpu from now, or, if that is 0, no more; for tests.
    #[doc(hidden)]
    pub fn lose_at(&self, calls: u32) {
        self.injected().calls_to_loss.store(calls, Relaxed);
    }

    /// Makes so many buffers, refuses the `count` next ones as if memory were full, and makes all others; for tests. The
    /// buffer that is kept for transfers has to be made again.
    #[doc(hidden)]
    pub fn refuse_buffers(&self, made: u32, count: u32) {
        *self.staging() = None;
        self.injected().buffers_refused.store(0, Relaxed);
        self.injected().buffers_made.store(made, Relaxed);
        self.injected().buffers_refused.store(count, Relaxed);
    }

    /// How many buffers were refused because of [`Device::refuse_buffers`].
    #[doc(hidden)]
    pub fn refusals(&self) -> u32 {
        self.injected().refusals.load(Relaxed)
    }

    /// Has wgpu make a buffer, in the memory of the device or of the host.
    pub(crate) fn allocate<T>(&self, doing: &str, make: impl FnOnce() -> T) -> Result<T, Error> {
        if self.injected().is_refused_now() {
            return Err(Error::OutOfMemory { doing: doing.to_owned(), max: self.limits().storage_bytes() });
        }
        self.catch(doing, make)
    }
}
