//! Instructions that narrow elements to half their size.

use super::saturate::{sat_q, set_qc};
use super::vector::{Lanes, elem, int, set_v_part, v};
use crate::view::IMMH;
use crate::{Cpu, Word};

/// The signs of operands and results.
#[derive(Clone, Copy)]
struct Signs {
    /// Whether operands are unsigned.
    from: bool,
    /// Whether results are unsigned; `None` if they are not saturated.
    to: Option<bool>,
}

/// Writes the elements of Vn, narrowed to `esize` bits, to a half of Vd. Applies `shift` to them before.
#[inline]
fn narrow(cpu: &mut Cpu, w: Word, esize: u32, signs: Signs, shift: impl Fn(i128) -> i128) {
    let lanes = Lanes::narrow(w, esize);
    let n = v(cpu, w.rn());
    let mut any = false;
    let result = lanes.collect(|e| {
        let value = shift(int(elem(n, e, 2 * esize), 2 * esize, signs.from));
        let Some(unsigned) = signs.to else { return value as u64 };
        let (element, saturated) = sat_q(value, esize, unsigned);
        any |= saturated;
        element
    });
    set_v_part(cpu, w, result);
    set_qc(cpu, any);
}

/// XTN.
pub fn xtn(cpu: &mut Cpu, w: Word) {
    narrow(cpu, w, 8 << w.size(), Signs { from: true, to: None }, |x| x);
}

/// SQXTN.
pub fn sqxtn(cpu: &mut Cpu, w: Word) {
    narrow(cpu, w, 8 << w.size(), Signs { from: false, to: Some(false) }, |x| x);
}

/// UQXTN.
pub fn uqxtn(cpu: &mut Cpu, w: Word) {
    narrow(cpu, w, 8 << w.size(), Signs { from: true, to: Some(true) }, |x| x);
}

/// SQXTUN.
pub fn sqxtun(cpu: &mut Cpu, w: Word) {
    narrow(cpu, w, 8 << w.size(), Signs { from: false, to: Some(true) }, |x| x);
}

/// Narrows elements after a right shift by immh:immb.
fn shift_right(cpu: &mut Cpu, w: Word, rounding: bool, signs: Signs) {
    let esize = 8 << IMMH.size(w);
    let shift = 2 * esize - w.immhb();
    let half = if rounding { 1 << (shift - 1) } else { 0 };
    narrow(cpu, w, esize, signs, |x| (x + half) >> shift);
}

/// Defines instructions that narrow after a shift: whether they round, and the two fields of [`Signs`].
macro_rules! shifts { ($($(#[doc = $doc:literal])* $name:ident = $rounding:literal $from:literal $to:expr;)*) => { $(
    $(#[doc = $doc])*
    pub fn $name(cpu: &mut Cpu, w: Word) {
        shift_right(cpu, w, $rounding, Signs { from: $from, to: $to });
    }
)* } }
shifts! {
    /// SHRN.
    shrn = false true None;
    /// RSHRN.
    rshrn = true true None;
    /// SQSHRN.
    sqshrn = false false Some(false);
    /// SQRSHRN.
    sqrshrn = true false Some(false);
    /// UQSHRN.
    uqshrn = false true Some(true);
    /// UQRSHRN.
    uqrshrn = true true Some(true);
    /// SQSHRUN.
    sqshrun = false false Some(true);
    /// SQRSHRUN.
    sqrshrun = true false Some(true);
}
