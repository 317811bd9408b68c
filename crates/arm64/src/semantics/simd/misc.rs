//! Instructions on elements with one operand, and some with Vd as a second.

use super::saturate::write_saturated;
use super::vector::{Lanes, elem, int, set_v, signed, v};
use crate::semantics::bitmask::ones;
use crate::{Cpu, Word};

/// Writes a function of each element of Vn to Vd.
#[inline]
fn each(cpu: &mut Cpu, w: Word, lanes: Lanes, operation: impl Fn(u64) -> u64) {
    let n = v(cpu, w.rn());
    set_v(cpu, w.rd(), lanes.collect(|e| operation(elem(n, e, lanes.esize))));
}

/// Reverses elements within containers of `container` bits.
fn reverse(cpu: &mut Cpu, w: Word, container: u32) {
    let lanes = Lanes::of_size(w);
    let n = v(cpu, w.rn());
    let flip = container / lanes.esize - 1;
    set_v(cpu, w.rd(), lanes.collect(|e| elem(n, e ^ flip, lanes.esize)));
}

/// REV16.
pub fn rev16(cpu: &mut Cpu, w: Word) {
    reverse(cpu, w, 16);
}

/// REV32.
pub fn rev32(cpu: &mut Cpu, w: Word) {
    reverse(cpu, w, 32);
}

/// REV64.
pub fn rev64(cpu: &mut Cpu, w: Word) {
    reverse(cpu, w, 64);
}

/// CLZ.
pub fn clz(cpu: &mut Cpu, w: Word) {
    let lanes = Lanes::of_size(w);
    each(cpu, w, lanes, |x| u64::from(x.leading_zeros() - (64 - lanes.esize)));
}

/// CLS.
pub fn cls(cpu: &mut Cpu, w: Word) {
    let lanes = Lanes::of_size(w);
    let differing = |x: u64| (x ^ x >> 1) & ones(lanes.esize - 1);
    each(cpu, w, lanes, |x| u64::from(differing(x).leading_zeros() - (65 - lanes.esize)));
}

/// CNT.
pub fn cnt(cpu: &mut Cpu, w: Word) {
    each(cpu, w, Lanes::new(w, 8), |x| u64::from(x.count_ones()));
}

/// NOT.
pub fn not(cpu: &mut Cpu, w: Word) {
    each(cpu, w, Lanes::new(w, 8), |x| !x);
}

/// RBIT.
pub fn rbit(cpu: &mut Cpu, w: Word) {
    each(cpu, w, Lanes::new(w, 8), |x| u64::from((x as u8).reverse_bits()));
}

/// Defines instructions on signed elements.
macro_rules! of_signed { ($($(#[doc = $doc:literal])* $name:ident = |$x:ident| $result:expr;)*) => { $(
    $(#[doc = $doc])*
    pub fn $name(cpu: &mut Cpu, w: Word) {
        let lanes = Lanes::of_size(w);
        each(cpu, w, lanes, |x| {
            let $x = signed(x, lanes.esize);
            $result
        });
    }
)* } }

/// Returns the result of a comparison: all ones if it holds, else zeros.
const fn all_ones(holds: bool) -> u64 {
    if holds { u64::MAX } else { 0 }
}

of_signed! {
    /// ABS.
    abs = |x| x.unsigned_abs() as u64;
    /// NEG.
    neg = |x| -x as u64;
    /// CMGT (zero).
    cmgt_zero = |x| all_ones(x > 0);
    /// CMGE (zero).
    cmge_zero = |x| all_ones(x >= 0);
    /// CMEQ (zero).
    cmeq_zero = |x| all_ones(x == 0);
    /// CMLE (zero).
    cmle_zero = |x| all_ones(x <= 0);
    /// CMLT (zero).
    cmlt_zero = |x| all_ones(x < 0);
}

/// Writes a saturated function of the elements of Vd and Vn to Vd. `unsigned` is for the elements of Vd and the result,
/// `n_unsigned` for the elements of Vn.
fn saturating(
    cpu: &mut Cpu,
    w: Word,
    unsigned: bool,
    n_unsigned: bool,
    operation: impl Fn(i128, i128) -> i128,
) {
    let lanes = Lanes::of_size(w);
    let (d, n) = (v(cpu, w.rd()), v(cpu, w.rn()));
    write_saturated(cpu, w, lanes, unsigned, |e| {
        let d = int(elem(d, e, lanes.esize), lanes.esize, unsigned);
        operation(d, int(elem(n, e, lanes.esize), lanes.esize, n_unsigned))
    });
}

/// SQABS.
pub fn sqabs(cpu: &mut Cpu, w: Word) {
    saturating(cpu, w, false, false, |_, x| x.abs());
}

/// SQNEG.
pub fn sqneg(cpu: &mut Cpu, w: Word) {
    saturating(cpu, w, false, false, |_, x| -x);
}

/// SUQADD: adds unsigned elements to signed ones.
pub fn suqadd(cpu: &mut Cpu, w: Word) {
    saturating(cpu, w, false, true, |d, x| d + x);
}

/// USQADD: adds signed elements to unsigned ones.
pub fn usqadd(cpu: &mut Cpu, w: Word) {
    saturating(cpu, w, true, false, |d, x| d + x);
}
