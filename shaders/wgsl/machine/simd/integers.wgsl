//! Arithmetic on elements that are integers, and bitwise operations.

import package::arm64::bitmask::{ones};
import package::arm64::bits::{count_leading_sign_bits, count_leading_zero_bits, reverse_bits};
import package::arm64::constants::{FPSR_QC};
import package::arm64::numbers::{sign_extend};
import package::machine::layout::{COLUMN_FPCR};
import package::machine::memory::{effort, get_state, set_state};
import package::machine::micro_op::{
    get_accumulate, get_element, get_form, get_rounding, get_saturation, get_sizing, get_unsigned, get_zero,
};
import package::machine::simd::packed_integers::{is_packed, packed_integers};
import package::machine::simd::registers::{
    NO_INDEX, Vector, elem, get_v, immh_size, number_size, part_of, second_operand, set_v, with_elem,
    with_part,
};
import package::machine::vector_op::{
    ACCUMULATE_ADD, ACCUMULATE_NOT, ELEMENT_ABSOLUTE, ELEMENT_ABSOLUTE_DIFFERENCE, ELEMENT_ADD, ELEMENT_AND,
    ELEMENT_BIC, ELEMENT_BIF, ELEMENT_BIT, ELEMENT_BSL, ELEMENT_COUNT, ELEMENT_DOUBLING_HIGH,
    ELEMENT_DOUBLING_HIGH_ADD, ELEMENT_DOUBLING_HIGH_SUBTRACT, ELEMENT_DOUBLING_MULTIPLY, ELEMENT_EOR,
    ELEMENT_EQUAL, ELEMENT_FLOAT_ABSOLUTE, ELEMENT_FLOAT_NEGATE, ELEMENT_GREATER, ELEMENT_GREATER_OR_EQUAL,
    ELEMENT_HALVING_ADD, ELEMENT_HALVING_SUBTRACT, ELEMENT_LEADING_SIGNS, ELEMENT_LEADING_ZEROS, ELEMENT_LESS,
    ELEMENT_LESS_OR_EQUAL, ELEMENT_MAXIMUM, ELEMENT_MINIMUM, ELEMENT_MULTIPLY, ELEMENT_NEGATE, ELEMENT_NOT,
    ELEMENT_ORN, ELEMENT_ORR, ELEMENT_POLYNOMIAL_MULTIPLY, ELEMENT_REVERSE_BITS, ELEMENT_SHIFT,
    ELEMENT_SHIFT_LEFT, ELEMENT_SHIFT_LEFT_BY_SIZE, ELEMENT_SHIFT_LEFT_INSERT, ELEMENT_SHIFT_RIGHT,
    ELEMENT_SHIFT_RIGHT_INSERT, ELEMENT_SUBTRACT, ELEMENT_TEST, FORM_ACROSS, FORM_ACROSS_LONG, FORM_DOT,
    FORM_LONG, FORM_MATRIX, FORM_NARROW, FORM_NARROW_HIGH, FORM_PAIRED, FORM_PAIRED_LONG, FORM_WIDE,
    SATURATION_NOT, SATURATION_UNSIGNED, SIZING_BYTES, SIZING_IMMH, SIZING_SIZE, SIZING_SZ,
};

/// An integer of 128 bits in two's complement. No intermediate result overflows it.
struct Integer {
    /// The lower half.
    low: u64,
    /// The upper half.
    high: u64,
}

/// Returns the upper half of an `Integer` with the lower half `low`, sign- or zero-extended.
fn extension(low: u64, unsigned: bool) -> u64 {
    return select(u64(i64(low) >> 63u), 0lu, unsigned);
}

/// Returns the sum.
fn sum_of(a: Integer, b: Integer) -> Integer {
    let low = a.low + b.low;
    return Integer(low, a.high + b.high + select(0lu, 1lu, low < a.low));
}

/// Returns the difference.
fn difference_of(a: Integer, b: Integer) -> Integer {
    return Integer(a.low - b.low, a.high - b.high - select(0lu, 1lu, a.low < b.low));
}

