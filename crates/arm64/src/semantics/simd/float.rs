//! Floating-point arithmetic on elements.

use super::host;
use super::pairwise::pairs;
use super::vector::{Lanes, Second, collect, elem, set_v, v};
use crate::semantics::float::arithmetic::{
    FP_ADD, FP_DIV, FP_MAX, FP_MAX_NUM, FP_MIN, FP_MIN_NUM, FP_MUL, FP_SUB, fp_operation,
};
use crate::semantics::float::control::{
    ROUND_NEGATIVE, ROUND_POSITIVE, ROUND_TIE_AWAY, ROUND_TIE_EVEN, ROUND_ZERO, fp_rounding_mode,
};
use crate::semantics::float::estimate::{unsigned_recip_estimate, unsigned_rsqrt_estimate};
use crate::semantics::float::format::{Format, fp_format};
use crate::semantics::float::named::{
    fp_add, fp_mul, fp_mul_add, fp_mulx, fp_recip_estimate, fp_recip_step_fused, fp_recpx, fp_round_int_n,
    fp_rsqrt_estimate, fp_rsqrt_step_fused, fp_sqrt, fp_sub,
};
use crate::semantics::float::quick::{fp_max, fp_max_num, fp_min, fp_min_num, fp_round_int};
use crate::semantics::float::round::FpResult;
use crate::{Cpu, Word};

/// Returns the floating-point format of elements.
#[must_use]
pub(super) const fn format(lanes: Lanes) -> Format {
    fp_format(lanes.esize, false)
}

/// `FPNeg()`.
#[must_use]
pub const fn fp_neg(value: u64, format: Format) -> u64 {
    value ^ 1 << (format.fraction_bits + format.exponent_bits)
}

/// `FPAbs()`.
#[must_use]
pub const fn fp_abs(value: u64, format: Format) -> u64 {
    value & !(1 << (format.fraction_bits + format.exponent_bits))
}

/// Sets the exceptions of a result in FPSR, and returns its value.
#[inline]
pub(super) const fn noted(cpu: &mut Cpu, result: FpResult) -> u64 {
    cpu.fpsr |= result.fpsr;
    result.value
}

/// Writes a function of each number of Vn to Vd.
#[inline(never)]
fn one(cpu: &mut Cpu, w: Word, operation: impl Fn(u64, Format, u32) -> FpResult) {
    let lanes = Lanes::of_sz(w);
    let (n, fpcr) = (v(cpu, w.rn()), cpu.fpcr);
    let result = lanes.collect(|e| noted(cpu, operation(elem(n, e, lanes.esize), format(lanes), fpcr)));
    set_v(cpu, w.rd(), result);
}

/// Writes a function of the numbers of Vn and the second operand to Vd.
fn two(cpu: &mut Cpu, w: Word, operation: impl Fn(u64, u64, Format, u32) -> FpResult) {
    three(cpu, w, |_, n, m, format, fpcr| operation(n, m, format, fpcr));
}

/// Writes a function of the numbers of Vd, Vn and the second operand to Vd.
#[inline(never)]
fn three(cpu: &mut Cpu, w: Word, operation: impl Fn(u64, u64, u64, Format, u32) -> FpResult) {
    let lanes = Lanes::of_sz(w);
    let (d, n, fpcr) = (v(cpu, w.rd()), v(cpu, w.rn()), cpu.fpcr);
    let m = Second::new(cpu, w, lanes.esize, v(cpu, w.rm()));
    let result = lanes.collect(|e| {
        let (d, n) = (elem(d, e, lanes.esize), elem(n, e, lanes.esize));
        noted(cpu, operation(d, n, m.elem(e), format(lanes), fpcr))
    });
    set_v(cpu, w.rd(), result);
}

/// Writes sums, differences, products or quotients of the numbers of Vn and the second operand to Vd.
fn arithmetic<const OPERATION: u32>(cpu: &mut Cpu, w: Word) {
    if !host::operation::<OPERATION>(cpu, w, Lanes::of_sz(w)) {
        two(cpu, w, |x, y, format, fpcr| {
            fp_operation(OPERATION, x, y, y, format, format, fp_rounding_mode(fpcr), fpcr)
        });
    }
}

