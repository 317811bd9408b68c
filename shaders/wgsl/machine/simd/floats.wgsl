//! Arithmetic on elements that are floating-point numbers, computed exactly with integers.
//!
//! Drivers inline every call, so each function of `arm64::float` is called in one place only.

import package::arm64::flags::{condition_holds};
import package::arm64::float::arithmetic::{fp_arithmetic};
import package::arm64::float::compare::{fp_compare};
import package::arm64::float::constants::{
    FPCR_AHP, FPCR_DN, FPCR_FZ, FPCR_FZ16, FPSR_IDC, FPSR_IOC, FPSR_IXC, FP_ADD, FP_MUL,
};
import package::arm64::float::control::{fp_rounding_mode};
import package::arm64::float::estimate::{unsigned_recip_estimate, unsigned_rsqrt_estimate};
import package::arm64::float::format::{Format, exponent_bias, fp_format};
import package::arm64::float::integer::{fixed_to_fp, fp_to_fixed};
import package::arm64::float::round::{FpResult, fp_round};
import package::arm64::float::unpack::{fp_unpack};
import package::machine::layout::{COLUMN_FPCR};
import package::machine::memory::{effort, get_state, halves, joined, set_state};
import package::machine::micro_op::{
    get_a, get_arrangement, get_dst, get_element, get_form, get_mode, get_negate, get_sign, get_sizing,
    get_unsigned, get_zero,
};
import package::machine::registers::{SCRATCH_FLAGS, x};
import package::machine::simd::registers::{
    NO_INDEX, Vector, elem, get_v, immh_size, number_size, part_of, second_operand, set_v, with_elem,
    with_part,
};
import package::machine::vector_op::{
    ARRANGED_BFLOAT_CONVERT, ARRANGED_BFLOAT_DOT, ARRANGED_BFLOAT_LONG, ARRANGED_BFLOAT_MATRIX,
    ARRANGED_COMPLEX, ARRANGED_COMPLEX_ADD, ARRANGED_HALVES, ARRANGED_HALVES_UPPER, ARRANGED_JAVASCRIPT,
    ARRANGED_LIMITED_32, ARRANGED_PLAIN, FLOAT_ACCUMULATE, FLOAT_ACROSS, FLOAT_ADDEND, FLOAT_COMPARE,
    FLOAT_CONDITIONAL_FLAGS, FLOAT_CONVERT, FLOAT_ESTIMATE, FLOAT_FLAGS, FLOAT_FROM_GENERAL,
    FLOAT_FROM_INTEGERS, FLOAT_LONG, FLOAT_NARROW, FLOAT_PAIRED, FLOAT_SAME, FLOAT_TO_GENERAL,
    FLOAT_TO_INTEGERS, MODE_FPCR, NEGATE_ADDEND, NEGATE_FACTOR, SIGN_OPERANDS_ABSOLUTE, SIGN_RESULT_ABSOLUTE,
    SIGN_RESULT_NEGATED, SIZING_IMMH,
};

/// Returns the number of bits of the precision in the field ptype or opc of FCVT.
fn precision_bits(field: u32) -> u32 {
    switch field & 3u {
        case 0u: { return 32u; }
        case 1u: { return 64u; }
        default: { return 16u; }
    }
}

/// Returns the number of Vm. In some forms by element it has four bits.
fn factor_register(op: vec4<u32>) -> u32 {
    let rm = (op.z >> 16u) & 31u;
    let form = get_form(op.y);
    if (form != FLOAT_SAME && form != FLOAT_ACCUMULATE) || (op.z & 0x01000400u) != 0x01000000u {
        return rm;
    }
    switch get_arrangement(op.y) {
        case ARRANGED_PLAIN: { return select(rm, rm & 15u, number_size(op.z) == 16u); }
        case ARRANGED_HALVES, ARRANGED_HALVES_UPPER, ARRANGED_BFLOAT_LONG: { return rm & 15u; }
        default: { return rm; }
    }
}

