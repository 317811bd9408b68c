//! The pages of the ranges of memory that calls name.

use std::ops::Range;

use super::errno::{EINVAL, ENOMEM};
use super::failure::Failure;
use crate::pages::{ADDRESS_BITS, PAGE_BYTES, PAGE_SHIFT};

const PAGE: u64 = PAGE_BYTES as u64;

/// Returns the pages of a range: its address has to be page aligned, its size is rounded up to whole pages.
pub(super) fn pages(address: u64, bytes: u64) -> Option<Range<u64>> {
    let end = address.checked_add(bytes)?.checked_next_multiple_of(PAGE)?;
    let is_there = address.is_multiple_of(PAGE) && bytes > 0 && end <= 1 << ADDRESS_BITS;
    is_there.then_some(address >> PAGE_SHIFT..end >> PAGE_SHIFT)
}

/// Returns the pages of a range that a call names, which may be empty.
///
/// # Errors
/// `EINVAL` if it does not begin at a page, `ENOMEM` if it leaves the address space.
pub(super) fn pages_of_call(address: u64, bytes: u64) -> Result<Range<u64>, Failure> {
    if !address.is_multiple_of(PAGE) {
        return Err(EINVAL.into());
    }
    if bytes == 0 {
        return Ok(address >> PAGE_SHIFT..address >> PAGE_SHIFT);
    }
    Ok(pages(address, bytes).ok_or(ENOMEM)?)
}
