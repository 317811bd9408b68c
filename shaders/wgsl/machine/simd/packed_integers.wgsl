//! Common instructions on integers, computed for all elements of a word at once.
//!
//! String functions have most of them. Other instructions are computed one element after the other (`integers`).

import package::arm64::bitmask::{ones};
import package::machine::micro_op::{
    get_accumulate, get_element, get_form, get_rounding, get_saturation, get_sizing, get_unsigned, get_zero,
};
import package::machine::simd::packed::{
    each_one, packed_add, packed_at_least, packed_is_zero, packed_mask, packed_narrow, packed_subtract,
};
import package::machine::simd::registers::{Vector, with_part};
import package::machine::vector_op::{
    ACCUMULATE_NOT, ELEMENT_ADD, ELEMENT_AND, ELEMENT_BIC, ELEMENT_BIF, ELEMENT_BIT, ELEMENT_BSL, ELEMENT_EOR,
    ELEMENT_EQUAL, ELEMENT_GREATER, ELEMENT_GREATER_OR_EQUAL, ELEMENT_LESS, ELEMENT_LESS_OR_EQUAL, ELEMENT_MAXIMUM,
    ELEMENT_MINIMUM, ELEMENT_MOVE, ELEMENT_NEGATE, ELEMENT_NOT, ELEMENT_ORN, ELEMENT_ORR, ELEMENT_SHIFT_LEFT,
    ELEMENT_SHIFT_RIGHT, ELEMENT_SUBTRACT, ELEMENT_TEST, FORM_NARROW, FORM_PAIRED, FORM_SAME, SATURATION_NOT,
    SIZING_SZ,
};

/// Whether `packed_integers` computes an instruction with elements of `esize` bits.
fn is_packed(op: vec4<u32>, esize: u32) -> bool {
    let p = op.y;
    if get_saturation(p) != SATURATION_NOT || get_rounding(p) == 1u || get_accumulate(p) != ACCUMULATE_NOT {
        return false;
    }
    let is_scalar = ((op.z >> 28u) & 1u) == 1u;
    let element = get_element(p);
    switch get_form(p) {
        case FORM_SAME: {
            // A scalar of less than 64 bits is the lowest element.
            if is_scalar && (esize < 64u || get_sizing(p) == SIZING_SZ) {
                return false;
            }
        }
        case FORM_PAIRED: {
            if is_scalar || esize == 64u {
                return false;
            }
        }
        case FORM_NARROW: { return element == ELEMENT_MOVE || element == ELEMENT_SHIFT_RIGHT; }
        default: { return false; }
    }
    // The operations of `packed_element`.
    switch element {
        case ELEMENT_MOVE, ELEMENT_AND, ELEMENT_BIC, ELEMENT_ORR, ELEMENT_ORN, ELEMENT_EOR, ELEMENT_BSL, ELEMENT_BIT,
            ELEMENT_BIF, ELEMENT_NOT, ELEMENT_ADD, ELEMENT_SUBTRACT, ELEMENT_NEGATE, ELEMENT_EQUAL, ELEMENT_TEST,
            ELEMENT_GREATER, ELEMENT_GREATER_OR_EQUAL, ELEMENT_LESS, ELEMENT_LESS_OR_EQUAL, ELEMENT_MAXIMUM,
            ELEMENT_MINIMUM, ELEMENT_SHIFT_LEFT, ELEMENT_SHIFT_RIGHT: { return true; }
        default: { return false; }
    }
}

/// Returns the elements with even numbers of two words, those of `a` first. They have at most 32 bits.
fn evens(a: u64, b: u64, esize: u32) -> u64 {
    let kept = each_one(2u * esize) * ones(esize);
    return packed_narrow(a & kept, esize) | (packed_narrow(b & kept, esize) << 32u);
}

