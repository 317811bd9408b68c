//! Long, wide and narrowing arithmetic: operands and results have elements of different sizes.

use super::saturate::{sat_q, set_qc};
use super::vector::{Lanes, Second, collect, elem, int, set_v, set_v_part, signed, v, v_part};
use crate::{Cpu, Word};

/// Writes elements of double size to Vd: a function of those of Vd, and of the elements of Vn and the second operand.
#[inline]
fn long(cpu: &mut Cpu, w: Word, unsigned: bool, operation: impl Fn(i128, i128, i128) -> i128) {
    let lanes = Lanes::narrow(w, 8 << w.size());
    let esize = lanes.esize;
    let (d, n) = (v(cpu, w.rd()), v_part(cpu, w, w.rn()));
    let m = Second::new(cpu, w, esize, v_part(cpu, w, w.rm()));
    let result = collect(2 * esize, lanes.count, |e| {
        let d = int(elem(d, e, 2 * esize), 2 * esize, unsigned);
        operation(d, int(elem(n, e, esize), esize, unsigned), int(m.elem(e), esize, unsigned)) as u64
    });
    set_v(cpu, w.rd(), result);
}

/// Writes elements of double size to Vd: a function of those of Vn, and of the elements of Vm.
#[inline]
fn wide(cpu: &mut Cpu, w: Word, unsigned: bool, operation: impl Fn(i128, i128) -> i128) {
    let esize = 8 << w.size();
    let (n, m) = (v(cpu, w.rn()), v_part(cpu, w, w.rm()));
    let result = collect(2 * esize, 64 / esize, |e| {
        operation(int(elem(n, e, 2 * esize), 2 * esize, unsigned), int(elem(m, e, esize), esize, unsigned))
            as u64
    });
    set_v(cpu, w.rd(), result);
}

/// Writes the upper halves of a function of the elements of Vn and Vm, which have double size, to a half of Vd.
#[inline]
fn high_narrow(cpu: &mut Cpu, w: Word, rounding: bool, operation: impl Fn(i128, i128) -> i128) {
    let esize = 8 << w.size();
    let (n, m) = (v(cpu, w.rn()), v(cpu, w.rm()));
    let half = if rounding { 1 << (esize - 1) } else { 0 };
    let result = collect(esize, 64 / esize, |e| {
        let [n, m] = [n, m].map(|x| i128::from(elem(x, e, 2 * esize)));
        ((operation(n, m) + half) >> esize) as u64
    });
    set_v_part(cpu, w, result);
}

/// Defines instructions: the function that applies the operation, whether elements are unsigned (`long` and `wide`) or
/// results are rounded (`high_narrow`), and the operation.
macro_rules! instructions { ($(
    $(#[doc = $doc:literal])* $name:ident = $frame:ident $flag:literal |$($operand:ident),*| $result:expr;
)*) => { $(
    $(#[doc = $doc])*
    pub fn $name(cpu: &mut Cpu, w: Word) {
        $frame(cpu, w, $flag, |$($operand),*| $result);
    }
)* } }
instructions! {
    /// SADDL.
    saddl = long false |_d, n, m| n + m;
    /// UADDL.
    uaddl = long true |_d, n, m| n + m;
    /// SSUBL.
    ssubl = long false |_d, n, m| n - m;
    /// USUBL.
    usubl = long true |_d, n, m| n - m;
    /// SADDW.
    saddw = wide false |n, m| n + m;
    /// UADDW.
    uaddw = wide true |n, m| n + m;
    /// SSUBW.
    ssubw = wide false |n, m| n - m;
    /// USUBW.
    usubw = wide true |n, m| n - m;
    /// ADDHN.
    addhn = high_narrow false |n, m| n + m;
    /// RADDHN.
    raddhn = high_narrow true |n, m| n + m;
    /// SUBHN.
    subhn = high_narrow false |n, m| n - m;
    /// RSUBHN.
    rsubhn = high_narrow true |n, m| n - m;
    /// SABDL.
    sabdl = long false |_d, n, m| (n - m).abs();
    /// UABDL.
    uabdl = long true |_d, n, m| (n - m).abs();
    /// SABAL.
    sabal = long false |d, n, m| d + (n - m).abs();
    /// UABAL.
    uabal = long true |d, n, m| d + (n - m).abs();
    /// SMULL.
    smull = long false |_d, n, m| n * m;
    /// UMULL.
    umull = long true |_d, n, m| n * m;
    /// SMLAL.
    smlal = long false |d, n, m| d + n * m;
    /// UMLAL.
    umlal = long true |d, n, m| d + n * m;
    /// SMLSL.
    smlsl = long false |d, n, m| d - n * m;
    /// UMLSL.
    umlsl = long true |d, n, m| d - n * m;
}

/// Doubles the products of elements, saturates them, combines them with the elements of Vd, which have double size, and
/// saturates the result.
#[inline]
fn doubling(cpu: &mut Cpu, w: Word, combine: impl Fn(i128, i128) -> i128) {
    let lanes = Lanes::narrow(w, 8 << w.size());
    let esize = lanes.esize;
    let (d, n) = (v(cpu, w.rd()), v_part(cpu, w, w.rn()));
    let m = Second::new(cpu, w, esize, v_part(cpu, w, w.rm()));
    let mut any = false;
    let result = collect(2 * esize, lanes.count, |e| {
        let product = 2 * signed(elem(n, e, esize), esize) * signed(m.elem(e), esize);
        let (product, first) = sat_q(product, 2 * esize, false);
        let sum = combine(signed(elem(d, e, 2 * esize), 2 * esize), signed(product, 2 * esize));
        let (sum, second) = sat_q(sum, 2 * esize, false);
        any |= first || second;
        sum
    });
    set_v(cpu, w.rd(), result);
    set_qc(cpu, any);
}

/// SQDMULL.
pub fn sqdmull(cpu: &mut Cpu, w: Word) {
    doubling(cpu, w, |_, product| product);
}

/// SQDMLAL.
pub fn sqdmlal(cpu: &mut Cpu, w: Word) {
    doubling(cpu, w, |d, product| d + product);
}

/// SQDMLSL.
pub fn sqdmlsl(cpu: &mut Cpu, w: Word) {
    doubling(cpu, w, |d, product| d - product);
}
