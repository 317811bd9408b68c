//! Arithmetic on registers with the floating point of the host.
//!
//! Each function returns whether it has executed the instruction; if not, it has changed nothing. The unusual cases are in
//! functions of their own, so that the usual ones need few registers.

use core::array::from_fn;

use super::vector::{Lanes, Second, set_v, v};
use crate::semantics::float::host::arithmetic::{
    careful, careful_fused, careful_roots, is_usual_mode, quick, quick_fused, quick_roots,
};
use crate::semantics::float::host::number::HostFloat;
use crate::{Cpu, Word};

/// Calls a function with the type and the number of elements as its last parameters.
macro_rules! with_shape { ($lanes:expr => $function:ident<$($parameter:ident),*>($($argument:expr),*)) => {
    match ($lanes.esize, $lanes.count) {
        (64, 1) => $function::<$($parameter,)* f64, 1>($($argument),*),
        (32, 1) => $function::<$($parameter,)* f32, 1>($($argument),*),
        (64, 2) => $function::<$($parameter,)* f64, 2>($($argument),*),
        (32, 4) => $function::<$($parameter,)* f32, 4>($($argument),*),
        (32, 2) => $function::<$($parameter,)* f32, 2>($($argument),*),
        _ => false,
    }
} }

/// Writes sums, differences, products or quotients of the numbers of Vn and the second operand to Vd.
#[inline(always)]
pub(super) fn operation<const OPERATION: u32>(cpu: &mut Cpu, w: Word, lanes: Lanes) -> bool {
    fn shaped<const OPERATION: u32, F: HostFloat, const N: usize>(cpu: &mut Cpu, w: Word) -> bool {
        if is_usual_mode(cpu.fpcr, cpu.fpsr)
            && let Some(results) = quick::<OPERATION, F, N>(split(v(cpu, w.rn())), second(cpu, w))
        {
            return write(cpu, w, results, 0);
        }
        unusual::<OPERATION, F, N>(cpu, w)
    }
    #[inline(never)]
    fn unusual<const OPERATION: u32, F: HostFloat, const N: usize>(cpu: &mut Cpu, w: Word) -> bool {
        let outcome = careful::<OPERATION, F, N>(split(v(cpu, w.rn())), second(cpu, w), cpu.fpcr);
        outcome.is_some_and(|(results, fpsr)| write(cpu, w, results, fpsr))
    }
    with_shape!(lanes => shaped<OPERATION>(cpu, w))
}

/// Writes the square roots of Vn to Vd.
#[inline(always)]
pub(super) fn square_roots(cpu: &mut Cpu, w: Word, lanes: Lanes) -> bool {
    fn shaped<F: HostFloat, const N: usize>(cpu: &mut Cpu, w: Word) -> bool {
        let x = split::<F, N>(v(cpu, w.rn()));
        if is_usual_mode(cpu.fpcr, cpu.fpsr)
            && let Some(results) = quick_roots(x)
        {
            return write(cpu, w, results, 0);
        }
        careful_roots(x, cpu.fpcr).is_some_and(|(results, fpsr)| write(cpu, w, results, fpsr))
    }
    with_shape!(lanes => shaped<>(cpu, w))
}

/// Adds products of the numbers of Vn and the second operand to Vd, or subtracts them.
#[inline(always)]
pub(super) fn accumulate<const NEGATE: bool>(cpu: &mut Cpu, w: Word, lanes: Lanes) -> bool {
    fn shaped<const NEGATE: bool, F: HostFloat, const N: usize>(cpu: &mut Cpu, w: Word) -> bool {
        let (d, x) = (split(v(cpu, w.rd())), split::<F, N>(v(cpu, w.rn())));
        fused_sums(cpu, w, d, if NEGATE { x.map(|x| -x) } else { x }, second(cpu, w))
    }
    with_shape!(lanes => shaped<NEGATE>(cpu, w))
}

/// Writes Va plus the product of Vn and Vm, after negating the addend and the product, to Vd.
#[inline(always)]
pub(super) fn fused<const NEGATE_ADDEND: bool, const NEGATE_PRODUCT: bool>(
    cpu: &mut Cpu,
    w: Word,
    lanes: Lanes,
) -> bool {
    #[inline(always)]
    fn scalar<const NEGATE_ADDEND: bool, const NEGATE_PRODUCT: bool, F: HostFloat>(
        cpu: &mut Cpu,
        w: Word,
    ) -> bool {
        let [a, x, y] = [w.ra(), w.rn(), w.rm()].map(|register| F::of(v(cpu, register) as u64));
        let [a, x] = [if NEGATE_ADDEND { -a } else { a }, if NEGATE_PRODUCT { -x } else { x }];
        fused_sums(cpu, w, [a], [x], [y])
    }
    match lanes.esize {
        64 => scalar::<NEGATE_ADDEND, NEGATE_PRODUCT, f64>(cpu, w),
        32 => scalar::<NEGATE_ADDEND, NEGATE_PRODUCT, f32>(cpu, w),
        _ => false,
    }
}

/// Writes `addend` + `x` * `y` to Vd.
#[inline(always)]
fn fused_sums<F: HostFloat, const N: usize>(
    cpu: &mut Cpu,
    w: Word,
    addend: [F; N],
    x: [F; N],
    y: [F; N],
) -> bool {
    #[inline(never)]
    fn unusual<F: HostFloat, const N: usize>(
        cpu: &mut Cpu,
        w: Word,
        addend: [F; N],
        x: [F; N],
        y: [F; N],
    ) -> bool {
        let outcome = careful_fused(addend, x, y, cpu.fpcr);
        outcome.is_some_and(|(results, fpsr)| write(cpu, w, results, fpsr))
    }
    if is_usual_mode(cpu.fpcr, cpu.fpsr)
        && let Some(results) = quick_fused(addend, x, y)
    {
        return write(cpu, w, results, 0);
    }
    unusual(cpu, w, addend, x, y)
}

/// Returns the elements of a vector.
#[inline(always)]
fn split<F: HostFloat, const N: usize>(vector: u128) -> [F; N] {
    from_fn(|e| F::of((vector >> (e as u32 * F::BITS)) as u64))
}

/// Returns the numbers of the second operand.
#[inline(always)]
fn second<F: HostFloat, const N: usize>(cpu: &Cpu, w: Word) -> [F; N] {
    if Second::is_element(w) {
        return [F::of(Second::new(cpu, w, F::BITS, 0).elem(0)); N];
    }
    split(v(cpu, w.rm()))
}

/// Writes results to Vd and FPSR.
#[inline(always)]
fn write<F: HostFloat, const N: usize>(cpu: &mut Cpu, w: Word, results: [F; N], fpsr: u32) -> bool {
    cpu.fpsr |= fpsr;
    let mut vector = 0;
    for (e, result) in (0..).zip(results) {
        vector |= u128::from(result.pattern()) << (e * F::BITS);
    }
    set_v(cpu, w.rd(), vector);
    true
}
