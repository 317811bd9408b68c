//! The SIMD registers of the invocation's lane, and their elements.
//!
//! The registers stay in the state buffer: instructions on them take so long that the access to the buffer does not
//! matter, and lanes that do not use them pay nothing.

import package::arm64::bitmask::{ones};
import package::machine::layout::{COLUMN_V};
import package::machine::memory::{get_state, set_state};

/// The index of an instruction that is not by element: it pairs each element of the first operand with one of the
/// second.
const NO_INDEX = 0xffffffffu;

/// A SIMD register, or a part of one.
struct Vector {
    /// The lower half.
    low: u64,
    /// The upper half.
    high: u64,
}

/// `V[n]`.
fn get_v(which: u32) -> Vector {
    let column = COLUMN_V + 2u * (which & 31u);
    return Vector(get_state(column), get_state(column + 1u));
}

/// Sets `V[d]`.
fn set_v(which: u32, value: Vector) {
    let column = COLUMN_V + 2u * (which & 31u);
    set_state(column, value.low);
    set_state(column + 1u, value.high);
}

/// `Vpart[n, 0]` or, if `upper` is set, `Vpart[n, 1]`.
fn part_of(vector: Vector, upper: bool) -> Vector {
    return Vector(select(vector.low, vector.high, upper), 0lu);
}

/// Returns the vector whose lower half is `part` and whose upper half is zero, or, if `upper` is set, `old` with the
/// upper half `part`.
fn with_part(old: Vector, upper: bool, part: u64) -> Vector {
    return Vector(select(part, old.low, upper), select(0lu, part, upper));
}

/// `Elem[]`: returns an element of `esize` bits, 8 to 64.
fn elem(vector: Vector, index: u32, esize: u32) -> u64 {
    let position = index * esize;
    let half = select(vector.low, vector.high, (position & 64u) != 0u);
    return (half >> (position & 63u)) & ones(esize);
}

/// Returns the vector with an element set. The element has to be zero before.
fn with_elem(vector: Vector, index: u32, esize: u32, value: u64) -> Vector {
    let position = index * esize;
    let placed = (value & ones(esize)) << (position & 63u);
    let upper = (position & 64u) != 0u;
    return Vector(vector.low | select(placed, 0lu, upper), vector.high | select(0lu, placed, upper));
}

/// Returns the vector with an element set to zero.
fn without_elem(vector: Vector, index: u32, esize: u32) -> Vector {
    let mask = with_elem(Vector(0lu, 0lu), index, esize, 0xfffffffffffffffflu);
    return Vector(vector.low & ~mask.low, vector.high & ~mask.high);
}

/// Returns the register of the second operand, and the index of its element if the instruction is by element, or else
/// `NO_INDEX`.
fn second_operand(word: u32, esize: u32) -> vec2<u32> {
    let rm = (word >> 16u) & 31u;
    if ((word >> 24u) & 1u) == 0u || ((word >> 10u) & 1u) == 1u {
        return vec2<u32>(rm, NO_INDEX);
    }
    let h = (word >> 11u) & 1u;
    let l = (word >> 21u) & 1u;
    let m = (word >> 20u) & 1u;
    switch esize {
        case 16u: { return vec2<u32>(rm & 15u, (h << 2u) | (l << 1u) | m); }
        case 32u: { return vec2<u32>(rm, (h << 1u) | l); }
        default: { return vec2<u32>(rm, h); }
    }
}

/// Returns the binary logarithm of the size of an element in bytes, as encoded in immh.
fn immh_size(word: u32) -> u32 {
    return 31u - countLeadingZeros((word >> 19u) & 15u);
}

/// Returns the number of bits of the floating-point numbers of an instruction: those of half precision if it is one of
/// `FEAT_FP16`, and else by the field sz.
fn number_size(word: u32) -> u32 {
    var is_half = false;
    if (word & 0x50000000u) == 0x10000000u {
        is_half = ((word >> 22u) & 3u) == 3u;
    } else if ((word >> 24u) & 1u) == 1u {
        is_half = (word & 0x00800400u) == 0u;
    } else if ((word >> 10u) & 1u) == 1u {
        is_half = ((word >> 21u) & 1u) == 0u;
    } else {
        let kind = (word >> 17u) & 31u;
        is_half = kind == 28u || (kind == 24u && ((word >> 29u) & 1u) == 0u);
    }
    return select(32u << ((word >> 22u) & 1u), 16u, is_half);
}
