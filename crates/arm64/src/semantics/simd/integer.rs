//! Arithmetic on integer elements with two operands, and some with Vd as a third. Bitwise logic on vectors.

use super::polynomial::polynomial_mult;
use super::saturate::write_saturated;
use super::vector::{Lanes, Second, elem, int, set_v, v};
use crate::{Cpu, Word};

/// The result of a comparison that holds.
const ALL_ONES: i128 = -1;

/// Writes a function of the elements of Vn and the second operand to Vd.
#[inline]
fn each(cpu: &mut Cpu, w: Word, unsigned: bool, operation: impl Fn(i128, i128) -> i128) {
    each_with_destination(cpu, w, unsigned, |_, a, b| operation(a, b));
}

/// Writes a function of the elements of Vd, Vn and the second operand to Vd.
#[inline]
fn each_with_destination(
    cpu: &mut Cpu,
    w: Word,
    unsigned: bool,
    operation: impl Fn(i128, i128, i128) -> i128,
) {
    let lanes = Lanes::of_size(w);
    let (d, n) = (v(cpu, w.rd()), v(cpu, w.rn()));
    let m = Second::new(cpu, w, lanes.esize, v(cpu, w.rm()));
    let result = lanes.collect(|e| {
        let [d, n, m] = [elem(d, e, lanes.esize), elem(n, e, lanes.esize), m.elem(e)]
            .map(|x| int(x, lanes.esize, unsigned));
        operation(d, n, m) as u64
    });
    set_v(cpu, w.rd(), result);
}

/// Writes a function of the elements of Vn and the second operand to Vd, saturated.
#[inline]
fn each_saturated(cpu: &mut Cpu, w: Word, unsigned: bool, operation: impl Fn(i128, i128, u32) -> i128) {
    let lanes = Lanes::of_size(w);
    let n = v(cpu, w.rn());
    let m = Second::new(cpu, w, lanes.esize, v(cpu, w.rm()));
    write_saturated(cpu, w, lanes, unsigned, |e| {
        let [n, m] = [elem(n, e, lanes.esize), m.elem(e)].map(|x| int(x, lanes.esize, unsigned));
        operation(n, m, lanes.esize)
    });
}

/// Shifts a value by the low byte of `amount`, which is signed: to the left if it is positive, else to the right, with
/// rounding if `rounding` is set.
#[must_use]
#[inline]
pub const fn shift_by_register(value: i128, amount: i128, rounding: bool, esize: u32) -> i128 {
    let amount = amount as i8 as i32;
    if amount >= esize as i32 {
        // All bits of the element are shifted out. Unless it is zero, the result is so large that it saturates.
        return value.signum() << 100;
    }
    if amount >= 0 {
        return value << amount;
    }
    // All right shifts by more than 65 bits (an element and the bit for rounding) have the same result.
    let right = if amount < -66 { 66 } else { -amount };
    let half = if rounding { 1 << (right - 1) } else { 0 };
    (value + half) >> right
}

