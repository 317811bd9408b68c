//! System calls that lock pages in memory. The pages of a lane never leave memory, so the calls only check their arguments.

use super::call::Call;
use super::errno::{EINVAL, ENOMEM};
use super::failure::CallResult;
use super::page_ranges::pages;
use crate::pages::PAGE_BYTES;

/// `mlock` and `munlock`: checks that a range of memory, which begins anywhere in a page, is mapped.
pub(super) fn check_mapped(call: &mut Call<'_>) -> CallResult {
    const PAGE: u64 = PAGE_BYTES as u64;
    let [address, bytes, ..] = call.x;
    let within = address % PAGE;
    // As on Linux, the size may overflow.
    let bytes = bytes.wrapping_add(within + PAGE - 1) & !(PAGE - 1);
    let start = address - within;
    if bytes == 0 {
        return Ok(0);
    }
    start.checked_add(bytes).ok_or(EINVAL)?;
    let range = pages(start, bytes).ok_or(ENOMEM)?;
    if call.guest.page_map()?.covers(range) { Ok(0) } else { Err(ENOMEM.into()) }
}

pub(super) fn mlock2(call: &mut Call<'_>) -> CallResult {
    const MLOCK_ONFAULT: u32 = 1;
    if call.x[2] as u32 & !MLOCK_ONFAULT != 0 {
        return Err(EINVAL.into());
    }
    check_mapped(call)
}

pub(super) fn mlockall(call: &mut Call<'_>) -> CallResult {
    const MCL_ALL: u32 = 7;
    const MCL_ONFAULT: u32 = 4;
    match call.x[0] as u32 {
        0 | MCL_ONFAULT => Err(EINVAL.into()),
        flags if flags & !MCL_ALL != 0 => Err(EINVAL.into()),
        _ => Ok(0),
    }
}