/// Returns a result without exceptions.
const fn quiet(value: u64) -> FpResult {
    FpResult { value, fpsr: 0 }
}

/// Defines instructions: the number of operands, and the operation.
macro_rules! instructions { ($($(#[doc = $doc:literal])* $name:ident = $operands:ident $function:expr;)*) => { $(
    $(#[doc = $doc])*
    pub fn $name(cpu: &mut Cpu, w: Word) {
        $operands(cpu, w, $function);
    }
)* } }
instructions! {
    /// FMOV (register).
    fmov = one |x, _, _| quiet(x);
    /// FABS.
    fabs = one |x, format, _| quiet(fp_abs(x, format));
    /// FNEG.
    fneg = one |x, format, _| quiet(fp_neg(x, format));
    /// FRECPE.
    frecpe = one fp_recip_estimate;
    /// FRSQRTE.
    frsqrte = one fp_rsqrt_estimate;
    /// FRECPX.
    frecpx = one fp_recpx;
    /// URECPE.
    urecpe = one |x, _, _| quiet(unsigned_recip_estimate(x as u32).into());
    /// URSQRTE.
    ursqrte = one |x, _, _| quiet(unsigned_rsqrt_estimate(x as u32).into());
    /// FRINTN.
    frintn = one |x, format, fpcr| fp_round_int(x, format, ROUND_TIE_EVEN, false, fpcr);
    /// FRINTP.
    frintp = one |x, format, fpcr| fp_round_int(x, format, ROUND_POSITIVE, false, fpcr);
    /// FRINTM.
    frintm = one |x, format, fpcr| fp_round_int(x, format, ROUND_NEGATIVE, false, fpcr);
    /// FRINTZ.
    frintz = one |x, format, fpcr| fp_round_int(x, format, ROUND_ZERO, false, fpcr);
    /// FRINTA.
    frinta = one |x, format, fpcr| fp_round_int(x, format, ROUND_TIE_AWAY, false, fpcr);
    /// FRINTX.
    frintx = one |x, format, fpcr| fp_round_int(x, format, fp_rounding_mode(fpcr), true, fpcr);
    /// FRINTI.
    frinti = one |x, format, fpcr| fp_round_int(x, format, fp_rounding_mode(fpcr), false, fpcr);
    /// FRINT32Z.
    frint32z = one |x, format, fpcr| fp_round_int_n(x, format, ROUND_ZERO, 32, fpcr);
    /// FRINT32X.
    frint32x = one |x, format, fpcr| fp_round_int_n(x, format, fp_rounding_mode(fpcr), 32, fpcr);
    /// FRINT64Z.
    frint64z = one |x, format, fpcr| fp_round_int_n(x, format, ROUND_ZERO, 64, fpcr);
    /// FRINT64X.
    frint64x = one |x, format, fpcr| fp_round_int_n(x, format, fp_rounding_mode(fpcr), 64, fpcr);
    /// FMULX.
    fmulx = two fp_mulx;
    /// FMAX.
    fmax = two fp_max;
    /// FMIN.
    fmin = two fp_min;
    /// FMAXNM.
    fmaxnm = two fp_max_num;
    /// FMINNM.
    fminnm = two fp_min_num;
    /// FRECPS.
    frecps = two fp_recip_step_fused;
    /// FRSQRTS.
    frsqrts = two fp_rsqrt_step_fused;
    /// FNMUL.
    fnmul = two |x, y, format, fpcr| {
        let product = fp_mul(x, y, format, fpcr);
        FpResult { value: fp_neg(product.value, format), ..product }
    };
    /// FABD.
    fabd = two |x, y, format, fpcr| {
        let difference = fp_sub(x, y, format, fpcr);
        FpResult { value: fp_abs(difference.value, format), ..difference }
    };
}

/// FADD.
pub fn fadd(cpu: &mut Cpu, w: Word) {
    arithmetic::<FP_ADD>(cpu, w);
}

/// FSUB.
pub fn fsub(cpu: &mut Cpu, w: Word) {
    arithmetic::<FP_SUB>(cpu, w);
}

/// FMUL.
pub fn fmul(cpu: &mut Cpu, w: Word) {
    arithmetic::<FP_MUL>(cpu, w);
}

/// FDIV.
pub fn fdiv(cpu: &mut Cpu, w: Word) {
    arithmetic::<FP_DIV>(cpu, w);
}

/// FSQRT.
pub fn fsqrt(cpu: &mut Cpu, w: Word) {
    if !host::square_roots(cpu, w, Lanes::of_sz(w)) {
        one(cpu, w, fp_sqrt);
    }
}

/// FMLA.
pub fn fmla(cpu: &mut Cpu, w: Word) {
    if !host::accumulate::<false>(cpu, w, Lanes::of_sz(w)) {
        three(cpu, w, fp_mul_add);
    }
}

/// FMLS.
pub fn fmls(cpu: &mut Cpu, w: Word) {
    if !host::accumulate::<true>(cpu, w, Lanes::of_sz(w)) {
        three(cpu, w, |d, x, y, format, fpcr| fp_mul_add(d, fp_neg(x, format), y, format, fpcr));
    }
}

/// FMADD, FMSUB, FNMADD and FNMSUB. They differ in whether the addend and the product are negated.
#[inline(never)]
pub fn fmadd<const NEGATE_ADDEND: bool, const NEGATE_PRODUCT: bool>(cpu: &mut Cpu, w: Word) {
    let lanes = Lanes::of_sz(w);
    if !host::fused::<NEGATE_ADDEND, NEGATE_PRODUCT>(cpu, w, lanes) {
        fused_in_integers::<NEGATE_ADDEND, NEGATE_PRODUCT>(cpu, w, lanes);
    }
}

#[cold]
#[inline(never)]
fn fused_in_integers<const NEGATE_ADDEND: bool, const NEGATE_PRODUCT: bool>(
    cpu: &mut Cpu,
    w: Word,
    lanes: Lanes,
) {
    let format = format(lanes);
    let [addend, n, m] = [w.ra(), w.rn(), w.rm()].map(|register| elem(v(cpu, register), 0, lanes.esize));
    let addend = if NEGATE_ADDEND { fp_neg(addend, format) } else { addend };
    let n = if NEGATE_PRODUCT { fp_neg(n, format) } else { n };
    let result = fp_mul_add(addend, n, m, format, cpu.fpcr);
    let value = noted(cpu, result);
    set_v(cpu, w.rd(), value.into());
}

/// Defines pairwise instructions, also scalar.
macro_rules! pairwise { ($($(#[doc = $doc:literal])* $name:ident = $function:ident;)*) => { $(
    $(#[doc = $doc])*
    pub fn $name(cpu: &mut Cpu, w: Word) {
        let lanes = Lanes::of_sz(w);
        pairs(cpu, w, lanes, |cpu, a, b| {
            let result = $function(a, b, format(lanes), cpu.fpcr);
            noted(cpu, result)
        });
    }
)* } }
pairwise! {
    /// FADDP.
    faddp = fp_add;
    /// FMAXP.
    fmaxp = fp_max;
    /// FMINP.
    fminp = fp_min;
    /// FMAXNMP.
    fmaxnmp = fp_max_num;
    /// FMINNMP.
    fminnmp = fp_min_num;
}

/// FMAXV, FMINV, FMAXNMV and FMINNMV: `Reduce()`, which combines adjacent numbers first, and then adjacent results.
pub fn across<const OPERATION: u32>(cpu: &mut Cpu, w: Word) {
    let operation = match OPERATION {
        FP_MAX => fp_max,
        FP_MIN => fp_min,
        FP_MAX_NUM => fp_max_num,
        _ => {
            const {
                assert!(
                    matches!(OPERATION, FP_MAX | FP_MIN | FP_MAX_NUM | FP_MIN_NUM),
                    "`across` supports only maximum and minimum"
                );
            };
            fp_min_num
        }
    };
    let Lanes { esize, mut count } = Lanes::of_sz(w);
    let (mut numbers, fpcr, format) = (v(cpu, w.rn()), cpu.fpcr, fp_format(esize, false));
    while count > 1 {
        count /= 2;
        numbers = collect(esize, count, |e| {
            noted(cpu, operation(elem(numbers, 2 * e, esize), elem(numbers, 2 * e + 1, esize), format, fpcr))
        });
    }
    set_v(cpu, w.rd(), elem(numbers, 0, esize).into());
}
