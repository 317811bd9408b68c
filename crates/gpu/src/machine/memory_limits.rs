//! The limits of the memory of a machine.

use kvrm_machine::PAGE_BYTES;
use kvrm_spiking::available_memory;

use super::store::limits::INFO_BYTES;

/// The assumed memory of a host that does not say how much is available, in bytes.
const HOST_ASSUMED: u64 = 8 << 30;
/// The largest memory of the host by default, in multiples of that of the GPU. What the GPU has to know about so many frames takes a
/// fifth of its memory.
const HOST_TIMES: u64 = 32;
/// The size of the marks of a frame that moves, in bytes.
const MARK_BYTES: u64 = 8;

/// The memory that a machine may take of a GPU, and that which it may take of the host beside it.
///
/// If the frames of all lanes need more than the GPU may give, those that were not used for the longest time move to the host. They
/// come back when they are needed. Results are the same.
///
/// ```no_run
/// use kvrm_gpu::{GpuEngine, MemoryLimits};
/// use kvrm_machine::{Machine, Program};
///
/// let engine = GpuEngine::open(None)?.with_memory(MemoryLimits::new(4 << 30, 32 << 30));
/// let program = Program::open("guests/bin/sha256.elf")?;
/// let mut machine = Machine::builder(program).lanes(100_000).engine(engine).build()?;
/// let report = machine.run(u64::MAX)?;
/// println!("{:?}", report.frame_moves);
/// # Ok::<(), kvrm_machine::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryLimits {
    /// The bytes of the GPU: those of frames, of what is known about frames, and of the state of lanes.
    pub device: u64,
    /// The bytes of frames on the host. Frames whose words are all 0 take none.
    pub host: u64,
}

impl MemoryLimits {
    /// Returns limits in bytes.
    #[must_use]
    pub const fn new(device: u64, host: u64) -> Self {
        Self { device, host }
    }

    /// Returns limits with so many bytes of the GPU. Frames on the host may take half of the memory that is available there now, but
    /// at most 32 times as much as on the GPU.
    ///
    /// ```
    /// use kvrm_gpu::MemoryLimits;
    ///
    /// let limits = MemoryLimits::with_device(64 << 20);
    /// assert_eq!(limits.device, 64 << 20);
    /// assert!(limits.host <= 2 << 30);
    /// ```
    #[must_use]
    pub fn with_device(device: u64) -> Self {
        Self::new(device, default_host(device, available_memory()))
    }

    /// Returns the largest number of frames in the memory of the host.
    pub(crate) const fn host_frames(self) -> u64 {
        self.host / PAGE_BYTES as u64
    }

    /// Returns the bytes of a GPU that are not for frames in its memory, where the state of lanes takes `state` bytes and `away` frames
    /// may be on the host.
    pub(crate) const fn others(state: u64, away: u64) -> u64 {
        state + away * (INFO_BYTES + MARK_BYTES)
    }

    /// Returns the number of places for frames on such a GPU.
    pub(crate) const fn places(self, state: u64, away: u64) -> u64 {
        // A place also takes an entry of the list of free places.
        let place = PAGE_BYTES as u64 + INFO_BYTES + MARK_BYTES + 4;
        self.device.saturating_sub(Self::others(state, away)) / place
    }
}

/// Returns the bytes of frames on a host with so much available memory, if it is known, beside so many bytes of a GPU.
fn default_host(device: u64, available: Option<u64>) -> u64 {
    (available.unwrap_or(HOST_ASSUMED) / 2).min(device.saturating_mul(HOST_TIMES))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_gives_half_of_what_it_has_but_no_more_than_the_device_can_use() {
        const GIB: u64 = 1 << 30;
        assert_eq!(default_host(GIB, Some(40 * GIB)), 20 * GIB, "half");
        assert_eq!(default_host(GIB, Some(100 * GIB)), 32 * GIB, "32 times the memory of the device");
        assert_eq!(default_host(GIB, None), 4 * GIB, "half of an assumed memory");
        assert_eq!(default_host(u64::MAX, Some(6 * GIB)), 3 * GIB, "the product is too large for a number");
        assert_eq!(default_host(0, Some(GIB)), 0, "no device");
    }

    #[test]
    fn frames_get_what_is_left_of_the_device() {
        let limits = MemoryLimits::new(10 << 20, 4 << 20);
        assert_eq!(limits.host_frames(), 1024, "of 4 KiB");
        assert_eq!(
            limits.places(0, 1024),
            ((10 << 20) - 1024 * 24) / 4124,
            "besides what is known about frames"
        );
        assert_eq!(limits.places(1 << 20, 1024), ((9 << 20) - 1024 * 24) / 4124, "and other buffers");
        assert_eq!(limits.places(11 << 20, 0), 0, "nothing is left");
    }
}
