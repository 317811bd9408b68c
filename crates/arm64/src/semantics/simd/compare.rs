//! Comparisons of floating-point numbers, and FCSEL.

use super::float::{format, fp_abs, noted};
use super::vector::{Lanes, Second, elem, set_v, v};
use crate::semantics::flags::condition_holds;
use crate::semantics::float::format::Format;
use crate::semantics::float::quick::fp_compare;
use crate::{Cpu, Word};

/// Conditions on the flags of a comparison, as in B.cond.
const EQ: u32 = 0b0000;
const GE: u32 = 0b1010;
const GT: u32 = 0b1100;
/// Less, and not unordered.
const MI: u32 = 0b0100;
/// Less or equal, and not unordered.
const LS: u32 = 0b1001;

/// Compares each number of Vn with the second operand, after applying `prepare` to both. Writes all ones to the element
/// of Vd if the condition holds, else zeros.
#[inline(never)]
fn lanes(cpu: &mut Cpu, w: Word, condition: u32, is_zero: bool, prepare: impl Fn(u64, Format) -> u64) {
    let lanes = Lanes::of_sz(w);
    let (n, format) = (v(cpu, w.rn()), format(lanes));
    let m = Second::new(cpu, w, lanes.esize, v(cpu, w.rm()));
    let result = lanes.collect(|e| {
        let a = prepare(elem(n, e, lanes.esize), format);
        let b = if is_zero { 0 } else { prepare(m.elem(e), format) };
        // All but FCMEQ signal quiet NaNs.
        let result = fp_compare(a, b, condition != EQ, format, cpu.fpcr);
        if condition_holds(condition, noted(cpu, result) as u32) { u64::MAX } else { 0 }
    });
    set_v(cpu, w.rd(), result);
}

/// Defines instructions: the condition, whether the second operand is zero, and the function of numbers to compare.
macro_rules! comparisons { ($($(#[doc = $doc:literal])* $name:ident = $condition:ident $is_zero:literal $prepare:expr;)*) => { $(
    $(#[doc = $doc])*
    pub fn $name(cpu: &mut Cpu, w: Word) {
        lanes(cpu, w, $condition, $is_zero, $prepare);
    }
)* } }
comparisons! {
    /// FCMEQ (register).
    fcmeq = EQ false |x, _| x;
    /// FCMGE (register).
    fcmge = GE false |x, _| x;
    /// FCMGT (register).
    fcmgt = GT false |x, _| x;
    /// FACGE.
    facge = GE false fp_abs;
    /// FACGT.
    facgt = GT false fp_abs;
    /// FCMEQ (zero).
    fcmeq_zero = EQ true |x, _| x;
    /// FCMGE (zero).
    fcmge_zero = GE true |x, _| x;
    /// FCMGT (zero).
    fcmgt_zero = GT true |x, _| x;
    /// FCMLE (zero).
    fcmle_zero = LS true |x, _| x;
    /// FCMLT (zero).
    fcmlt_zero = MI true |x, _| x;
}

/// Returns the flags of comparing Vn with Vm, or with zero.
#[inline(never)]
fn flags(cpu: &mut Cpu, w: Word, is_zero: bool, signal_nans: bool) -> u32 {
    let lanes = Lanes::of_sz(w);
    let [n, m] = [w.rn(), w.rm()].map(|register| elem(v(cpu, register), 0, lanes.esize));
    let result = fp_compare(n, if is_zero { 0 } else { m }, signal_nans, format(lanes), cpu.fpcr);
    noted(cpu, result) as u32
}

/// FCMP and FCMPE. `ZERO`: the second operand is zero. `SIGNAL`: quiet NaNs raise Invalid Operation.
pub fn fcmp<const ZERO: bool, const SIGNAL: bool>(cpu: &mut Cpu, w: Word) {
    cpu.nzcv = flags(cpu, w, ZERO, SIGNAL);
}

/// FCCMP and FCCMPE.
pub fn fccmp<const SIGNAL: bool>(cpu: &mut Cpu, w: Word) {
    cpu.nzcv = if condition_holds(w.cond(), cpu.nzcv) { flags(cpu, w, false, SIGNAL) } else { w.nzcv() };
}

/// FCSEL.
pub fn fcsel(cpu: &mut Cpu, w: Word) {
    let register = if condition_holds(w.cond(), cpu.nzcv) { w.rn() } else { w.rm() };
    let value = elem(v(cpu, register), 0, Lanes::of_sz(w).esize);
    set_v(cpu, w.rd(), value.into());
}
