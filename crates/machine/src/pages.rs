//! The size of pages and addresses.

use std::ops::Range;

/// The size of a page, and of the frame behind it, in bytes.
pub const PAGE_BYTES: usize = 4096;
/// The number of low address bits that select a byte within its page.
pub(crate) const PAGE_SHIFT: u32 = 12;
/// The number of bits of a guest address. Addresses with higher bits set are never mapped.
pub const ADDRESS_BITS: u32 = 48;

/// The bytes of a frame.
pub(crate) type Frame = [u8; PAGE_BYTES];

/// Returns the number of the page that contains an address.
pub(crate) const fn page_of(address: u64) -> u64 {
    address >> PAGE_SHIFT
}

/// Returns the pages that the `bytes` bytes at `address` touch: the number of each page, and the range within it.
///
/// ```
/// let pieces: Vec<_> = kvrm_machine::pieces(0x1ffe, 4).collect();
/// assert_eq!(pieces, [(1, 0xffe..0x1000), (2, 0..2)]);
/// ```
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
