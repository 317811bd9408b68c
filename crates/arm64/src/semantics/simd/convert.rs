//! Conversions between floating-point formats, and between floating-point numbers and integers.

use super::float::{format, noted};
use super::vector::{Lanes, collect, elem, is_scalar, set_v, set_v_part, v, v_part};
use crate::semantics::bitmask::ones;
use crate::semantics::float::control::{ROUND_ODD, fp_rounding_mode};
use crate::semantics::float::format::{DOUBLE, SINGLE, fp_format};
use crate::semantics::float::named::Fixed;
use crate::semantics::float::quick::{fixed_to_fp, fp_convert, fp_to_fixed};
use crate::view::IMMH;
use crate::{Cpu, Word};

/// FCVT: converts from a format of `FROM` bits to one of `TO` bits.
#[inline(never)]
pub fn fcvt<const FROM: u32, const TO: u32>(cpu: &mut Cpu, w: Word) {
    let value = elem(v(cpu, w.rn()), 0, FROM);
    let (from, to, rounding) = (fp_format(FROM, false), fp_format(TO, false), fp_rounding_mode(cpu.fpcr));
    let result = fp_convert(value, from, to, rounding, cpu.fpcr);
    let value = noted(cpu, result);
    set_v(cpu, w.rd(), value.into());
}

/// FCVTL: half to single, or single to double precision.
#[inline(never)]
pub fn fcvtl(cpu: &mut Cpu, w: Word) {
    let esize = 16 << w.bits(22, 1);
    let (n, fpcr) = (v_part(cpu, w, w.rn()), cpu.fpcr);
    let (from, to) = (fp_format(esize, false), fp_format(2 * esize, false));
    let result = collect(2 * esize, 64 / esize, |e| {
        noted(cpu, fp_convert(elem(n, e, esize), from, to, fp_rounding_mode(fpcr), fpcr))
    });
    set_v(cpu, w.rd(), result);
}

/// FCVTN: single to half, or double to single precision.
#[inline(never)]
pub fn fcvtn(cpu: &mut Cpu, w: Word) {
    let esize = 16 << w.bits(22, 1);
    let (n, fpcr) = (v(cpu, w.rn()), cpu.fpcr);
    let (from, to) = (fp_format(2 * esize, false), fp_format(esize, false));
    let result = collect(esize, 64 / esize, |e| {
        noted(cpu, fp_convert(elem(n, e, 2 * esize), from, to, fp_rounding_mode(fpcr), fpcr))
    });
    set_v_part(cpu, w, result);
}

/// FCVTXN: double to single precision, rounded to odd.
pub fn fcvtxn(cpu: &mut Cpu, w: Word) {
    let (n, fpcr) = (v(cpu, w.rn()), cpu.fpcr);
    let count = if is_scalar(w) { 1 } else { 2 };
    let result =
        collect(32, count, |e| noted(cpu, fp_convert(elem(n, e, 64), DOUBLE, SINGLE, ROUND_ODD, fpcr)));
    set_v_part(cpu, w, result);
}

/// Converts numbers of Vn to integers of the same size.
#[inline(never)]
fn lanes_to_fixed(cpu: &mut Cpu, w: Word, lanes: Lanes, to: Fixed, rounding: u32) {
    let (n, fpcr) = (v(cpu, w.rn()), cpu.fpcr);
    let result = lanes.collect(|e| {
        let value = elem(n, e, lanes.esize);
        noted(cpu, fp_to_fixed(value, to, rounding, format(lanes), fpcr))
    });
    set_v(cpu, w.rd(), result);
}

/// Converts integers of Vn to numbers of the same size.
#[inline(never)]
fn lanes_to_fp(cpu: &mut Cpu, w: Word, lanes: Lanes, from: Fixed) {
    let (n, fpcr) = (v(cpu, w.rn()), cpu.fpcr);
    let result =
        lanes.collect(|e| noted(cpu, fixed_to_fp(elem(n, e, lanes.esize), from, format(lanes), fpcr)));
    set_v(cpu, w.rd(), result);
}

/// Returns the number of fraction bits that immh:immb encodes.
const fn fraction_bits(w: Word) -> u32 {
    (16 << IMMH.size(w)) - w.immhb()
}

/// FCVTNS and similar instructions (vector and scalar). `U`: the integers are unsigned.
pub fn to_integers<const U: bool, const ROUNDING: u32>(cpu: &mut Cpu, w: Word) {
    let lanes = Lanes::of_sz(w);
    lanes_to_fixed(cpu, w, lanes, Fixed { fbits: 0, intsize: lanes.esize, unsigned: U }, ROUNDING);
}

/// FCVTZS and FCVTZU (vector, fixed point).
pub fn to_fixed<const U: bool, const ROUNDING: u32>(cpu: &mut Cpu, w: Word) {
    let lanes = Lanes::of_immh(w);
    let to = Fixed { fbits: fraction_bits(w), intsize: lanes.esize, unsigned: U };
    lanes_to_fixed(cpu, w, lanes, to, ROUNDING);
}

/// SCVTF and UCVTF (vector, integer).
pub fn from_integers<const U: bool>(cpu: &mut Cpu, w: Word) {
    let lanes = Lanes::of_sz(w);
    lanes_to_fp(cpu, w, lanes, Fixed { fbits: 0, intsize: lanes.esize, unsigned: U });
}

/// SCVTF and UCVTF (vector, fixed point).
pub fn from_fixed<const U: bool>(cpu: &mut Cpu, w: Word) {
    let lanes = Lanes::of_immh(w);
    lanes_to_fp(cpu, w, lanes, Fixed { fbits: fraction_bits(w), intsize: lanes.esize, unsigned: U });
}

/// Returns the size of the general register in bits.
const fn intsize(w: Word) -> u32 {
    32 << w.bits(31, 1)
}

/// Returns the number of fraction bits; 0 in forms for integers, which have bit 21 set.
const fn scale_bits(w: Word) -> u32 {
    if w.bits(21, 1) == 1 { 0 } else { 64 - w.scale() }
}

/// Returns the format of integers or fixed-point numbers in the general register.
const fn general<const U: bool>(w: Word) -> Fixed {
    Fixed { fbits: scale_bits(w), intsize: intsize(w), unsigned: U }
}

/// FCVTNS and similar instructions to a general register, as integer or fixed point.
#[inline(never)]
pub fn to_general<const U: bool, const ROUNDING: u32>(cpu: &mut Cpu, w: Word) {
    let lanes = Lanes::of_sz(w);
    let value = elem(v(cpu, w.rn()), 0, lanes.esize);
    let result = fp_to_fixed(value, general::<U>(w), ROUNDING, format(lanes), cpu.fpcr);
    let value = noted(cpu, result);
    cpu.set_x(w.rd(), value);
}

/// SCVTF and UCVTF from a general register, from integer or fixed point.
#[inline(never)]
pub fn from_general<const U: bool>(cpu: &mut Cpu, w: Word) {
    let lanes = Lanes::of_sz(w);
    let integer = cpu.x(w.rn()) & ones(intsize(w));
    let result = fixed_to_fp(integer, general::<U>(w), format(lanes), cpu.fpcr);
    let value = noted(cpu, result);
    set_v(cpu, w.rd(), value.into());
}
