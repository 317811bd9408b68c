//! Operations on all elements of a word at once, for instructions that are common in regions.
//!
//! `high` is the highest bit of each element.

/// Returns a word in which each element of `esize` bits is 1.
fn each_one(esize: u32) -> u64 {
    let halves = 0x100000001lu >> select(0u, 32u, esize == 64u);
    let quarters = halves | select(0lu, halves << 16u, esize <= 16u);
    return quarters | select(0lu, quarters << 8u, esize == 8u);
}

/// Returns the sums of elements.
fn packed_add(a: u64, b: u64, high: u64) -> u64 {
    return ((a & ~high) + (b & ~high)) ^ ((a ^ b) & high);
}

/// Returns the differences of elements.
fn packed_subtract(a: u64, b: u64, high: u64) -> u64 {
    return ((a | high) - (b & ~high)) ^ ((a ^ ~b) & high);
}

/// Returns all ones for each element of `esize` bits whose highest bit is set in `chosen`, which has no other bits.
fn packed_mask(chosen: u64, esize: u32) -> u64 {
    return (chosen << 1u) - (chosen >> (esize - 1u));
}

/// Returns all ones for each element that is zero.
fn packed_is_zero(a: u64, high: u64, esize: u32) -> u64 {
    return packed_mask(~(((a & ~high) + ~high) | a) & high, esize);
}

/// Returns all ones for each unsigned element of `a` that is greater than that of `b`, or equal.
fn packed_at_least(a: u64, b: u64, high: u64, esize: u32) -> u64 {
    let borrows = (~a & b) | (~(a ^ b) & packed_subtract(a, b, high));
    return packed_mask(~borrows & high, esize);
}

/// Returns the greater, or the smaller, of each two unsigned elements.
fn packed_extremum(a: u64, b: u64, high: u64, esize: u32, is_maximum: bool) -> u64 {
    let is_first = packed_at_least(a, b, high, esize);
    return b ^ ((a ^ b) & select(~is_first, is_first, is_maximum));
}

/// Returns the lower halves of double elements, whose upper halves are zero, one behind the other.
fn packed_narrow(a: u64, esize: u32) -> u64 {
    var value = a;
    if esize <= 8u {
        value = (value | (value >> 8u)) & 0x0000ffff0000fffflu;
    }
    if esize <= 16u {
        value = (value | (value >> 16u)) & 0xfffffffflu;
    }
    return value;
}

/// Returns the elements of the lower 32 bits, each extended with zeros to twice its size.
fn packed_widen(a: u64, esize: u32) -> u64 {
    var value = a & 0xfffffffflu;
    if esize <= 16u {
        value = (value | (value << 16u)) & 0x0000ffff0000fffflu;
    }
    if esize <= 8u {
        value = (value | (value << 8u)) & 0x00ff00ff00ff00fflu;
    }
    return value;
}
