//! Arithmetic on elements that are floating-point numbers, computed exactly with integers.
//!
//! Drivers inline every call, so each function of `arm64::float` is called in one place only.

import package::arm64::flags::{condition_holds};
import package::arm64::float::arithmetic::{fp_arithmetic};
import package::arm64::float::compare::{fp_compare};
import package::arm64::float::constants::{FPCR_AHP};
import package::arm64::float::control::{fp_rounding_mode};
import package::arm64::float::estimate::{unsigned_recip_estimate, unsigned_rsqrt_estimate};
import package::arm64::float::format::{fp_format};
import package::arm64::float::integer::{fixed_to_fp, fp_to_fixed};
import package::arm64::float::round::{FpResult, fp_round};
import package::arm64::float::unpack::{fp_unpack};
import package::machine::layout::{COLUMN_FPCR};
import package::machine::memory::{effort, get_state, halves, joined, set_state};
import package::machine::micro_op::{
    get_a, get_dst, get_element, get_form, get_mode, get_negate, get_sign, get_sizing, get_unsigned, get_zero,
};
import package::machine::registers::{SCRATCH_FLAGS, x};
import package::machine::simd::registers::{
    NO_INDEX, Vector, elem, get_v, immh_size, part_of, second_operand, set_v, with_elem, with_part,
};
import package::machine::vector_op::{
    FLOAT_ACCUMULATE, FLOAT_ACROSS, FLOAT_ADDEND, FLOAT_COMPARE, FLOAT_CONDITIONAL_FLAGS, FLOAT_CONVERT,
    FLOAT_ESTIMATE, FLOAT_FLAGS, FLOAT_FROM_GENERAL, FLOAT_FROM_INTEGERS, FLOAT_LONG, FLOAT_NARROW,
    FLOAT_PAIRED, FLOAT_TO_GENERAL, FLOAT_TO_INTEGERS, MODE_FPCR, NEGATE_ADDEND, NEGATE_FACTOR,
    SIGN_OPERANDS_ABSOLUTE, SIGN_RESULT_ABSOLUTE, SIGN_RESULT_NEGATED, SIZING_IMMH,
};

/// Returns the number of bits of the precision in the field ptype or opc of FCVT.
fn precision_bits(field: u32) -> u32 {
    switch field & 3u {
        case 0u: { return 32u; }
        case 1u: { return 64u; }
        default: { return 16u; }
    }
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
    let m = get_v((word >> 16u) & 31u);
    let d = get_v(select(rd, (word >> 10u) & 31u, form == FLOAT_ADDEND));
    let result = floats(op, n, m, d, x[get_a(op.x)], state.x);
    set_state(COLUMN_FPCR, joined(state.x, state.y | result.fpsr));
    switch form {
        case FLOAT_FLAGS, FLOAT_CONDITIONAL_FLAGS: { x[SCRATCH_FLAGS] = result.value.low; }
        case FLOAT_TO_GENERAL: { x[get_dst(op.x)] = result.value.low; }
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
fn floats(op: vec4<u32>, n_before: Vector, m: Vector, d: Vector, general: u64, fpcr: u32) -> Floats {
    let p = op.y;
    let word = op.z;
    let form = get_form(p);
    let element = get_element(p);
    let is_scalar = ((word >> 28u) & 1u) == 1u;
    let q = (word >> 30u) & 1u;
    let upper = q == 1u && !is_scalar;
    let mode = get_mode(p);
    let rounding = select(mode, fp_rounding_mode(fpcr), mode == MODE_FPCR);

    // The sizes of operands and results.
    let sz = (word >> 22u) & 1u;
    var n_size = 32u << sz;
    if get_sizing(p) == SIZING_IMMH {
        n_size = 8u << immh_size(word);
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
        case FLOAT_ACROSS: { count = 3u; }
        default: {}
    }
    let alternative = (fpcr & FPCR_AHP) != 0u;
    let source = fp_format(n_size, alternative);
    let to = fp_format(d_size, alternative);
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
    let second = select(second_operand(word, n_size).y, NO_INDEX, form == FLOAT_ADDEND);
    let sign = 1lu << (n_size - 1u);

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
                // Iterations 0 and 1 reduce the two pairs of neighbours, and iteration 2 reduces their results.
                if e == 2u {
                    first = elem(result, 0u, n_size);
                    other = elem(result, 1u, n_size);
                    result = Vector(0lu, 0lu);
                } else {
                    first = elem(n, 2u * e, n_size);
                    other = elem(n, 2u * e + 1u, n_size);
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
            let a = fp_unpack(first, source, fpcr);
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
                        number = fp_arithmetic(element, a, b, c, to, rounding, fpcr);
                    }
                    outcome = fp_round(number, to, rounding, fpcr);
                }
            }
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
            result = with_elem(result, select(e, 0u, form == FLOAT_ACROSS && e == 2u), d_size, outcome.value);
        }
        // The loops of quotients and roots have one iteration per bit.
        effort += 64u;
    }
    if form == FLOAT_NARROW {
        result = with_part(d, upper, result.low);
    }
    return Floats(result, fpsr);
}
