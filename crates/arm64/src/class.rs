//! The class of a word as a function of twenty of its bits.
//!
//! The dispatch network sees the top byte and twelve more bits. These decide the class of every word by
//! construction, because [`class_of`] first clears all other bits. `cargo xtask sweep` checks over all 2^32 words
//! that the result is the class stated in the instruction table.

use crate::Class::{self, Arithmetic, Branch, ExtendShift, LoadStore, Logical, MulDiv, System};
use crate::Word;

/// The mask of the bits that decide the class: the top byte and bits {23,22,21,20,19,16,15,14,13,12,11,10}.
pub const CLASS_BITS: u32 = 0xfff9_fc00;

/// Returns the class of a word.
///
/// If these bits alone show that no Armv8.0-A, CRC32 or LSE instruction has them, the class is SYSTEM. Exceptions are
/// groups of later extensions, which have the class of similar instructions, and loads and stores, which are all in
/// one class, allocated or not. Half-precision instructions on two vectors stay SYSTEM, because the networks were proved
/// for this map.
///
/// ```
/// use kvrm_arm64::{CLASS_BITS, Class, class_of};
///
/// let add = 0x8b02_0c20; // add x0, x1, x2, lsl #3
/// assert_eq!(class_of(add), Class::Arithmetic);
/// assert_eq!(class_of(add & CLASS_BITS), Class::Arithmetic);
/// ```
#[must_use]
pub const fn class_of(word: u32) -> Class {
    let w = Word(word & CLASS_BITS);
    // DDI 0487, C4.1: bits 28 to 25 name the group.
    match w.bits(25, 4) {
        0b1000 | 0b1001 => data_processing_immediate(w),
        0b1010 | 0b1011 => branch_and_system(w),
        0b0100 | 0b0110 | 0b1100 | 0b1110 => LoadStore,
        0b0101 | 0b1101 => data_processing_register(w),
        0b0111 | 0b1111 => simd_and_floating_point(w),
        _ => System,
    }
}

const fn data_processing_immediate(w: Word) -> Class {
    let (wide, opc) = (w.bits(31, 1) == 1, w.bits(29, 2));
    let element_exists = wide || w.n() == 0;
    match w.bits(23, 3) {
        0b000..=0b010 => Arithmetic,
        // Add/subtract with tags, then min/max (immediate).
        0b011 if w.bits(22, 1) == 0 && wide && opc & 1 == 0 && w.bits(14, 2) == 0 => Arithmetic,
        0b011 if w.bits(20, 3) == 0b100 && opc == 0 => Arithmetic,
        0b100 if element_exists && !reserved_bit_mask(w) => Logical,
        0b101 if opc != 0b01 && (wide || w.bits(22, 1) == 0) => Arithmetic,
        0b110 if opc != 0b11 && (w.n() == 1) == wide && (wide || field_fits_word(w)) => ExtendShift,
        0b111 if opc == 0 && (w.n() == 1) == wide && w.bits(21, 1) == 0 && (wide || w.bits(15, 1) == 0) => {
            ExtendShift
        }
        _ => System,
    }
}

/// Whether N:imms encode an element that cannot hold both a one and a zero.
const fn reserved_bit_mask(w: Word) -> bool {
    let sizes = w.n() << 6 | (!w.imms() & 0x3f);
    if sizes < 2 {
        return true;
    }
    let levels = (1 << (31 - sizes.leading_zeros())) - 1;
    w.imms() & levels == levels
}

/// Whether immr and imms are below 32.
const fn field_fits_word(w: Word) -> bool {
    w.bits(21, 1) == 0 && w.bits(15, 1) == 0
}

const fn branch_and_system(w: Word) -> Class {
    match w.bits(29, 3) {
        // B, BL; CBZ, CBNZ, TBZ, TBNZ; B.cond.
        0b000 | 0b100 | 0b001 | 0b101 => Branch,
        0b010 if w.bits(24, 2) == 0 => Branch,
        0b110 if w.bits(25, 1) == 1 => branch_register(w),
        _ => System,
    }
}

