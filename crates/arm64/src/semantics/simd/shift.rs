//! Shifts by immediates.

use super::saturate::write_saturated;
use super::vector::{Lanes, collect, elem, int, set_v, v, v_part};
use crate::semantics::bitmask::ones;
use crate::view::IMMH;
use crate::{Cpu, Word};

/// Returns the amount of a right shift by immh:immb.
const fn right(w: Word) -> u32 {
    (16 << IMMH.size(w)) - w.immhb()
}

/// Returns the amount of a left shift by immh:immb.
const fn left(w: Word) -> u32 {
    w.immhb() - (8 << IMMH.size(w))
}

/// Shifts elements to the right. Adds them to those of Vd if `accumulate`.
fn shift_right(cpu: &mut Cpu, w: Word, unsigned: bool, rounding: bool, accumulate: bool) {
    let lanes = Lanes::of_immh(w);
    let (d, n, shift) = (v(cpu, w.rd()), v(cpu, w.rn()), right(w));
    let half = if rounding { 1 << (shift - 1) } else { 0 };
    let result = lanes.collect(|e| {
        let before = if accumulate { i128::from(elem(d, e, lanes.esize)) } else { 0 };
        (before + ((int(elem(n, e, lanes.esize), lanes.esize, unsigned) + half) >> shift)) as u64
    });
    set_v(cpu, w.rd(), result);
}

/// Defines right shifts: whether elements are unsigned, whether results are rounded, and whether they are added to Vd.
macro_rules! shifts { ($($(#[doc = $doc:literal])* $name:ident = $unsigned:literal $rounding:literal $accumulate:literal;)*) => { $(
    $(#[doc = $doc])*
    pub fn $name(cpu: &mut Cpu, w: Word) {
        shift_right(cpu, w, $unsigned, $rounding, $accumulate);
    }
)* } }
shifts! {
    /// SSHR.
    sshr = false false false;
    /// USHR.
    ushr = true false false;
    /// SSRA.
    ssra = false false true;
    /// USRA.
    usra = true false true;
    /// SRSHR.
    srshr = false true false;
    /// URSHR.
    urshr = true true false;
    /// SRSRA.
    srsra = false true true;
    /// URSRA.
    ursra = true true true;
}

/// Writes shifted elements to Vd. Bits that are not in `mask` keep the value they have in Vd.
fn insert(cpu: &mut Cpu, w: Word, mask: u64, shift: impl Fn(u64) -> u64) {
    let lanes = Lanes::of_immh(w);
    let (d, n) = (v(cpu, w.rd()), v(cpu, w.rn()));
    let result = lanes.collect(|e| elem(d, e, lanes.esize) & !mask | shift(elem(n, e, lanes.esize)));
    set_v(cpu, w.rd(), result);
}

/// SHL.
pub fn shl(cpu: &mut Cpu, w: Word) {
    insert(cpu, w, u64::MAX, |x| x << left(w));
}

/// SLI.
pub fn sli(cpu: &mut Cpu, w: Word) {
    insert(cpu, w, u64::MAX << left(w), |x| x << left(w));
}

/// SRI.
pub fn sri(cpu: &mut Cpu, w: Word) {
    // A shift by the whole element inserts nothing.
    let shift = |x: u64| x.checked_shr(right(w)).unwrap_or(0);
    insert(cpu, w, shift(ones(8 << IMMH.size(w))), shift);
}

/// Shifts elements to the left and saturates them. `from` and `to`: whether operands and results are unsigned.
fn saturating(cpu: &mut Cpu, w: Word, from: bool, to: bool) {
    let lanes = Lanes::of_immh(w);
    let n = v(cpu, w.rn());
    write_saturated(cpu, w, lanes, to, |e| int(elem(n, e, lanes.esize), lanes.esize, from) << left(w));
}

/// SQSHL (immediate).
pub fn sqshl(cpu: &mut Cpu, w: Word) {
    saturating(cpu, w, false, false);
}

/// UQSHL (immediate).
pub fn uqshl(cpu: &mut Cpu, w: Word) {
    saturating(cpu, w, true, true);
}

/// SQSHLU: saturates signed elements to unsigned ones.
pub fn sqshlu(cpu: &mut Cpu, w: Word) {
    saturating(cpu, w, false, true);
}

/// Extends elements to double size and shifts them to the left.
fn lengthen(cpu: &mut Cpu, w: Word, esize: u32, shift: u32, unsigned: bool) {
    let n = v_part(cpu, w, w.rn());
    let result =
        collect(2 * esize, 64 / esize, |e| (int(elem(n, e, esize), esize, unsigned) << shift) as u64);
    set_v(cpu, w.rd(), result);
}

/// SSHLL.
pub fn sshll(cpu: &mut Cpu, w: Word) {
    lengthen(cpu, w, 8 << IMMH.size(w), left(w), false);
}

/// USHLL.
pub fn ushll(cpu: &mut Cpu, w: Word) {
    lengthen(cpu, w, 8 << IMMH.size(w), left(w), true);
}

/// SHLL.
pub fn shll(cpu: &mut Cpu, w: Word) {
    lengthen(cpu, w, 8 << w.size(), 8 << w.size(), true);
}
