//! The class of a word, as a function of twenty of its bits.

import package::arm64::class_ids::{CLASS_ARITHMETIC, CLASS_BITS, CLASS_BRANCH, CLASS_EXTEND_SHIFT};
import package::arm64::class_ids::{CLASS_LOADSTORE, CLASS_LOGICAL, CLASS_MULDIV, CLASS_SYSTEM};
import package::arm64::word::{bits};

/// Returns the number of the class of a word.
///
/// If the twenty bits alone rule out every Armv8.0-A, CRC32 and LSE instruction, the class is SYSTEM, except in groups
/// of later extensions that have a class of their own. All words in the group of loads and stores have one class,
/// allocated or not.
///
/// Twin: `kvrm_arm64::class::class_of`.
fn class_of(word: u32) -> u32 {
    let w = word & CLASS_BITS;
    // DDI 0487, C4.1: bits 28 to 25 name the group.
    switch bits(w, 25u, 4u) {
        case 8u, 9u: { return data_processing_immediate(w); }
        case 10u, 11u: { return branch_and_system(w); }
        case 4u, 6u, 12u, 14u: { return CLASS_LOADSTORE; }
        case 5u, 13u: { return data_processing_register(w); }
        case 7u, 15u: { return simd_and_floating_point(w); }
        default: { return CLASS_SYSTEM; }
    }
}

/// Returns a class if a condition holds, and SYSTEM if not.
///
/// Twin: a part of `kvrm_arm64::class::class_of`.
fn class_if(condition: bool, class_number: u32) -> u32 {
    return select(CLASS_SYSTEM, class_number, condition);
}

/// Returns the class of data processing with an immediate.
///
/// Twin: `kvrm_arm64::class::data_processing_immediate`.
fn data_processing_immediate(w: u32) -> u32 {
    let wide = bits(w, 31u, 1u) == 1u;
    let opc = bits(w, 29u, 2u);
    let n = bits(w, 22u, 1u);
    let element_exists = wide || n == 0u;
    switch bits(w, 23u, 3u) {
        case 0u, 1u, 2u: { return CLASS_ARITHMETIC; }
        case 3u: {
            // Add/subtract with tags, then min/max (immediate).
            let tags = n == 0u && wide && (opc & 1u) == 0u && bits(w, 14u, 2u) == 0u;
            let min_max = bits(w, 20u, 3u) == 4u && opc == 0u;
            return class_if(tags || min_max, CLASS_ARITHMETIC);
        }
        case 4u: { return class_if(element_exists && !reserved_bit_mask(w), CLASS_LOGICAL); }
        case 5u: { return class_if(opc != 1u && (wide || n == 0u), CLASS_ARITHMETIC); }
        case 6u: {
            let bit_field = opc != 3u && (n == 1u) == wide && (wide || field_fits_word(w));
            return class_if(bit_field, CLASS_EXTEND_SHIFT);
        }
        default: {
            let extract = opc == 0u && (n == 1u) == wide && bits(w, 21u, 1u) == 0u;
            return class_if(extract && (wide || bits(w, 15u, 1u) == 0u), CLASS_EXTEND_SHIFT);
        }
    }
}

/// Whether N:imms are reserved for logical immediates: the element would not contain both a one and a zero.
///
/// Twin: `kvrm_arm64::class::reserved_bit_mask`.
fn reserved_bit_mask(w: u32) -> bool {
    let imms = bits(w, 10u, 6u);
    let sizes = (bits(w, 22u, 1u) << 6u) | (~imms & 0x3fu);
    if sizes < 2u {
        return true;
    }
    let levels = (1u << (31u - countLeadingZeros(sizes))) - 1u;
    return (imms & levels) == levels;
}

/// Whether immr and imms are below 32.
///
/// Twin: `kvrm_arm64::class::field_fits_word`.
fn field_fits_word(w: u32) -> bool {
    return bits(w, 21u, 1u) == 0u && bits(w, 15u, 1u) == 0u;
}