/// Returns the integer times 2^`amount`, for an amount below 64.
fn shifted_left(a: Integer, amount: u32) -> Integer {
    // Two shifts, because one shift by 64 would have no effect.
    return Integer(a.low << amount, (a.high << amount) | ((a.low >> 1u) >> (63u - amount)));
}

/// Returns an integer of 64 bits divided by 2^`amount`, rounded to the nearest or down.
fn shifted_right(a: u64, amount: u32, unsigned: bool, rounding: bool) -> Integer {
    let sign = extension(a, unsigned);
    var low = a;
    var half = 0lu;
    if amount != 0u {
        half = select(sign, select(u64(i64(a) >> ((amount - 1u) & 63u)), a >> ((amount - 1u) & 63u), unsigned), amount <= 64u);
        low = select(sign, select(u64(i64(a) >> (amount & 63u)), a >> (amount & 63u), unsigned), amount < 64u);
    }
    let quotient = Integer(low, sign);
    return sum_of(quotient, Integer(select(0lu, half & 1lu, rounding), 0lu));
}

/// `SatQ()`: returns the nearest integer of `n` bits in the lower half. The upper half is 1 if the value was saturated.
fn sat_q(value: Integer, n: u32, unsigned: bool) -> Integer {
    let negative = (value.high >> 63u) == 1lu;
    if unsigned {
        if negative {
            return Integer(0lu, 1lu);
        }
        let fits = value.high == 0lu && value.low <= ones(n);
        return Integer(select(ones(n), value.low, fits), select(1lu, 0lu, fits));
    }
    let cut = sign_extend(value.low, n);
    let fits = cut == value.low && extension(cut, false) == value.high;
    let nearest = select(ones(n - 1u), 1lu << (n - 1u), negative);
    return Integer(select(nearest, value.low & ones(n), fits), select(1lu, 0lu, fits));
}

/// Returns all ones if a condition holds, and else zero.
fn all_ones(holds: bool) -> u64 {
    return select(0lu, 0xfffffffffffffffflu, holds);
}

/// Returns the carry-less product of two polynomials, whose coefficients are the lowest `bits` bits of numbers.
fn polynomial_product(a: u64, b: u64, bits: u32) -> Integer {
    var product = Integer(0lu, 0lu);
    for (var bit = 0u; bit < bits; bit += 1u) {
        let term = shifted_left(Integer(b, 0lu), bit);
        let mask = 0lu - ((a >> bit) & 1lu);
        product = Integer(product.low ^ (term.low & mask), product.high ^ (term.high & mask));
    }
    effort += bits;
    return product;
}

/// Returns a value shifted left by a signed byte, or right if the byte is negative.
fn shifted_by(value: u64, amount_byte: u64, esize: u32, unsigned: bool, rounding: bool) -> Integer {
    let amount = i32(u32(amount_byte) << 24u) >> 24u;
    if amount < 0i {
        return shifted_right(value, u32(-amount), unsigned, rounding);
    }
    let whole = Integer(value, extension(value, unsigned));
    if u32(amount) >= esize {
        // No bit of the element remains, but the sign of the result decides how it saturates.
        return Integer(0lu, select(0lu, select(1lu << 40u, whole.high << 40u, whole.high != 0lu), value != 0lu));
    }
    return shifted_left(whole, u32(amount));
}

/// Sets FPSR.QC, which records that an instruction saturated.
fn set_qc() {
    set_state(COLUMN_FPCR, get_state(COLUMN_FPCR) | (u64(FPSR_QC) << 32u));
}

/// Returns the size of the elements of an instruction on integers.
fn integer_size(op: vec4<u32>) -> u32 {
    switch get_sizing(op.y) {
        case SIZING_SIZE: { return 8u << ((op.z >> 22u) & 3u); }
        case SIZING_IMMH: { return 8u << immh_size(op.z); }
        case SIZING_SZ: { return number_size(op.z); }
        case SIZING_BYTES: { return 8u; }
        default: { return 64u; }
    }
}

