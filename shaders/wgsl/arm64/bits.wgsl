//! Bit reversal, byte reversal and counting.

import package::wide::{leading_zeros, swap_bytes};

/// Returns a value with its bits in reverse order.
///
/// Twin: `kvrm_arm64::semantics::bits::reverse_bits`.
fn reverse_bits(value: u64) -> u64 {
    return (u64(reverseBits(u32(value))) << 32u) | u64(reverseBits(u32(value >> 32u)));
}

/// `Reverse()`: reverses the order of bytes in each container of 16, 32 or 64 bits.
///
/// Twin: `kvrm_arm64::semantics::bits::reverse_bytes`.
fn reverse_bytes(value: u64, container: u32) -> u64 {
    switch container {
        case 16u: { return ((value & 0x00ff00ff00ff00fflu) << 8u) | ((value >> 8u) & 0x00ff00ff00ff00fflu); }
        case 32u: {
            let swapped = swap_bytes(value);
            return (swapped >> 32u) | (swapped << 32u);
        }
        default: { return swap_bytes(value); }
    }
}

/// `CountLeadingZeroBits()` of a `datasize`-bit value.
///
/// Twin: `kvrm_arm64::semantics::bits::count_leading_zero_bits`.
fn count_leading_zero_bits(value: u64, datasize: u32) -> u32 {
    return leading_zeros(value) - (64u - datasize);
}

/// `CountLeadingSignBits()`: counts the consecutive bits below the top one that equal it.
///
/// Twin: `kvrm_arm64::semantics::bits::count_leading_sign_bits`.
fn count_leading_sign_bits(value: u64, datasize: u32) -> u32 {
    // A bit is set where a bit of the value differs from the next higher one; bit datasize - 2 is for the top pair.
    let changes = ((value >> 1u) ^ value) & (0xfffffffffffffffflu >> (65u - datasize));
    return count_leading_zero_bits(changes, datasize) - 1u;
}