/// Returns the class of branches, exceptions and system instructions.
///
/// Twin: `kvrm_arm64::class::branch_and_system`.
fn branch_and_system(w: u32) -> u32 {
    switch bits(w, 29u, 3u) {
        // B, BL; CBZ, CBNZ, TBZ, TBNZ; B.cond.
        case 0u, 4u, 1u, 5u: { return CLASS_BRANCH; }
        case 2u: { return class_if(bits(w, 24u, 2u) == 0u, CLASS_BRANCH); }
        case 6u: {
            if bits(w, 25u, 1u) == 1u {
                return branch_register(w);
            }
            return CLASS_SYSTEM;
        }
        default: { return CLASS_SYSTEM; }
    }
}

/// Returns the class of BR, BLR, RET, ERET and DRPS. They differ in opc, and agree in bits 20, 19, 16 and 15 to 10.
///
/// Twin: `kvrm_arm64::class::branch_register`.
fn branch_register(w: u32) -> u32 {
    let expected = bits(w, 19u, 2u) == 3u && bits(w, 16u, 1u) == 1u && bits(w, 10u, 6u) == 0u;
    switch bits(w, 21u, 4u) {
        case 0u, 1u, 2u, 4u, 5u: { return class_if(expected, CLASS_BRANCH); }
        default: { return CLASS_SYSTEM; }
    }
}

/// Returns the class of data processing of registers.
///
/// Twin: `kvrm_arm64::class::data_processing_register`.
fn data_processing_register(w: u32) -> u32 {
    let amount_exists = bits(w, 31u, 1u) == 1u || bits(w, 15u, 1u) == 0u;
    if bits(w, 28u, 1u) == 0u {
        if bits(w, 24u, 1u) == 0u {
            return class_if(amount_exists, CLASS_LOGICAL);
        }
        if bits(w, 21u, 1u) == 0u {
            return class_if(bits(w, 22u, 2u) <= 2u && amount_exists, CLASS_ARITHMETIC);
        }
        return class_if(bits(w, 22u, 2u) == 0u && bits(w, 10u, 3u) <= 4u, CLASS_ARITHMETIC);
    }
    if bits(w, 24u, 1u) == 1u {
        return three_sources(w);
    }
    switch bits(w, 21u, 3u) {
        case 0u: { return carry_and_flags(w); }
        // Conditional compare sets flags; conditional select does not.
        case 2u: { return class_if(bits(w, 29u, 1u) == 1u && bits(w, 10u, 1u) == 0u, CLASS_ARITHMETIC); }
        case 4u: { return class_if(bits(w, 29u, 1u) == 0u && bits(w, 11u, 1u) == 0u, CLASS_ARITHMETIC); }
        case 6u: {
            if bits(w, 30u, 1u) == 0u {
                return two_sources(w);
            }
            return one_source(w);
        }
        default: { return CLASS_SYSTEM; }
    }
}

/// Returns the class of ADC and SBC, of RMIF, and of SETF8 and SETF16.
///
/// Twin: `kvrm_arm64::class::carry_and_flags`.
fn carry_and_flags(w: u32) -> u32 {
    let top = bits(w, 29u, 3u);
    let lower = bits(w, 10u, 6u);
    let carry = lower == 0u;
    let rmif = top == 5u && (lower & 0x1fu) == 1u;
    let setf = top == 1u && (lower & 0x2fu) == 2u && bits(w, 19u, 2u) == 0u && bits(w, 16u, 1u) == 0u;
    return class_if(carry || rmif || setf, CLASS_ARITHMETIC);
}

/// Returns the class of data processing with three sources: multiply-add, and high halves of products.
///
/// Twin: `kvrm_arm64::class::three_sources`.
fn three_sources(w: u32) -> u32 {
    let top = bits(w, 29u, 3u);
    let opcode = bits(w, 21u, 3u);
    let negated = bits(w, 15u, 1u) == 1u;
    let same_size = (top == 0u || top == 4u) && opcode == 0u;
    let long = top == 4u && (opcode == 1u || opcode == 5u);
    let high = top == 4u && (opcode == 2u || opcode == 6u) && !negated;
    return class_if(same_size || long || high, CLASS_MULDIV);
}