/// `FPToFixedJS()`: the integer modulo 2^32 in the lower half, and the flags in the upper one.
fn to_javascript(number: u64, fpcr: u32) -> Floats {
    let field = u32(number >> 52u) & 0x7ffu;
    let fraction = number & 0xffffffffffffflu;
    let is_negative = (number >> 63u) == 1lu;
    if field == 0x7ffu {
        return Floats(Vector(0lu, 0lu), FPSR_IOC);
    }
    if field < 1023u {
        if field == 0u && fraction == 0lu {
            return Floats(Vector(0lu, select(4lu, 0lu, is_negative)), 0u);
        }
        return Floats(Vector(0lu, 0lu), select(FPSR_IXC, FPSR_IDC, field == 0u && (fpcr & FPCR_FZ) != 0u));
    }
    let significand = fraction | 0x10000000000000lu;
    let exponent = field - 1023u;
    var integer = 0lu;
    var is_inexact = false;
    if exponent <= 52u {
        let right = 52u - exponent;
        integer = significand >> right;
        is_inexact = (significand & ((1lu << right) - 1lu)) != 0lu;
    } else if exponent < 84u {
        integer = significand << (exponent - 52u);
    }
    let most = 0x80000000lu - select(1lu, 0lu, is_negative);
    var fpsr = select(0u, FPSR_IXC, is_inexact);
    if exponent > 31u || integer > most {
        fpsr = FPSR_IOC;
    }
    let value = select(integer, 0lu - integer, is_negative) & 0xfffffffflu;
    return Floats(Vector(value, select(0lu, 4lu, fpsr == 0u)), fpsr);
}

/// `FPRoundIntN()`, from a number that was rounded to an integer: one beyond `intsize` bits becomes the least integer.
fn limited(rounded: FpResult, format: Format, intsize: u32) -> FpResult {
    let top = format.fraction_bits + format.exponent_bits;
    let magnitude = rounded.value & ((1lu << top) - 1lu);
    let limit = u64(u32(exponent_bias(format)) + intsize - 1u) << format.fraction_bits;
    if magnitude < limit || (magnitude == limit && (rounded.value >> top) == 1lu) {
        return rounded;
    }
    return FpResult((1lu << top) | limit, FPSR_IOC);
}

/// Executes an instruction on floating-point numbers.
fn compute_floats(op: vec4<u32>) {
    let word = op.z;
    let form = get_form(op.y);
    let rd = word & 31u;
    let state = halves(get_state(COLUMN_FPCR));
    if form == FLOAT_CONDITIONAL_FLAGS && !condition_holds((word >> 12u) & 15u, u32(x[SCRATCH_FLAGS])) {
        x[SCRATCH_FLAGS] = u64(word & 15u);
        return;
    }
    let n = get_v((word >> 5u) & 31u);
    let m = get_v(factor_register(op));
    let d = get_v(select(rd, (word >> 10u) & 31u, form == FLOAT_ADDEND));
    let result = floats(op, n, m, d, x[get_a(op.x)], state.x);
    set_state(COLUMN_FPCR, joined(state.x, state.y | result.fpsr));
    switch form {
        case FLOAT_FLAGS, FLOAT_CONDITIONAL_FLAGS: { x[SCRATCH_FLAGS] = result.value.low; }
        case FLOAT_TO_GENERAL: {
            x[get_dst(op.x)] = result.value.low;
            if get_arrangement(op.y) == ARRANGED_JAVASCRIPT {
                x[SCRATCH_FLAGS] = result.value.high;
            }
        }
        default: { set_v(rd, result.value); }
    }
}

/// The result of an instruction on floating-point numbers.
struct Floats {
    /// The new value of Vd. The lower half is that of a general register or of the flags, if these are the result.
    value: Vector,
    /// The exceptions, as bits of FPSR to set.
    fpsr: u32,
}