/// Defines instructions with two operands: the sign of elements, and the operation.
macro_rules! lane_by_lane { ($(
    $(#[doc = $doc:literal])* $name:ident = $signs:ident |$a:ident, $b:ident| $result:expr;
)*) => { $(
    $(#[doc = $doc])*
    pub fn $name(cpu: &mut Cpu, w: Word) {
        each(cpu, w, $signs, |$a, $b| $result);
    }
)* } }

const SIGNED: bool = false;
const UNSIGNED: bool = true;

lane_by_lane! {
    /// ADD.
    add = UNSIGNED |a, b| a + b;
    /// SUB.
    sub = UNSIGNED |a, b| a - b;
    /// MUL.
    mul = SIGNED |a, b| a * b;
    /// SHADD.
    shadd = SIGNED |a, b| (a + b) >> 1;
    /// UHADD.
    uhadd = UNSIGNED |a, b| (a + b) >> 1;
    /// SRHADD.
    srhadd = SIGNED |a, b| (a + b + 1) >> 1;
    /// URHADD.
    urhadd = UNSIGNED |a, b| (a + b + 1) >> 1;
    /// SHSUB.
    shsub = SIGNED |a, b| (a - b) >> 1;
    /// UHSUB.
    uhsub = UNSIGNED |a, b| (a - b) >> 1;
    /// SMAX.
    smax = SIGNED |a, b| a.max(b);
    /// UMAX.
    umax = UNSIGNED |a, b| a.max(b);
    /// SMIN.
    smin = SIGNED |a, b| a.min(b);
    /// UMIN.
    umin = UNSIGNED |a, b| a.min(b);
    /// SABD.
    sabd = SIGNED |a, b| (a - b).abs();
    /// UABD.
    uabd = UNSIGNED |a, b| (a - b).abs();
    /// CMGT (register).
    cmgt = SIGNED |a, b| if a > b { ALL_ONES } else { 0 };
    /// CMGE (register).
    cmge = SIGNED |a, b| if a >= b { ALL_ONES } else { 0 };
    /// CMHI.
    cmhi = UNSIGNED |a, b| if a > b { ALL_ONES } else { 0 };
    /// CMHS.
    cmhs = UNSIGNED |a, b| if a >= b { ALL_ONES } else { 0 };
    /// CMEQ (register).
    cmeq = UNSIGNED |a, b| if a == b { ALL_ONES } else { 0 };
    /// CMTST.
    cmtst = UNSIGNED |a, b| if a & b != 0 { ALL_ONES } else { 0 };
    /// PMUL.
    pmul = UNSIGNED |a, b| polynomial_mult(a as u64, b as u64) as i128;
}

/// MLA.
pub fn mla(cpu: &mut Cpu, w: Word) {
    each_with_destination(cpu, w, SIGNED, |d, a, b| d + a * b);
}

/// MLS.
pub fn mls(cpu: &mut Cpu, w: Word) {
    each_with_destination(cpu, w, SIGNED, |d, a, b| d - a * b);
}

/// SABA.
pub fn saba(cpu: &mut Cpu, w: Word) {
    each_with_destination(cpu, w, SIGNED, |d, a, b| d + (a - b).abs());
}

/// UABA.
pub fn uaba(cpu: &mut Cpu, w: Word) {
    each_with_destination(cpu, w, UNSIGNED, |d, a, b| d + (a - b).abs());
}

/// Defines instructions that shift by a register: names without and with saturation, sign of elements, and rounding.
macro_rules! shifts { ($(
    $(#[doc = $doc:literal])* $name:ident
    $(#[doc = $saturating_doc:literal])* $saturating:ident = $signs:ident $rounding:literal;
)*) => { $(
    $(#[doc = $doc])*
    pub fn $name(cpu: &mut Cpu, w: Word) {
        let esize = Lanes::of_size(w).esize;
        each(cpu, w, $signs, |a, b| shift_by_register(a, b, $rounding, esize));
    }

    $(#[doc = $saturating_doc])*
    pub fn $saturating(cpu: &mut Cpu, w: Word) {
        each_saturated(cpu, w, $signs, |a, b, esize| shift_by_register(a, b, $rounding, esize));
    }
)* } }
shifts! {
    /// SSHL.
    sshl
    /// SQSHL (register).
    sqshl = SIGNED false;
    /// USHL.
    ushl
    /// UQSHL (register).
    uqshl = UNSIGNED false;
    /// SRSHL.
    srshl
    /// SQRSHL.
    sqrshl = SIGNED true;
    /// URSHL.
    urshl
    /// UQRSHL.
    uqrshl = UNSIGNED true;
}

/// SQADD.
pub fn sqadd(cpu: &mut Cpu, w: Word) {
    each_saturated(cpu, w, SIGNED, |a, b, _| a + b);
}

/// UQADD.
pub fn uqadd(cpu: &mut Cpu, w: Word) {
    each_saturated(cpu, w, UNSIGNED, |a, b, _| a + b);
}

/// SQSUB.
pub fn sqsub(cpu: &mut Cpu, w: Word) {
    each_saturated(cpu, w, SIGNED, |a, b, _| a - b);
}

/// UQSUB.
pub fn uqsub(cpu: &mut Cpu, w: Word) {
    each_saturated(cpu, w, UNSIGNED, |a, b, _| a - b);
}

/// SQDMULH.
pub fn sqdmulh(cpu: &mut Cpu, w: Word) {
    each_saturated(cpu, w, SIGNED, |a, b, esize| (2 * a * b) >> esize);
}

/// SQRDMULH.
pub fn sqrdmulh(cpu: &mut Cpu, w: Word) {
    each_saturated(cpu, w, SIGNED, |a, b, esize| (2 * a * b + (1 << (esize - 1))) >> esize);
}

/// Writes elements of Vd plus twice a function of those of Vn and the second operand, as the upper halves of the sums, rounded
/// and saturated.
#[inline]
fn accumulate_high(cpu: &mut Cpu, w: Word, product: impl Fn(i128, i128) -> i128) {
    let lanes = Lanes::of_size(w);
    let esize = lanes.esize;
    let (d, n) = (v(cpu, w.rd()), v(cpu, w.rn()));
    let m = Second::new(cpu, w, esize, v(cpu, w.rm()));
    write_saturated(cpu, w, lanes, SIGNED, |e| {
        let [d, n, m] = [elem(d, e, esize), elem(n, e, esize), m.elem(e)].map(|x| int(x, esize, SIGNED));
        ((d << esize) + 2 * product(n, m) + (1 << (esize - 1))) >> esize
    });
}

/// SQRDMLAH.
pub fn sqrdmlah(cpu: &mut Cpu, w: Word) {
    accumulate_high(cpu, w, |a, b| a * b);
}

/// SQRDMLSH.
pub fn sqrdmlsh(cpu: &mut Cpu, w: Word) {
    accumulate_high(cpu, w, |a, b| -a * b);
}

/// Defines bitwise instructions: functions of the whole vectors Vd, Vn and Vm.
macro_rules! bitwise { ($(
    $(#[doc = $doc:literal])* $name:ident = |$d:ident, $n:ident, $m:ident| $result:expr;
)*) => { $(
    $(#[doc = $doc])*
    pub fn $name(cpu: &mut Cpu, w: Word) {
        let ($d, $n, $m) = (v(cpu, w.rd()), v(cpu, w.rn()), v(cpu, w.rm()));
        let datasize = 64 << w.q();
        set_v(cpu, w.rd(), $result << (128 - datasize) >> (128 - datasize));
    }
)* } }
bitwise! {
    /// AND.
    and = |_d, n, m| (n & m);
    /// BIC (register).
    bic = |_d, n, m| (n & !m);
    /// ORR (register).
    orr = |_d, n, m| (n | m);
    /// ORN.
    orn = |_d, n, m| (n | !m);
    /// EOR.
    eor = |_d, n, m| (n ^ m);
    /// BSL: takes bits of Vn where Vd is 1, else of Vm.
    bsl = |d, n, m| (m ^ (m ^ n) & d);
    /// BIT: takes bits of Vn where Vm is 1.
    bit = |d, n, m| (d ^ (d ^ n) & m);
    /// BIF: takes bits of Vn where Vm is 0.
    bif = |d, n, m| (d ^ (d ^ n) & !m);
}
