//! Bit mask immediates.

/// The two masks of a bit field or logical immediate.
///
/// Twin: `kvrm_arm64::semantics::bitmask::BitMasks`.
struct BitMasks {
    /// Whether the masks exist. If not, the encoding is UNDEFINED, and both are zero.
    defined: bool,
    /// wmask: the rotated run of ones, which is the immediate of logical instructions.
    wmask: u64,
    /// tmask: the bits up to the top of a bit field.
    tmask: u64,
}

/// `DecodeBitMasks()` for 64 bits. A 32-bit instruction uses the low half.
///
/// `immediate` is set for logical immediates, whose elements must contain a zero.
///
/// Twin: `kvrm_arm64::semantics::bitmask::decode_bit_masks`.
fn decode_bit_masks(n: u32, imms: u32, immr: u32, immediate: bool) -> BitMasks {
    // The element size is 2^len, where len is the top set bit of N:NOT(imms).
    let sizes = (n << 6u) | (~imms & 0x3fu);
    if sizes < 2u {
        return BitMasks(false, 0lu, 0lu);
    }
    let len = 31u - countLeadingZeros(sizes);
    let levels = (1u << len) - 1u;
    if immediate && (imms & levels) == levels {
        return BitMasks(false, 0lu, 0lu);
    }
    let s = imms & levels;
    let r = immr & levels;
    let diff = (s - r) & levels;
    let esize = 1u << len;
    let welem = ones(s + 1u);
    // The shift to the left is modulo `esize`: without a rotation it is 0, not `esize`, which could be 64.
    let rotated = ((welem >> r) | (welem << ((esize - r) & levels))) & ones(esize);
    return BitMasks(true, replicate(rotated, esize), replicate(ones(diff + 1u), esize));
}

/// `Ones()`: returns a value with the low `count` bits set, for `count` from 1 to 64.
///
/// Twin: `kvrm_arm64::semantics::bitmask::ones`.
fn ones(count: u32) -> u64 {
    return 0xfffffffffffffffflu >> (64u - count);
}

/// `Replicate()`: repeats an element of `esize` bits, a power of two, over 64 bits.
///
/// Twin: `kvrm_arm64::semantics::bitmask::replicate`.
fn replicate(element: u64, esize: u32) -> u64 {
    var repeated = element;
    var size = esize;
    while size < 64u {
        repeated |= repeated << size;
        size *= 2u;
    }
    return repeated;
}