/// Returns the result of an instruction on floating-point numbers, from Vn, Vm, the addend or Vd, and a general
/// register. The condition of a conditional comparison holds.
fn floats(op: vec4<u32>, n_before: Vector, m: Vector, d: Vector, general: u64, fpcr_before: u32) -> Floats {
    let p = op.y;
    let word = op.z;
    let form = get_form(p);
    let element = get_element(p);
    let is_scalar = ((word >> 28u) & 1u) == 1u;
    let q = (word >> 30u) & 1u;
    let upper = q == 1u && !is_scalar;
    let mode = get_mode(p);
    let rounding = select(mode, fp_rounding_mode(fpcr_before), mode == MODE_FPCR);
    let arrangement = get_arrangement(p);
    if arrangement == ARRANGED_JAVASCRIPT {
        return to_javascript(n_before.low, fpcr_before);
    }

    // The sizes of operands and results.
    let sz = (word >> 22u) & 1u;
    var n_size = number_size(word);
    if get_sizing(p) == SIZING_IMMH {
        n_size = 8u << immh_size(word);
    }
    let is_complex = arrangement == ARRANGED_COMPLEX || arrangement == ARRANGED_COMPLEX_ADD;
    if is_complex {
        n_size = 8u << ((word >> 22u) & 3u);
    }
    var d_size = n_size;
    var count = 1u;
    if !is_scalar {
        count = (64u << q) / n_size;
    }
    switch form {
        case FLOAT_CONVERT: {
            n_size = precision_bits(word >> 22u);
            d_size = precision_bits(word >> 15u);
        }
        case FLOAT_LONG: {
            n_size = 16u << sz;
            d_size = 32u << sz;
            count = 64u / n_size;
        }
        case FLOAT_NARROW: {
            d_size = 16u << sz;
            count = select(64u / d_size, 1u, is_scalar);
        }
        case FLOAT_TO_GENERAL, FLOAT_FROM_GENERAL, FLOAT_FLAGS, FLOAT_CONDITIONAL_FLAGS: { count = 1u; }
        case FLOAT_ACROSS: { count -= 1u; }
        default: {}
    }
    let is_dot = arrangement == ARRANGED_BFLOAT_DOT || arrangement == ARRANGED_BFLOAT_MATRIX;
    let is_halves = arrangement == ARRANGED_HALVES || arrangement == ARRANGED_HALVES_UPPER;
    let is_bfloat = arrangement >= ARRANGED_BFLOAT_LONG && arrangement <= ARRANGED_BFLOAT_CONVERT;
    if is_halves || is_bfloat {
        n_size = select(32u, 16u, is_halves);
        d_size = select(32u, 16u, arrangement == ARRANGED_BFLOAT_CONVERT);
        switch arrangement {
            // Each dot product takes four operations.
            case ARRANGED_BFLOAT_DOT: { count = 8u << q; }
            case ARRANGED_BFLOAT_MATRIX: { count = 32u; }
            case ARRANGED_BFLOAT_LONG: { count = 4u; }
            case ARRANGED_BFLOAT_CONVERT: { count = select(4u, 1u, form == FLOAT_CONVERT); }
            default: { count = 2u << q; }
        }
    }
    // Conversions between formats do not flush half precision, and only they have its alternative form.
    let converts = form == FLOAT_CONVERT || form == FLOAT_LONG || form == FLOAT_NARROW;
    var fpcr = select(fpcr_before, fpcr_before & ~FPCR_FZ16, converts);
    if is_dot {
        fpcr = FPCR_FZ | FPCR_DN;
    }
    let alternative = converts && (fpcr & FPCR_AHP) != 0u;
    let source = fp_format(n_size, alternative);
    var to = fp_format(d_size, alternative);
    if arrangement == ARRANGED_BFLOAT_CONVERT {
        to = Format(7u, 8u, false);
    }
    // The format of the addend.
    var addend_format = source;
    if is_halves {
        addend_format = to;
    }
    // For conversions, the size of integers, and the number of their fraction bits.
    let is_general = form == FLOAT_TO_GENERAL || form == FLOAT_FROM_GENERAL;
    let intsize = select(n_size, 32u << (word >> 31u), is_general);
    var fbits = 0u;
    if is_general && ((word >> 21u) & 1u) == 0u {
        fbits = 64u - ((word >> 10u) & 63u);
    } else if get_sizing(p) == SIZING_IMMH {
        fbits = 2u * n_size - ((word >> 16u) & 127u);
    }

    var n = n_before;
    if form == FLOAT_LONG {
        n = part_of(n, upper);
    }
    // The field of Ra overlaps the bits by which `second_operand` recognizes an index.
    var second = select(second_operand(word, n_size).y, NO_INDEX, form == FLOAT_ADDEND);
    if arrangement == ARRANGED_BFLOAT_LONG && second != NO_INDEX {
        second = second_operand(word, 16u).y;
    } else if is_complex && second != NO_INDEX {
        second = select((word >> 11u) & 1u, second_operand(word, 32u).y, n_size == 16u);
    }
    // How often FCMLA and FCADD rotate by 90 degrees.
    var rotation = (word >> select(11u, 13u, second != NO_INDEX)) & 3u;
    if arrangement == ARRANGED_COMPLEX_ADD {
        rotation = 1u + 2u * ((word >> 12u) & 1u);
    }
    let sign = 1lu << (n_size - 1u);
    var operation = element;
    // Intermediate results of a dot product.
    var low_product = 0lu;
    var high_product = 0lu;
    var total = 0lu;

    var result = Vector(0lu, 0lu);
    var fpsr = 0u;
    for (var e = 0u; e < count; e += 1u) {
        // The operands: two, or an addend and two factors.
        var first = elem(n, e, n_size);
        var other = elem(m, select(second, e, second == NO_INDEX), n_size);
        var third = 0lu;
        switch form {
            case FLOAT_PAIRED: {
                let at = 2u * e;
                if !is_scalar && at >= count {
                    first = elem(m, at - count, n_size);
                    other = elem(m, at + 1u - count, n_size);
                } else {
                    first = elem(n, at, n_size);
                    other = elem(n, at + 1u, n_size);
                }
            }
            case FLOAT_ACROSS: {
                // The first iterations reduce the pairs of neighbours, and the others the pairs of results so far.
                let pairs = (count + 1u) / 2u;
                if e < pairs {
                    first = elem(n, 2u * e, n_size);
                    other = elem(n, 2u * e + 1u, n_size);
                } else {
                    first = elem(result, 2u * (e - pairs), n_size);
                    other = elem(result, 2u * (e - pairs) + 1u, n_size);
                }
            }
            case FLOAT_ACCUMULATE, FLOAT_ADDEND: {
                third = other;
                other = first ^ select(0lu, sign, (get_negate(p) & NEGATE_FACTOR) != 0u);
                first = elem(d, e, n_size) ^ select(0lu, sign, (get_negate(p) & NEGATE_ADDEND) != 0u);
            }
            case FLOAT_FROM_GENERAL: { first = general; }
            default: {}
        }
        switch arrangement {
            case ARRANGED_COMPLEX: {
                let part = e & 1u;
                let swapped = rotation & 1u;
                let pair = select(2u * second, e & ~1u, second == NO_INDEX);
                let is_negated = select(rotation == 1u || rotation == 2u, rotation >= 2u, part == 1u);
                other = elem(n, (e & ~1u) | swapped, n_size);
                third = elem(m, pair | (part ^ swapped), n_size) ^ select(0lu, sign, is_negated);
            }
            case ARRANGED_COMPLEX_ADD: {
                // By 90 degrees, the addends of real parts are negated, and by 270 degrees those of imaginary parts.
                other = elem(m, e ^ 1u, n_size) ^ select(0lu, sign, (e & 1u) == (rotation >> 1u));
            }
            case ARRANGED_HALVES, ARRANGED_HALVES_UPPER: {
                let at = e + select(0u, count, arrangement == ARRANGED_HALVES_UPPER);
                first = elem(d, e, 32u);
                other = elem(n, at, 16u) ^ select(0lu, sign, get_negate(p) != 0u);
                third = elem(m, select(second, at, second == NO_INDEX), 16u);
            }
            case ARRANGED_BFLOAT_LONG: {
                let at = 2u * e + q;
                other = elem(n, at, 16u) << 16u;
                third = elem(m, select(second, at, second == NO_INDEX), 16u) << 16u;
            }
            case ARRANGED_BFLOAT_DOT, ARRANGED_BFLOAT_MATRIX: {
                // Two products, their sum, and the sum with the result so far.
                let dot = e >> 2u;
                var rows = dot;
                var columns = select(second, dot, second == NO_INDEX);
                if arrangement == ARRANGED_BFLOAT_MATRIX {
                    rows = (dot & 1u) + 2u * (dot >> 2u);
                    columns = (dot & 1u) + (dot & 2u);
                }
                let x_pair = elem(n, rows, 32u);
                let y_pair = elem(m, columns, 32u);
                operation = select(FP_ADD, FP_MUL, (e & 2u) == 0u);
                switch e & 3u {
                    case 0u: {
                        first = (x_pair << 16u) & 0xffff0000lu;
                        other = (y_pair << 16u) & 0xffff0000lu;
                    }
                    case 1u: {
                        first = x_pair & 0xffff0000lu;
                        other = y_pair & 0xffff0000lu;
                    }
                    case 2u: {
                        first = low_product;
                        other = high_product;
                    }
                    default: {
                        if arrangement == ARRANGED_BFLOAT_DOT {
                            total = elem(d, dot, 32u);
                        } else if (dot & 1u) == 0u {
                            total = elem(d, dot >> 1u, 32u);
                        }
                        first = total;
                        other = low_product;
                    }
                }
            }
            default: {}
        }
        if get_zero(p) == 1u {
            other = 0lu;
        }
        if get_sign(p) == SIGN_OPERANDS_ABSOLUTE {
            first &= ~sign;
            other &= ~sign;
        }

        var outcome = FpResult(0lu, 0u);
        if form == FLOAT_ESTIMATE {
            outcome.value = u64(select(unsigned_recip_estimate(u32(first)), unsigned_rsqrt_estimate(u32(first)), element == 1u));
        } else {
            let a = fp_unpack(first, addend_format, fpcr);
            let b = fp_unpack(other, source, fpcr);
            switch form {
                case FLOAT_COMPARE, FLOAT_FLAGS, FLOAT_CONDITIONAL_FLAGS: {
                    // Quiet NaNs are invalid for all vector comparisons except FCMEQ, and for FCMPE and FCCMPE.
                    outcome = fp_compare(a, b, element != 0u);
                    if form == FLOAT_COMPARE {
                        outcome.value = select(0lu, 0xfffffffffffffffflu, condition_holds(element, u32(outcome.value)));
                    }
                }
                case FLOAT_TO_INTEGERS, FLOAT_TO_GENERAL: {
                    outcome = fp_to_fixed(a, fbits, intsize, get_unsigned(p) == 1u, rounding);
                }
                default: {
                    var number = fixed_to_fp(first, fbits, intsize, get_unsigned(p) == 1u);
                    if form != FLOAT_FROM_INTEGERS && form != FLOAT_FROM_GENERAL {
                        let c = fp_unpack(third, source, fpcr);
                        number = fp_arithmetic(operation, a, b, c, to, rounding, fpcr);
                    }
                    outcome = fp_round(number, to, rounding, fpcr);
                    if arrangement >= ARRANGED_LIMITED_32 {
                        outcome = limited(outcome, to, select(64u, 32u, arrangement == ARRANGED_LIMITED_32));
                    }
                }
            }
        }
        if is_dot {
            // Dot products raise no exceptions.
            effort += 64u;
            switch e & 3u {
                case 0u, 2u: { low_product = outcome.value; }
                case 1u: { high_product = outcome.value; }
                default: {
                    total = outcome.value;
                    if arrangement == ARRANGED_BFLOAT_DOT {
                        result = with_elem(result, e >> 2u, 32u, total);
                    } else if (e & 4u) != 0u {
                        result = with_elem(result, e >> 3u, 32u, total);
                    }
                }
            }
            continue;
        }
        fpsr |= outcome.fpsr;
        switch get_sign(p) {
            case SIGN_RESULT_ABSOLUTE: { outcome.value &= ~sign; }
            case SIGN_RESULT_NEGATED: { outcome.value ^= sign; }
            default: {}
        }
        if form == FLOAT_TO_GENERAL || form == FLOAT_FLAGS || form == FLOAT_CONDITIONAL_FLAGS {
            result.low = outcome.value;
        } else {
            result = with_elem(result, e, d_size, outcome.value);
        }
        // The loops of quotients and roots have one iteration per bit.
        effort += 64u;
    }
    if form == FLOAT_NARROW {
        result = with_part(d, upper, result.low);
    } else if form == FLOAT_ACROSS {
        result = Vector(elem(result, count - 1u, n_size), 0lu);
    }
    return Floats(result, fpsr);
}