/// Executes an instruction on integers.
fn compute_integers(op: vec4<u32>) {
    let rd = op.z & 31u;
    let esize = integer_size(op);
    let n = get_v((op.z >> 5u) & 31u);
    let m = get_v(second_operand(op.z, esize).x);
    if is_packed(op, esize) {
        set_v(rd, packed_integers(op, n, m, get_v(rd), esize));
        return;
    }
    let result = integers(op, n, m, get_v(rd));
    set_v(rd, result.value);
    if result.saturated {
        set_qc();
    }
}

/// The result of an instruction on integers.
struct Integers {
    /// The new value of Vd.
    value: Vector,
    /// Whether an element was saturated.
    saturated: bool,
}

/// Returns the words of Vd plus dot products of bytes of Vn and Vm, or plus the product of two matrices of bytes.
fn dot_products(op: vec4<u32>, n: Vector, m: Vector, d: Vector) -> Vector {
    let word = op.z;
    let is_matrix = get_form(op.y) == FORM_MATRIX;
    let signs = get_element(op.y);
    let length = select(4u, 8u, is_matrix);
    let index = (((word >> 11u) & 1u) << 1u) | ((word >> 21u) & 1u);
    let is_indexed = ((word >> 24u) & 1u) == 1u;
    var result = Vector(0lu, 0lu);
    let count = 2u << ((word >> 30u) & 1u);
    for (var e = 0u; e < count; e += 1u) {
        var first = 4u * e;
        var second = 4u * select(e, index, is_indexed);
        if is_matrix {
            first = 8u * (e >> 1u);
            second = 8u * (e & 1u);
        }
        var sum = u32(elem(d, e, 32u));
        for (var k = 0u; k < length; k += 1u) {
            let a = u32(elem(n, first + k, 8u));
            let b = u32(elem(m, second + k, 8u));
            // A byte with its sign is less by 256 if its highest bit is set.
            let a_signed = a - (((a >> 7u) << 8u) & (0u - (1u - (signs & 1u))));
            let b_signed = b - (((b >> 7u) << 8u) & (0u - (1u - (signs >> 1u))));
            sum += a_signed * b_signed;
        }
        result = with_elem(result, e, 32u, u64(sum));
    }
    effort += 32u;
    return result;
}

