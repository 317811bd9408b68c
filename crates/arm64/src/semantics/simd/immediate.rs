//! Moves and logic with immediates.

use super::vector::{set_v, v};
use crate::semantics::float::format::{DOUBLE, Format, HALF, SINGLE, fp_format};
use crate::{Cpu, Word};

/// `VFPExpandImm()`: expands an 8-bit floating-point immediate to a format.
#[must_use]
pub const fn vfp_expand_imm(imm8: u32, format: Format) -> u64 {
    let (sign, exponent, fraction) = (imm8 as u64 >> 7, imm8 as u64 >> 6 & 1, imm8 as u64 & 0x3f);
    let bits = format.exponent_bits;
    // NOT(b), then b repeated, then the two low bits of the exponent and the fraction.
    let repeated = if exponent == 1 { (1 << (bits - 3)) - 1 } else { 0 };
    let top = (1 - exponent) << (bits - 1) | repeated << 2;
    sign << (bits + format.fraction_bits)
        | top << format.fraction_bits
        | fraction << (format.fraction_bits - 4)
}

/// `AdvSIMDExpandImm()`: expands a modified immediate to 64 bits.
#[must_use]
pub const fn adv_simd_expand_imm(op: u32, cmode: u32, imm8: u32) -> u64 {
    const WORDS: u64 = 0x1_0000_0001;
    const HALVES: u64 = 0x0001_0001_0001_0001;
    const BYTES: u64 = 0x0101_0101_0101_0101;
    let imm = imm8 as u64;
    match cmode >> 1 {
        shift @ 0..=3 => (imm << (8 * shift)) * WORDS,
        0b100 => imm * HALVES,
        0b101 => (imm << 8) * HALVES,
        0b110 if cmode & 1 == 0 => (imm << 8 | 0xff) * WORDS,
        0b110 => (imm << 16 | 0xffff) * WORDS,
        _ if cmode & 1 == 0 && op == 0 => imm * BYTES,
        _ if cmode & 1 == 0 => {
            // Each bit becomes a byte.
            let (mut mask, mut bit) = (0, 0);
            while bit < 8 {
                if imm >> bit & 1 == 1 {
                    mask |= 0xff << (8 * bit);
                }
                bit += 1;
            }
            mask
        }
        _ if op == 0 => vfp_expand_imm(imm8, SINGLE) * WORDS,
        _ => vfp_expand_imm(imm8, DOUBLE),
    }
}

/// Returns the immediate of a word, in 128 bits or, if Q is 0, in the lower half.
const fn immediate(w: Word) -> u128 {
    let imm64 = adv_simd_expand_imm(w.bits(29, 1), w.cmode(), w.abcdefgh()) as u128;
    if w.q() == 1 { imm64 << 64 | imm64 } else { imm64 }
}

/// Returns the mask of the bits that the instruction writes: 128 or, if Q is 0, the lower half.
const fn datasize_mask(w: Word) -> u128 {
    if w.q() == 1 { u128::MAX } else { u64::MAX as u128 }
}

/// MOVI and FMOV (vector, immediate).
pub fn movi(cpu: &mut Cpu, w: Word) {
    set_v(cpu, w.rd(), immediate(w));
}

/// FMOV (vector, immediate) of half precision.
pub fn fmov_halves(cpu: &mut Cpu, w: Word) {
    const HALVES: u128 = u128::MAX / 0xffff;
    set_v(cpu, w.rd(), (u128::from(vfp_expand_imm(w.abcdefgh(), HALF)) * HALVES) & datasize_mask(w));
}

/// MVNI.
pub fn mvni(cpu: &mut Cpu, w: Word) {
    set_v(cpu, w.rd(), !immediate(w) & datasize_mask(w));
}

/// ORR (vector, immediate).
pub fn orr(cpu: &mut Cpu, w: Word) {
    set_v(cpu, w.rd(), (v(cpu, w.rd()) | immediate(w)) & datasize_mask(w));
}

/// BIC (vector, immediate).
pub fn bic(cpu: &mut Cpu, w: Word) {
    set_v(cpu, w.rd(), v(cpu, w.rd()) & !immediate(w) & datasize_mask(w));
}

/// FMOV (scalar, immediate).
pub fn fmov<const N: u32>(cpu: &mut Cpu, w: Word) {
    set_v(cpu, w.rd(), vfp_expand_imm(w.imm8(), fp_format(N, false)).into());
}