/// Returns the class of data processing with two sources: division, shifts, CRC.
///
/// Twin: `kvrm_arm64::class::two_sources`.
fn two_sources(w: u32) -> u32 {
    let wide = bits(w, 31u, 1u) == 1u;
    let lower = bits(w, 10u, 6u);
    // SUBP and SUBPS; min/max (register).
    if lower == 0u && wide {
        return CLASS_ARITHMETIC;
    }
    if bits(w, 29u, 1u) == 1u {
        return CLASS_SYSTEM;
    }
    switch lower {
        case 24u, 25u, 26u, 27u: { return CLASS_ARITHMETIC; }
        case 2u, 3u: { return CLASS_MULDIV; }
        case 8u, 9u, 10u, 11u: { return CLASS_EXTEND_SHIFT; }
        // Only CRC32X and CRC32CX have sf set.
        case 16u, 17u, 18u, 19u, 20u, 21u, 22u, 23u: {
            return class_if((bits(w, 10u, 2u) == 3u) == wide, CLASS_MULDIV);
        }
        default: { return CLASS_SYSTEM; }
    }
}

/// Returns the class of data processing with one source: reversals and counts, also those of `FEAT_CSSC`, and pointer
/// authentication.
///
/// Twin: `kvrm_arm64::class::one_source`.
fn one_source(w: u32) -> u32 {
    let wide = bits(w, 31u, 1u) == 1u;
    let opcode2 = (bits(w, 19u, 2u) << 1u) | bits(w, 16u, 1u);
    let lower = bits(w, 10u, 6u);
    if bits(w, 29u, 1u) == 1u {
        return CLASS_SYSTEM;
    }
    let base = opcode2 == 0u && lower <= 8u && (lower != 3u || wide);
    let authentication = opcode2 == 1u && lower <= 17u && wide;
    return class_if(base || authentication, CLASS_EXTEND_SHIFT);
}

/// Returns the class of Advanced SIMD and floating point.
///
/// Twin: `kvrm_arm64::class::simd_and_floating_point`.
fn simd_and_floating_point(w: u32) -> u32 {
    let top = bits(w, 28u, 4u);
    // 1100 1110: three- and four-register cryptography.
    if top == 12u && bits(w, 24u, 1u) == 0u {
        return CLASS_LOGICAL;
    }
    if (top & 5u) == 1u {
        return floating_point(w);
    }
    if (top & 9u) == 0u || (top & 13u) == 5u {
        return advanced_simd(w);
    }
    return CLASS_SYSTEM;
}

/// Returns the class of scalar floating point.
///
/// Twin: `kvrm_arm64::class::floating_point`.
fn floating_point(w: u32) -> u32 {
    let m_or_s = bits(w, 31u, 1u) | bits(w, 29u, 1u);
    let precision_exists = bits(w, 22u, 2u) != 2u;
    if bits(w, 24u, 1u) == 1u {
        return class_if(m_or_s == 0u && precision_exists, CLASS_MULDIV);
    }
    // Conversions to and from fixed point and integers, the only instructions here with a 64-bit form.
    if bits(w, 29u, 1u) == 0u && (bits(w, 21u, 1u) == 0u || bits(w, 10u, 6u) == 0u) {
        return CLASS_EXTEND_SHIFT;
    }
    if m_or_s == 1u || !precision_exists || bits(w, 21u, 1u) == 0u {
        return CLASS_SYSTEM;
    }
    let opcode = bits(w, 12u, 4u);
    switch bits(w, 10u, 2u) {
        // Conditional compare; select.
        case 1u, 3u: { return CLASS_ARITHMETIC; }
        case 2u: {
            switch opcode {
                case 0u, 1u, 8u: { return CLASS_MULDIV; }
                case 2u, 3u, 4u, 5u, 6u, 7u: { return CLASS_ARITHMETIC; }
                default: { return CLASS_SYSTEM; }
            }
        }
        default: {
            // Immediate; compare; one source.
            if (opcode & 1u) == 1u || opcode == 2u {
                return CLASS_ARITHMETIC;
            }
            return class_if(opcode == 4u || opcode == 12u, CLASS_EXTEND_SHIFT);
        }
    }
}