/// Returns the result of an instruction on integers, from Vn, Vm and Vd.
fn integers(op: vec4<u32>, n_before: Vector, m_before: Vector, d: Vector) -> Integers {
    let p = op.y;
    let word = op.z;
    let form = get_form(p);
    if form >= FORM_DOT {
        return Integers(dot_products(op, n_before, m_before, d), false);
    }
    let element = get_element(p);
    let unsigned = get_unsigned(p) == 1u;
    let rounding = get_rounding(p) == 1u;
    let saturation = get_saturation(p);
    let accumulate = get_accumulate(p);
    let is_scalar = ((word >> 28u) & 1u) == 1u;
    let q = (word >> 30u) & 1u;
    let upper = q == 1u && !is_scalar;

    let esize = integer_size(op);
    let is_across = form == FORM_ACROSS || form == FORM_ACROSS_LONG;
    let is_narrow = form == FORM_NARROW || form == FORM_NARROW_HIGH;
    let doubles_n = form == FORM_WIDE || is_narrow;
    let doubles_d = form == FORM_LONG || form == FORM_WIDE || form == FORM_PAIRED_LONG || form == FORM_ACROSS_LONG;
    let n_size = esize << u32(doubles_n);
    let m_size = esize << u32(form == FORM_NARROW_HIGH);
    let d_size = esize << u32(doubles_d);
    let all = (64u << q) / esize;
    var count = all;
    if is_scalar {
        count = 1u;
    } else if form == FORM_PAIRED_LONG {
        count = all / 2u;
    } else if form == FORM_LONG || doubles_n {
        count = 64u / esize;
    }
    effort += 2u * count;

    var n = n_before;
    if form == FORM_LONG {
        n = part_of(n, upper);
    }
    let second = second_operand(word, esize);
    var m = m_before;
    if second.y == NO_INDEX && (form == FORM_LONG || form == FORM_WIDE) {
        m = part_of(m, upper);
    }

    let amount = (word >> 16u) & 127u;
    // Both are below 64 where they are used, except a shift to the right by all 64 bits.
    let right = 2u * esize - amount;
    let left = (amount - esize) & 63u;

    var result = Vector(0lu, 0lu);
    var total = 0lu;
    var any = false;
    for (var e = 0u; e < count; e += 1u) {
        // The operands, extended to 64 bits.
        var a = 0lu;
        var b = 0lu;
        if form == FORM_PAIRED || form == FORM_PAIRED_LONG {
            let first = 2u * e;
            if form == FORM_PAIRED && !is_scalar && first >= count {
                a = elem(m, first - count, esize);
                b = elem(m, first + 1u - count, esize);
            } else {
                a = elem(n, first, esize);
                b = elem(n, first + 1u, esize);
            }
        } else {
            a = elem(n, e, n_size);
            b = elem(m, select(second.y, e, second.y == NO_INDEX), m_size);
        }
        if get_zero(p) == 1u {
            b = 0lu;
        }
        if !unsigned {
            a = sign_extend(a, n_size);
            b = sign_extend(b, m_size);
        }
        if is_across {
            b = a;
            a = total;
            if e == 0u {
                total = b;
                continue;
            }
        }
        let before = elem(d, e, min(d_size, 64u));

        var value = Integer(a, extension(a, unsigned));
        let other = Integer(b, extension(b, unsigned));
        let is_less = select(i64(a) < i64(b), a < b, unsigned);
        switch element {
            case ELEMENT_ADD: { value = sum_of(value, other); }
            case ELEMENT_SUBTRACT: { value = difference_of(value, other); }
            case ELEMENT_MULTIPLY: { value.low = a * b; }
            case ELEMENT_HALVING_ADD: {
                let sum = a + b + select(0lu, 1lu, rounding);
                value.low = select(u64(i64(sum) >> 1u), sum >> 1u, unsigned);
            }
            case ELEMENT_HALVING_SUBTRACT: { value.low = u64(i64(a - b) >> 1u); }
            case ELEMENT_MAXIMUM: { value.low = select(a, b, is_less); }
            case ELEMENT_MINIMUM: { value.low = select(b, a, is_less); }
            case ELEMENT_ABSOLUTE_DIFFERENCE: { value.low = select(a - b, b - a, is_less); }
            case ELEMENT_GREATER: { value.low = all_ones(!is_less && a != b); }
            case ELEMENT_GREATER_OR_EQUAL: { value.low = all_ones(!is_less); }
            case ELEMENT_LESS: { value.low = all_ones(is_less); }
            case ELEMENT_LESS_OR_EQUAL: { value.low = all_ones(is_less || a == b); }
            case ELEMENT_EQUAL: { value.low = all_ones(a == b); }
            case ELEMENT_TEST: { value.low = all_ones((a & b) != 0lu); }
            case ELEMENT_POLYNOMIAL_MULTIPLY: { value = polynomial_product(a, b, esize); }
            case ELEMENT_SHIFT: { value = shifted_by(a, b, esize, unsigned, rounding); }
            case ELEMENT_DOUBLING_HIGH: {
                // Half of the product and of the rounding constant, because twice the product may not fit.
                let half = select(0lu, 1lu << (esize - 2u), rounding);
                value.low = u64(i64(a * b + half) >> (esize - 1u));
                value.high = extension(value.low, false);
            }
            case ELEMENT_DOUBLING_HIGH_ADD, ELEMENT_DOUBLING_HIGH_SUBTRACT: {
                // Half of all terms, because the sum of their doubles may not fit.
                let product = select(a * b, 0lu - a * b, element == ELEMENT_DOUBLING_HIGH_SUBTRACT);
                let sum = (sign_extend(before, esize) << (esize - 1u)) + product + (1lu << (esize - 2u));
                value.low = u64(i64(sum) >> (esize - 1u));
                value.high = extension(value.low, false);
            }
            case ELEMENT_DOUBLING_MULTIPLY: {
                let product = a * b;
                value = shifted_left(Integer(product, extension(product, false)), 1u);
                let saturated = sat_q(value, d_size, false);
                any |= saturated.high != 0lu;
                let nearest = sign_extend(saturated.low, d_size);
                value = Integer(nearest, extension(nearest, false));
            }
            case ELEMENT_ABSOLUTE: {
                if i64(a) < 0li {
                    value = difference_of(Integer(0lu, 0lu), value);
                }
            }
            case ELEMENT_NEGATE: { value = difference_of(Integer(0lu, 0lu), value); }
            case ELEMENT_LEADING_ZEROS: { value.low = u64(count_leading_zero_bits(a, 64u) - (64u - esize)); }
            case ELEMENT_LEADING_SIGNS: {
                value.low = u64(count_leading_sign_bits(sign_extend(a, esize), 64u) - (64u - esize));
            }
            case ELEMENT_COUNT: { value.low = u64(countOneBits(u32(a))); }
            case ELEMENT_REVERSE_BITS: { value.low = reverse_bits(a) >> 56u; }
            case ELEMENT_AND: { value.low = a & b; }
            case ELEMENT_BIC: { value.low = a & ~b; }
            case ELEMENT_ORR: { value.low = a | b; }
            case ELEMENT_ORN: { value.low = a | ~b; }
            case ELEMENT_EOR: { value.low = a ^ b; }
            case ELEMENT_BSL: { value.low = b ^ ((b ^ a) & before); }
            case ELEMENT_BIT: { value.low = before ^ ((before ^ a) & b); }
            case ELEMENT_BIF: { value.low = before ^ ((before ^ a) & ~b); }
            case ELEMENT_NOT: { value.low = ~a; }
            case ELEMENT_SHIFT_RIGHT: { value = shifted_right(a, right, unsigned, rounding); }
            case ELEMENT_SHIFT_LEFT: { value = shifted_left(value, left); }
            case ELEMENT_SHIFT_LEFT_BY_SIZE: { value = shifted_left(value, esize); }
            case ELEMENT_SHIFT_RIGHT_INSERT: {
                // A shift by the size of the element inserts no bits.
                let none = right >= 64u;
                let mask = select(ones(esize) >> (right & 63u), 0lu, none);
                value.low = (before & ~mask) | select(a >> (right & 63u), 0lu, none);
            }
            case ELEMENT_SHIFT_LEFT_INSERT: {
                let mask = 0xfffffffffffffffflu << left;
                value.low = (before & ~mask) | (a << left);
            }
            case ELEMENT_FLOAT_ABSOLUTE: { value.low = a & (ones(esize) >> 1u); }
            case ELEMENT_FLOAT_NEGATE: { value.low = a ^ (1lu << (esize - 1u)); }
            default: {}
        }
        if is_across {
            total = value.low;
            continue;
        }
        if form == FORM_NARROW_HIGH {
            value.low = (value.low + select(0lu, 1lu << (esize - 1u), rounding)) >> esize;
        }
        if accumulate != ACCUMULATE_NOT {
            let is_unsigned = saturation == SATURATION_UNSIGNED;
            let start = select(sign_extend(before, d_size), before, is_unsigned);
            let old = Integer(start, extension(start, is_unsigned));
            if accumulate == ACCUMULATE_ADD {
                value = sum_of(old, value);
            } else {
                value = difference_of(old, value);
            }
        }
        if saturation != SATURATION_NOT {
            value = sat_q(value, d_size, saturation == SATURATION_UNSIGNED);
            any |= value.high != 0lu;
        }
        if d_size == 128u {
            result = Vector(value.low, value.high);
        } else {
            result = with_elem(result, e, d_size, value.low);
        }
    }
    if is_across {
        result.low = total & ones(d_size);
    }
    if is_narrow {
        result = with_part(d, upper, result.low);
    }
    return Integers(result, any);
}