/// BR, BLR, RET, ERET, DRPS: they differ in opc and share the values of bits 20, 19, 16 and 15 to 10.
const fn branch_register(w: Word) -> Class {
    let fixed = w.bits(19, 2) == 0b11 && w.bits(16, 1) == 1 && w.bits(10, 6) == 0;
    match w.bits(21, 4) {
        0b0000 | 0b0001 | 0b0010 | 0b0100 | 0b0101 if fixed => Branch,
        _ => System,
    }
}

const fn data_processing_register(w: Word) -> Class {
    let amount_exists = w.bits(31, 1) == 1 || w.bits(15, 1) == 0;
    match (w.bits(28, 1), w.bits(24, 1)) {
        (0, 0) if amount_exists => Logical,
        (0, 1) => match (w.bits(21, 1), w.bits(22, 2)) {
            (0, 0..=2) if amount_exists => Arithmetic,
            (1, 0) if w.imm3() <= 4 => Arithmetic,
            _ => System,
        },
        (1, 1) => three_sources(w),
        (1, 0) => match w.bits(21, 3) {
            0b000 => carry_and_flags(w),
            // Conditional compares set flags; selects do not.
            0b010 if w.bits(29, 1) == 1 && w.bits(10, 1) == 0 => Arithmetic,
            0b100 if w.bits(29, 1) == 0 && w.bits(11, 1) == 0 => Arithmetic,
            0b110 if w.bits(30, 1) == 0 => two_sources(w),
            0b110 => one_source(w),
            _ => System,
        },
        _ => System,
    }
}

/// ADC and SBC; RMIF; SETF8 and SETF16.
const fn carry_and_flags(w: Word) -> Class {
    match (w.bits(29, 3), w.bits(10, 6)) {
        (_, 0b00_0000) => Arithmetic,
        (0b101, low) if low & 0b01_1111 == 0b00_0001 => Arithmetic,
        (0b001, 0b00_0010 | 0b01_0010) if w.bits(19, 2) == 0 && w.bits(16, 1) == 0 => Arithmetic,
        _ => System,
    }
}

const fn three_sources(w: Word) -> Class {
    match (w.bits(29, 3), w.bits(21, 3), w.bits(15, 1)) {
        (0b000 | 0b100, 0b000, _) => MulDiv,
        (0b100, 0b001 | 0b101, _) | (0b100, 0b010 | 0b110, 0) => MulDiv,
        _ => System,
    }
}

const fn two_sources(w: Word) -> Class {
    let wide = w.bits(31, 1) == 1;
    match (w.bits(29, 1), w.bits(10, 6)) {
        // SUBP and SUBPS; min/max (register).
        (_, 0b00_0000) if wide => Arithmetic,
        (0, 0b01_1000..=0b01_1011) => Arithmetic,
        (0, 0b00_0010 | 0b00_0011) => MulDiv,
        (0, 0b00_1000..=0b00_1011) => ExtendShift,
        // CRC32X and CRC32CX are 64-bit instructions, the others 32-bit ones.
        (0, 0b01_0000..=0b01_0111) if (w.bits(10, 2) == 0b11) == wide => MulDiv,
        _ => System,
    }
}

/// Reversals and counts, including the ones of `FEAT_CSSC`; pointer authentication.
const fn one_source(w: Word) -> Class {
    let wide = w.bits(31, 1) == 1;
    let opcode2 = w.bits(19, 2) << 1 | w.bits(16, 1);
    match (w.bits(29, 1), opcode2, w.bits(10, 6)) {
        (0, 0, 0b00_0011) if !wide => System,
        (0, 0, 0b00_0000..=0b00_1000) => ExtendShift,
        (0, 1, 0b00_0000..=0b01_0001) if wide => ExtendShift,
        _ => System,
    }
}

const fn simd_and_floating_point(w: Word) -> Class {
    match (w.bits(28, 4), w.bits(24, 1)) {
        // 1100 1110: three- and four-register cryptography.
        (0b1100, 0) => Logical,
        (top, _) if top & 0b0101 == 0b0001 => floating_point(w),
        (top, _) if top & 0b1001 == 0 || top & 0b1101 == 0b0101 => advanced_simd(w),
        _ => System,
    }
}

