//! What the loader accepts.

/// How far a position independent program is moved up: where its address 0 comes to lie.
///
/// It is a multiple of any alignment that a segment may ask for up to 256 MiB.
pub const PIE_BASE: u64 = 0x1000_0000;

/// How many bytes of memory all segments may take together: 64 GiB.
pub const MEMORY_LIMIT: u64 = 64 << 30;

/// How much longer than the file all `data` may be together: 16 MiB.
pub const DATA_SLACK: u64 = 16 << 20;
