//! Bit mask immediates from their values.

use crate::semantics::bitmask::decode_bit_masks;
use crate::semantics::truncate;

/// Returns N:immr:imms of a bit mask immediate of `datasize` bits, or `None` if `value` is not one. A 32-bit value may
/// be zero- or sign-extended.
#[must_use]
pub fn encode_bit_mask(value: u64, datasize: u32) -> Option<u32> {
    if datasize == 32 && !fits_word(value as i64) {
        return None;
    }
    (0..1 << 13).find(|raw| {
        let (n, immr, imms) = (raw >> 12, raw >> 6 & 0x3f, raw & 0x3f);
        let masks = decode_bit_masks(n, imms, immr, true).filter(|_| datasize == 64 || n == 0);
        masks.is_some_and(|masks| truncate(masks.wmask, datasize) == truncate(value, datasize))
    })
}

/// Whether a number fits 32 bits, as an unsigned or as a signed number.
pub(super) fn fits_word(value: i64) -> bool {
    u32::try_from(value).is_ok() || i32::try_from(value).is_ok()
}