/// Returns the value of Vd from Vn, Vm and Vd, for an instruction that `is_packed`.
fn packed_integers(op: vec4<u32>, n: Vector, m: Vector, d: Vector, esize: u32) -> Vector {
    let form = get_form(op.y);
    let q = ((op.z >> 30u) & 1u) == 1u;
    if form == FORM_NARROW {
        // The bits behind those that remain may be of the next element.
        let shift = select(0u, 2u * esize - ((op.z >> 16u) & 127u), get_element(op.y) == ELEMENT_SHIFT_RIGHT);
        return with_part(d, q, evens(n.low >> shift, n.high >> shift, esize));
    }
    var first = n;
    var second = m;
    if form == FORM_PAIRED {
        // The pairs of Vn come first, then those of Vm. If they have 64 bits, a word has the pairs of both.
        let behind = select(m.low, n.high, q);
        first = Vector(evens(n.low, behind, esize), evens(m.low, m.high, esize));
        second = Vector(
            evens(n.low >> esize, behind >> esize, esize), evens(m.low >> esize, m.high >> esize, esize)
        );
    }
    var result = Vector(packed_element(op, first.low, second.low, d.low, esize), 0lu);
    if q && ((op.z >> 28u) & 1u) == 0u {
        result.high = packed_element(op, first.high, second.high, d.high, esize);
    }
    return result;
}

/// Returns the result of an operation on all elements of a word. `is_packed` has the list of operations.
fn packed_element(op: vec4<u32>, n: u64, m_before: u64, d: u64, esize: u32) -> u64 {
    let element = get_element(op.y);
    let each = each_one(esize);
    let high = each << (esize - 1u);
    let m = select(m_before, 0lu, get_zero(op.y) == 1u);
    let amount = (op.z >> 16u) & 127u;
    let unsigned = get_unsigned(op.y) == 1u;
    switch element {
        case ELEMENT_AND: { return n & m; }
        case ELEMENT_BIC: { return n & ~m; }
        case ELEMENT_ORR: { return n | m; }
        case ELEMENT_ORN: { return n | ~m; }
        case ELEMENT_EOR: { return n ^ m; }
        case ELEMENT_BSL: { return m ^ ((n ^ m) & d); }
        case ELEMENT_BIT: { return d ^ ((n ^ d) & m); }
        case ELEMENT_BIF: { return d ^ ((n ^ d) & ~m); }
        case ELEMENT_NOT: { return ~n; }
        case ELEMENT_ADD: { return packed_add(n, m, high); }
        case ELEMENT_SUBTRACT: { return packed_subtract(n, m, high); }
        case ELEMENT_NEGATE: { return packed_subtract(0lu, n, high); }
        case ELEMENT_EQUAL: { return packed_is_zero(n ^ m, high, esize); }
        case ELEMENT_TEST: { return ~packed_is_zero(n & m, high, esize); }
        case ELEMENT_SHIFT_LEFT: {
            let shift = amount - esize;
            return (n << shift) & (each * ((ones(esize) << shift) & ones(esize)));
        }
        case ELEMENT_SHIFT_RIGHT: {
            let shift = 2u * esize - amount;
            // A shift by 64 has no effect.
            let kept = each * select(ones(esize) >> (shift & 63u), 0lu, shift == esize);
            let signs = packed_mask(n & high, esize) & ~kept;
            return ((n >> (shift & 63u)) & kept) | select(signs, 0lu, unsigned);
        }
        case ELEMENT_MOVE: { return n; }
        default: {
            // Signed elements are compared as unsigned ones whose highest bit is inverted.
            let inverted = select(high, 0lu, unsigned);
            let is_swapped = element == ELEMENT_GREATER || element == ELEMENT_LESS_OR_EQUAL;
            let a = select(n, m, is_swapped) ^ inverted;
            let b = select(m, n, is_swapped) ^ inverted;
            let at_least = packed_at_least(a, b, high, esize);
            switch element {
                case ELEMENT_MAXIMUM: { return m ^ ((n ^ m) & at_least); }
                case ELEMENT_MINIMUM: { return n ^ ((n ^ m) & at_least); }
                case ELEMENT_GREATER, ELEMENT_LESS: { return ~at_least; }
                default: { return at_least; }
            }
        }
    }
}
