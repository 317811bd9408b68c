//! What calls are likely to read and to print, so that many can be served together.

use super::guest::TRANSFER_BYTES_MAX;
use super::table::find;

/// Memory that a call with these arguments will likely read, to be fetched for many lanes at once: what is written, or
/// a path.
pub(crate) fn ranges(number: u64, x: [u64; 3]) -> Option<(u64, usize)> {
    /// Most paths are shorter.
    const PATH_BYTES: usize = 64;
    /// More than this is fetched when it is needed.
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

/// How many bytes a call with these arguments may have to show at the end, roughly.
pub(crate) fn shown_bytes(number: u64, x: [u64; 3]) -> u64 {
    match find(u64::from(number as u32)).map_or("", |call| call.name) {
        "write" => x[2].min(TRANSFER_BYTES_MAX),
        "writev" | "sendfile" => 1 << 20,
        _ => 0,
    }
}
