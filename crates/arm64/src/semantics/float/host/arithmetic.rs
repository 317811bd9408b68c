//! Arithmetic on vectors of numbers; a scalar is a vector of one number.
//!
//! Each operation has two functions. In the usual mode, the result alone tells that there is no exception: functions
//! whose names begin with `quick` look at nothing else. Functions whose names begin with `careful` work in any mode, look
//! at the operands, too, and tell whether results are exact.

use core::array::from_fn;

use super::number::HostFloat;
use crate::semantics::float::arithmetic::{FP_ADD, FP_MUL, FP_SUB};
use crate::semantics::float::control::{FPCR_FZ, FPCR_RMODE, FPSR_IXC};

/// Numbers, and the bits of FPSR that become set by computing them, or `None` if the host does not compute them.
pub type Outcome<F, const N: usize> = Option<([F; N], u32)>;

/// Returns whether rounding is to nearest, denormal numbers are not flushed, and FPSR.IXC is set already.
#[must_use]
#[inline(always)]
pub const fn is_usual_mode(fpcr: u32, fpsr: u32) -> bool {
    fpcr & (FPCR_RMODE | FPCR_FZ) == 0 && fpsr & FPSR_IXC != 0
}

/// Returns sums, differences, products or quotients in the usual mode.
#[must_use]
#[inline(always)]
pub fn quick<const OPERATION: u32, F: HostFloat, const N: usize>(x: [F; N], y: [F; N]) -> Option<[F; N]> {
    let results = apply::<OPERATION, F, N>(x, y);
    // Operands that are NaNs or infinities have results that are, too, or zeros. Sums that are tiny are exact.
    let is_fine = |i: usize| match OPERATION {
        FP_ADD | FP_SUB => results[i].is_finite(),
        FP_MUL => results[i].is_in_range() || results[i].is_zero() && (x[i].is_zero() || y[i].is_zero()),
        _ => results[i].is_in_range() || results[i].is_zero() && x[i].is_zero(),
    };
    all::<N>(is_fine).then_some(results)
}

/// Returns sums, differences, products or quotients.
#[must_use]
#[inline(always)]
pub fn careful<const OPERATION: u32, F: HostFloat, const N: usize>(
    x: [F; N],
    y: [F; N],
    fpcr: u32,
) -> Outcome<F, N> {
    let results = apply::<OPERATION, F, N>(x, y);
    // Sums that are zero are exact. A product or quotient may be a zero because it is too small.
    let is_fine = |i: usize| {
        let is_zero_exact = match OPERATION {
            FP_ADD | FP_SUB => true,
            FP_MUL => x[i].is_zero() || y[i].is_zero(),
            _ => x[i].is_zero(),
        };
        x[i].is_usual()
            && y[i].is_usual()
            && (results[i].is_in_range() || results[i].is_zero() && is_zero_exact)
    };
    let is_exact = |i: usize| match OPERATION {
        FP_ADD => is_exact_sum(x[i], y[i], results[i]),
        FP_SUB => is_exact_sum(x[i], -y[i], results[i]),
        FP_MUL => is_exact_product(x[i], y[i], results[i]),
        _ => is_exact_product(results[i], y[i], x[i]),
    };
    (fpcr & FPCR_RMODE == 0 && all::<N>(is_fine)).then(|| (results, inexact(all::<N>(is_exact))))
}

/// Returns square roots in the usual mode.
#[must_use]
#[inline(always)]
pub fn quick_roots<F: HostFloat, const N: usize>(x: [F; N]) -> Option<[F; N]> {
    let mut results = x;
    for result in &mut results {
        *result = result.root()?;
    }
    // The root of a number that is not tiny is not tiny.
    all::<N>(|i| results[i].is_in_range() || results[i].is_zero()).then_some(results)
}

/// Returns square roots.
#[must_use]
#[inline(always)]
pub fn careful_roots<F: HostFloat, const N: usize>(x: [F; N], fpcr: u32) -> Outcome<F, N> {
    let results = quick_roots(x)?;
    let is_exact = all::<N>(|i| is_exact_product(results[i], results[i], x[i]));
    (fpcr & FPCR_RMODE == 0 && all::<N>(|i| x[i].is_usual())).then(|| (results, inexact(is_exact)))
}

/// Returns `addend` + `x` * `y`, rounded once, in the usual mode.
#[must_use]
#[inline(always)]
pub fn quick_fused<F: HostFloat, const N: usize>(addend: [F; N], x: [F; N], y: [F; N]) -> Option<[F; N]> {
    let sums: [(F, bool); N] = from_fn(|i| x[i].fused(y[i], addend[i]));
    // The sum of a zero product and a zero is exact. Others that are zero may be too small.
    let is_fine = |i: usize| {
        let (sum, is_certain) = sums[i];
        is_certain && (sum.is_in_range() || sum.is_zero() && (x[i].is_zero() || y[i].is_zero()))
    };
    all::<N>(is_fine).then(|| sums.map(|(sum, _)| sum))
}

/// Returns `addend` + `x` * `y`, rounded once, if the products are exact: then only the sums are rounded.
#[must_use]
#[inline(always)]
pub fn careful_fused<F: HostFloat, const N: usize>(
    addend: [F; N],
    x: [F; N],
    y: [F; N],
    fpcr: u32,
) -> Outcome<F, N> {
    let (products, exceptions) = careful::<FP_MUL, F, N>(x, y, fpcr)?;
    if exceptions == 0 { careful::<FP_ADD, F, N>(addend, products, fpcr) } else { None }
}

/// Applies an operation.
#[inline(always)]
fn apply<const OPERATION: u32, F: HostFloat, const N: usize>(x: [F; N], y: [F; N]) -> [F; N] {
    from_fn(|i| match OPERATION {
        FP_ADD => x[i] + y[i],
        FP_SUB => x[i] - y[i],
        FP_MUL => x[i] * y[i],
        _ => x[i] / y[i],
    })
}

/// Returns whether a condition holds for all numbers. It is evaluated for each of them, without branches.
#[inline(always)]
fn all<const N: usize>(condition: impl Fn(usize) -> bool) -> bool {
    (0..N).fold(true, |all, i| all & condition(i))
}

/// Returns FPSR.IXC unless results are exact.
#[inline(always)]
const fn inexact(is_exact: bool) -> u32 {
    if is_exact { 0 } else { FPSR_IXC }
}

/// Returns whether `sum`, the rounded sum of two numbers, is exact.
///
/// The larger number, taken from the sum, leaves a difference that is a number, as Dekker proved; it is the smaller
/// number exactly if nothing was rounded. If nothing was rounded, the same holds for the smaller number.
#[inline(always)]
fn is_exact_sum<F: HostFloat>(x: F, y: F, sum: F) -> bool {
    sum - x == y && sum - y == x
}

/// Returns whether `product` is the product of two numbers, not rounded. The numbers are zeros or normal, and `product`
/// is their rounded product or nearly that.
#[inline(always)]
fn is_exact_product<F: HostFloat>(x: F, y: F, product: F) -> bool {
    if x.is_zero() || y.is_zero() {
        return true;
    }
    // The significands without zeros at their ends.
    let [x_odd, y_odd] = [x, y].map(|number| {
        let top = 1 << F::FORMAT.fraction_bits;
        let significand = number.pattern() & (top - 1) | top;
        significand >> significand.trailing_zeros()
    });
    // The product of odd integers is odd, so it is a significand only if it has no more bits.
    let odd_product = u128::from(x_odd) * u128::from(y_odd);
    odd_product >> (F::FORMAT.fraction_bits + 1) == 0 && x * y == product
}
