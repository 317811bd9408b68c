//! Estimates of what a system call reads and prints, so that calls of many lanes can be served together.

use super::guest::TRANSFER_BYTES_MAX;
use super::table::find;

/// Returns the address and size of the memory that a call is likely to read: data to write, or a path.
///
/// The executor fetches these ranges for many lanes in one transfer. `x` holds the arguments X0 to X2.
pub(crate) fn memory_to_read(number: u64, x: [u64; 3]) -> Option<(u64, usize)> {
    /// Bytes fetched for a path; most paths are shorter.
    const PATH_BYTES: usize = 64;
    /// The largest amount fetched in advance; the rest is fetched when the call is served.
    const WRITE_BYTES_MAX: u64 = 1 << 16;
    match find(u64::from(number as u32))?.name {
        "write" | "pwrite64" => Some((x[1], x[2].min(WRITE_BYTES_MAX) as usize)),
        "writev" => Some((x[1], 16 * x[2].min(16) as usize)),
        "openat" | "newfstatat" | "readlinkat" | "faccessat" | "statx" | "unlinkat" => {
            Some((x[1], PATH_BYTES))
        }
        _ => None,
    }
}

/// Returns roughly how many bytes of console output a call may produce. `x` holds the arguments X0 to X2.
pub(crate) fn shown_bytes(number: u64, x: [u64; 3]) -> u64 {
    match find(u64::from(number as u32)).map_or("", |call| call.name) {
        "write" => x[2].min(TRANSFER_BYTES_MAX),
        "writev" | "sendfile" => 1 << 20,
        _ => 0,
    }
}
