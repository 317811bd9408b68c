//! The frames that moved between a device and the host.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The frames that moved between the memory of a device and that of the host since the last report.
///
/// ```
/// use kvrm_machine::FrameMoves;
///
/// let moves = FrameMoves::new(300, 100, 7);
/// assert_eq!(moves.bytes(), 400 * 4096);
/// assert_eq!(moves.to_string(), "300 to the host, 100 to the device, 7 waits");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FrameMoves {
    /// The number of frames of 4096 bytes that left the device.
    pub evicted: u64,
    /// The number of frames that came back to the device.
    pub fetched: u64,
    /// The number of times that a lane stopped because it needed a frame, or the place of a frame.
    pub waits: u64,
    /// The number of frames on the device now.
    pub resident: u64,
    /// The number of frames of `fetched` that no lane had asked for.
    pub prefetched: u64,
    /// The number of frames of `prefetched` that a lane used before they left again, as far as it is known.
    pub used: u64,
    /// The number of accesses of which a prefetcher has heard: those that waited for a frame, and first uses of prefetched frames.
    pub heard: u64,
    /// The number of windows of accesses about which the memory oracle was asked; 0 if another prefetcher names pages.
    #[serde(default)]
    pub asked: u64,
    /// The number of frames that went from the memory of the host to a file.
    #[serde(default)]
    pub to_file: u64,
    /// The number of frames of `fetched` that came from the file.
    #[serde(default)]
    pub from_file: u64,
}

impl FrameMoves {
    /// Returns the moves of these numbers of frames, and the number of waits. No frame was prefetched.
    #[must_use]
    pub const fn new(evicted: u64, fetched: u64, waits: u64) -> Self {
        Self {
            evicted,
            fetched,
            waits,
            resident: 0,
            prefetched: 0,
            used: 0,
            heard: 0,
            asked: 0,
            to_file: 0,
            from_file: 0,
        }
    }

    /// Returns the number of bytes of all frames that moved between device and host.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        (self.evicted + self.fetched) * crate::PAGE_BYTES as u64
    }

    /// Returns the sums of two reports.
    pub(crate) const fn plus(self, other: Self) -> Self {
        Self {
            evicted: self.evicted + other.evicted,
            fetched: self.fetched + other.fetched,
            waits: self.waits + other.waits,
            resident: self.resident + other.resident,
            prefetched: self.prefetched + other.prefetched,
            used: self.used + other.used,
            heard: self.heard + other.heard,
            asked: self.asked + other.asked,
            to_file: self.to_file + other.to_file,
            from_file: self.from_file + other.from_file,
        }
    }
}

impl fmt::Display for FrameMoves {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { evicted, fetched, waits, prefetched, used, to_file, from_file, .. } = self;
        write!(f, "{evicted} to the host, {fetched} to the device, {waits} waits")?;
        if *prefetched > 0 {
            write!(f, ", {prefetched} prefetched, {used} of them used")?;
        }
        if *to_file > 0 || *from_file > 0 {
            write!(f, ", {to_file} to the file, {from_file} from it")?;
        }
        Ok(())
    }
}
