//! Bit mask immediates.

/// The two masks of a bit field or logical immediate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BitMasks {
    /// The rotated run of ones; the immediate of logical instructions.
    pub wmask: u64,
    /// The bits from 0 to the top of a bit field.
    pub tmask: u64,
}

/// `DecodeBitMasks()` for 64 bits; a 32-bit instruction uses the low half. Returns `None` for an UNDEFINED encoding.
///
/// `immediate` is set for logical immediates, which must have at least one zero in each element.
#[must_use]
#[inline]
pub const fn decode_bit_masks(n: u32, imms: u32, immr: u32, immediate: bool) -> Option<BitMasks> {
    // The element size is 2^len, where len is the top set bit of N:NOT(imms).
    let sizes = n << 6 | (!imms & 0x3f);
    if sizes < 2 {
        return None;
    }
    let len = 31 - sizes.leading_zeros();
    let levels = (1 << len) - 1;
    if immediate && imms & levels == levels {
        return None;
    }
    let (s, r) = (imms & levels, immr & levels);
    let diff = s.wrapping_sub(r) & levels;
    let esize = 1 << len;
    let welem = ones(s + 1);
    let rotated = if r == 0 { welem } else { (welem >> r | welem << (esize - r)) & ones(esize) };
    Some(BitMasks { wmask: replicate(rotated, esize), tmask: replicate(ones(diff + 1), esize) })
}

/// `Ones()`: returns a number whose low `count` bits are set, for `count` from 1 to 64.
#[must_use]
#[inline]
pub const fn ones(count: u32) -> u64 {
    u64::MAX >> (64 - count)
}

/// `Replicate()`: repeats an element of `esize` bits, a power of two, over 64 bits.
#[must_use]
#[inline]
pub const fn replicate(element: u64, esize: u32) -> u64 {
    let (mut repeated, mut size) = (element, esize);
    while size < 64 {
        repeated |= repeated << size;
        size *= 2;
    }
    repeated
}
