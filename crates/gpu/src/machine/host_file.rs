//! The file that takes frames when the memory of the host is full.

use std::path::{Path, PathBuf};

use kvrm_machine::PAGE_BYTES;

use super::memory_limits::MemoryLimits;

/// The default size of the file, in multiples of the memory of the GPU.
const DEVICE_TIMES: u64 = 32;

/// A file for the frames of a machine that find no room in the memory of the host.
///
/// When a machine with [`MemoryLimits`] has filled its memory of the host, the frames that have been there for the longest time go
/// to the file, and come back when they are needed. Results are the same.
///
/// A file that exists is not changed: if there is one with this name, or if several machines have the same file, `NAME.1`, `NAME.2`
/// and so on are taken. The file is for its machine only: on Unix its name disappears as soon as it is open, on Windows when the
/// machine is dropped.
///
/// ```no_run
/// use kvrm_gpu::{GpuEngine, HostFile, MemoryLimits};
///
/// let file = HostFile::new("/scratch/frames").with_bytes(512 << 30);
/// let engine = GpuEngine::open(None)?.with_memory(MemoryLimits::new(16 << 30, 64 << 30)).with_host_file(file);
/// # Ok::<(), kvrm_machine::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostFile {
    path: PathBuf,
    bytes: Option<u64>,
}

impl HostFile {
    /// Returns a file that may become 32 times as large as the memory that the machine may take of the GPU.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), bytes: None }
    }

    /// Sets the largest size of the file in bytes.
    #[must_use]
    pub fn with_bytes(self, bytes: u64) -> Self {
        Self { bytes: Some(bytes), ..self }
    }

    /// Returns the name of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the largest size in bytes for a machine with these limits.
    ///
    /// ```
    /// use kvrm_gpu::{HostFile, MemoryLimits};
    ///
    /// let limits = MemoryLimits::new(1 << 30, 4 << 30);
    /// assert_eq!(HostFile::new("frames").bytes(limits), 32 << 30);
    /// assert_eq!(HostFile::new("frames").with_bytes(1 << 20).bytes(limits), 1 << 20);
    /// ```
    #[must_use]
    pub fn bytes(&self, limits: MemoryLimits) -> u64 {
        self.bytes.unwrap_or(limits.device.saturating_mul(DEVICE_TIMES))
    }

    /// Returns the largest number of frames in the file of a machine with these limits.
    pub(crate) fn frames(&self, limits: MemoryLimits) -> u64 {
        self.bytes(limits) / PAGE_BYTES as u64
    }
}
