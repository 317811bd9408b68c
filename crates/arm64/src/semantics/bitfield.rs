//! Bit fields and extraction.

use super::bitmask::{BitMasks, decode_bit_masks};
use super::operand::rotate_right;
use super::truncate;
use crate::{Cpu, Word};

/// Returns the source, rotated so that the field is in its place, and the masks of the field.
#[inline(always)]
fn field<const N: u32>(cpu: &Cpu, w: Word) -> (u64, BitMasks) {
    // The field N is 1 exactly in 64-bit encodings, so no bit field is reserved.
    let masks = decode_bit_masks(N >> 6, w.imms(), w.immr(), false).unwrap_or_default();
    (rotate_right(truncate(cpu.x(w.rn()), N), w.immr(), N), masks)
}

/// SBFM: the field, sign-extended upwards and zero below.
#[inline(always)]
pub fn sbfm<const N: u32>(cpu: &mut Cpu, w: Word) {
    let (rotated, masks) = field::<N>(cpu, w);
    let bottom = rotated & masks.wmask;
    let sign = cpu.x(w.rn()) >> w.imms() & 1;
    let top = if sign == 1 { u64::MAX } else { 0 };
    cpu.set_x(w.rd(), truncate((top & !masks.tmask) | (bottom & masks.tmask), N));
}

/// BFM: the field inserted into Rd.
#[inline(always)]
pub fn bfm<const N: u32>(cpu: &mut Cpu, w: Word) {
    let (rotated, masks) = field::<N>(cpu, w);
    let destination = cpu.x(w.rd());
    let bottom = (destination & !masks.wmask) | (rotated & masks.wmask);
    cpu.set_x(w.rd(), truncate((destination & !masks.tmask) | (bottom & masks.tmask), N));
}

/// UBFM: the field with zeros around it.
#[inline(always)]
pub fn ubfm<const N: u32>(cpu: &mut Cpu, w: Word) {
    let (rotated, masks) = field::<N>(cpu, w);
    cpu.set_x(w.rd(), truncate(rotated & masks.wmask & masks.tmask, N));
}

/// EXTR: a register-sized window of Rn:Rm.
#[inline(always)]
pub fn extr<const N: u32>(cpu: &mut Cpu, w: Word) {
    let (high, low) = (truncate(cpu.x(w.rn()), N), truncate(cpu.x(w.rm()), N));
    cpu.set_x(w.rd(), truncate(window(high, low, w.imms(), N), N));
}

/// Returns the `datasize` bits of `high:low` that begin at bit `lsb` of `low`. The operands have `datasize` bits, and
/// `lsb` is below `datasize`. The caller truncates the result to `datasize` bits.
#[must_use]
#[inline(always)]
pub const fn window(high: u64, low: u64, lsb: u32, datasize: u32) -> u64 {
    let above = if lsb == 0 { 0 } else { high << (datasize - lsb) };
    low >> lsb | above
}