/// Returns the class of Advanced SIMD. Vector and scalar forms have the same layout.
///
/// Twin: `kvrm_arm64::class::advanced_simd`.
fn advanced_simd(w: u32) -> u32 {
    // The field U.
    let u = bits(w, 29u, 1u);
    let bit21 = bits(w, 21u, 1u);
    let bit15 = bits(w, 15u, 1u);
    let lower = bits(w, 10u, 2u);
    if bits(w, 24u, 1u) == 1u {
        if (lower & 1u) == 0u {
            return CLASS_MULDIV; // By element.
        }
        if bits(w, 23u, 1u) == 1u {
            return CLASS_SYSTEM;
        }
        if bits(w, 19u, 4u) != 0u {
            return CLASS_EXTEND_SHIFT; // Shift by immediate.
        }
        return modified_immediate(w);
    }
    // An odd `lower` is 01 or 11.
    let odd = (lower & 1u) == 1u;
    if bit21 == 1u {
        if odd {
            return three_same(bits(w, 11u, 5u), u);
        }
        if lower == 0u {
            return three_different(bits(w, 12u, 4u));
        }
        switch bits(w, 19u, 2u) {
            case 0u: { return two_register_miscellaneous(bits(w, 12u, 5u), u); }
            case 1u: { return CLASS_LOGICAL; }    // AES and SHA, two registers.
            case 2u: { return CLASS_ARITHMETIC; } // Across lanes and scalar pairwise.
            default: { return CLASS_SYSTEM; }
        }
    }
    // SHA, three registers.
    if lower == 0u && bits(w, 28u, 1u) == 1u && bit15 == 0u {
        return CLASS_LOGICAL;
    }
    if odd {
        // Dot products and the like of later versions.
        if bit15 == 1u {
            return CLASS_MULDIV;
        }
        // Copies; half-precision three-same of later versions.
        if bits(w, 22u, 2u) == 0u {
            return CLASS_EXTEND_SHIFT;
        }
        if bits(w, 22u, 1u) == 1u && bits(w, 14u, 1u) == 0u {
            return three_same(0x18u | bits(w, 11u, 3u), u);
        }
        return CLASS_SYSTEM;
    }
    // Table, permute, extract.
    return class_if(bit15 == 0u && bits(w, 28u, 1u) == 0u, CLASS_EXTEND_SHIFT);
}

/// Returns the class of an instruction with a modified immediate. MOVI, MVNI and FMOV are ARITHMETIC; ORR and BIC are
/// LOGICAL.
///
/// Twin: `kvrm_arm64::class::modified_immediate`.
fn modified_immediate(w: u32) -> u32 {
    let cmode = bits(w, 12u, 4u);
    return select(CLASS_ARITHMETIC, CLASS_LOGICAL, (cmode & 1u) == 1u && cmode < 12u);
}

/// Returns the class of Advanced SIMD with three registers of the same size.
///
/// Twin: `kvrm_arm64::class::three_same`.
fn three_same(opcode: u32, u: u32) -> u32 {
    switch opcode {
        case 3u: { return CLASS_LOGICAL; }
        case 8u, 9u, 10u, 11u: { return CLASS_EXTEND_SHIFT; }
        case 18u, 19u, 22u, 25u, 27u: { return CLASS_MULDIV; }
        case 31u: { return CLASS_MULDIV; } // FDIV and the reciprocal steps.
        // FMLAL.
        case 29u: { return select(CLASS_ARITHMETIC, CLASS_MULDIV, u == 0u); }
        default: { return CLASS_ARITHMETIC; }
    }
}

/// Returns the class of Advanced SIMD with three registers of different sizes.
///
/// Twin: `kvrm_arm64::class::three_different`.
fn three_different(opcode: u32) -> u32 {
    if opcode <= 7u {
        return CLASS_ARITHMETIC;
    }
    return class_if(opcode <= 14u, CLASS_MULDIV);
}

/// Returns the class of Advanced SIMD with two registers.
///
/// Twin: `kvrm_arm64::class::two_register_miscellaneous`.
fn two_register_miscellaneous(opcode: u32, u: u32) -> u32 {
    switch opcode {
        case 0u, 1u: { return CLASS_EXTEND_SHIFT; }                           // Reversals.
        case 5u: { return select(CLASS_ARITHMETIC, CLASS_LOGICAL, u == 1u); } // NOT and RBIT.
        case 16u, 17u: { return CLASS_SYSTEM; }
        default: {
            // Narrowing, lengthening, conversion, rounding, estimates, roots.
            return select(CLASS_ARITHMETIC, CLASS_EXTEND_SHIFT, opcode >= 18u);
        }
    }
}