const fn floating_point(w: Word) -> Class {
    let m_or_s = w.bits(31, 1) | w.bits(29, 1);
    let precision_exists = w.bits(22, 2) != 0b10;
    if w.bits(24, 1) == 1 {
        return if m_or_s == 0 && precision_exists { MulDiv } else { System };
    }
    // Conversions to and from fixed point and integers, the only ones with a 64-bit form.
    if w.bits(29, 1) == 0 && (w.bits(21, 1) == 0 || w.bits(10, 6) == 0) {
        return ExtendShift;
    }
    if m_or_s == 1 || !precision_exists || w.bits(21, 1) == 0 {
        return System;
    }
    match (w.bits(10, 2), w.bits(12, 4)) {
        // Conditional compare; select.
        (0b01 | 0b11, _) => Arithmetic,
        (0b10, 0b0000 | 0b0001 | 0b1000) => MulDiv,
        (0b10, 0b0010..=0b0111) => Arithmetic,
        (0b10, _) => System,
        // Immediate; compare; one source.
        (_, low) if low & 1 == 1 => Arithmetic,
        (_, 0b0010) => Arithmetic,
        (_, 0b0100 | 0b1100) => ExtendShift,
        _ => System,
    }
}

/// Vector and scalar forms share their layout. `u` is bit 29.
const fn advanced_simd(w: Word) -> Class {
    let u = w.bits(29, 1);
    let (bit21, bit15, low) = (w.bits(21, 1), w.bits(15, 1), w.bits(10, 2));
    if w.bits(24, 1) == 1 {
        return match low & 1 {
            0 => MulDiv, // By element.
            _ if w.bits(23, 1) == 1 => System,
            _ if w.bits(19, 4) != 0 => ExtendShift, // Shift by immediate.
            _ => modified_immediate(w),
        };
    }
    match (bit21, low) {
        (1, 0b01 | 0b11) => three_same(w.bits(11, 5), u),
        (1, 0b00) => three_different(w.bits(12, 4)),
        (1, _) => match w.bits(19, 2) {
            0b00 => two_register_miscellaneous(w.bits(12, 5), u),
            0b01 => Logical,    // AES and SHA, two registers.
            0b10 => Arithmetic, // Across lanes and scalar pairwise.
            _ => System,
        },
        // SHA, three registers.
        (_, 0b00) if w.bits(28, 1) == 1 && bit15 == 0 => Logical,
        // Dot products and similar instructions of later versions.
        (_, 0b01 | 0b11) if bit15 == 1 => MulDiv,
        // Copies; half-precision three-same of later versions.
        (_, 0b01 | 0b11) if w.bits(22, 2) == 0 => ExtendShift,
        (_, 0b01 | 0b11) if w.bits(22, 1) == 1 && w.bits(14, 1) == 0 => {
            three_same(0b11000 | w.bits(11, 3), u)
        }
        // Table, permute, extract.
        (_, 0b00 | 0b10) if bit15 == 0 && w.bits(28, 1) == 0 => ExtendShift,
        _ => System,
    }
}

/// MOVI, MVNI and FMOV are moves; ORR and BIC with an immediate are logic.
const fn modified_immediate(w: Word) -> Class {
    let cmode = w.bits(12, 4);
    if cmode & 1 == 1 && cmode < 0b1100 { Logical } else { Arithmetic }
}

const fn three_same(opcode: u32, u: u32) -> Class {
    match opcode {
        0b00011 => Logical,
        0b01000..=0b01011 => ExtendShift,
        0b10010 | 0b10011 | 0b10110 | 0b11001 | 0b11011 => MulDiv,
        0b11111 => MulDiv,           // FDIV and the reciprocal steps.
        0b11101 if u == 0 => MulDiv, // FMLAL.
        _ => Arithmetic,
    }
}

const fn three_different(opcode: u32) -> Class {
    match opcode {
        0b0000..=0b0111 => Arithmetic,
        0b1000..=0b1110 => MulDiv,
        _ => System,
    }
}

const fn two_register_miscellaneous(opcode: u32, u: u32) -> Class {
    match opcode {
        0b00000 | 0b00001 => ExtendShift, // Reversals.
        0b00101 if u == 1 => Logical,     // NOT and RBIT.
        0b10010..=0b11111 => ExtendShift, // Narrowing, lengthening, conversion, rounding, estimates, roots.
        0b10000 | 0b10001 => System,
        _ => Arithmetic,
    }
}
