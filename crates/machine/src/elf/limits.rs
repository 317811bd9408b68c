//! The base address and the limits of the loader.

/// The address at which address 0 of a position independent program is loaded.
///
/// It satisfies any segment alignment up to 256 MiB.
pub const PIE_BASE: u64 = 0x1000_0000;

/// The limit on the memory of all segments together, in bytes: 64 GiB.
pub const MEMORY_LIMIT: u64 = 64 << 30;

/// The number of bytes by which all `data` together may exceed the size of the file: 16 MiB.
pub const DATA_SLACK: u64 = 16 << 20;
