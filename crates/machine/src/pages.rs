//! Pages and addresses.

use std::ops::Range;

/// Bytes of a page and of the frame that backs it.
pub const PAGE_BYTES: usize = 4096;
/// Low bits of an address that select a byte of its page.
pub(crate) const PAGE_SHIFT: u32 = 12;
/// Addresses have this many bits; anything higher is unmapped.
pub const ADDRESS_BITS: u32 = 48;

/// The bytes of a page.
pub(crate) type Frame = [u8; PAGE_BYTES];

/// The page of an address.
pub(crate) const fn page_of(address: u64) -> u64 {
    address >> PAGE_SHIFT
}

/// The pages that `bytes` bytes from `address` touch, with the range of bytes in each.
pub fn pieces(address: u64, bytes: usize) -> impl Iterator<Item = (u64, Range<usize>)> {
    let (mut at, mut left) = (address, bytes);
    std::iter::from_fn(move || {
        let offset = at as usize % PAGE_BYTES;
        let len = left.min(PAGE_BYTES - offset);
        let piece = (page_of(at), offset..offset + len);
        at = at.wrapping_add(len as u64);
        left -= len;
        (len > 0).then_some(piece)
    })
}
