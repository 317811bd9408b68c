//! Arithmetic on complex numbers: pairs of elements, the real part first.

use super::float::{format, fp_neg, noted};
use super::vector::{Lanes, elem, set_v, v};
use crate::semantics::float::named::{fp_add, fp_mul_add};
use crate::{Cpu, Word};

/// FCADD: adds complex numbers of Vm, rotated by 90 or 270 degrees, to those of Vn.
pub fn fcadd(cpu: &mut Cpu, w: Word) {
    let lanes = Lanes::of_size(w);
    let (n, m, format) = (v(cpu, w.rn()), v(cpu, w.rm()), format(lanes));
    // The parity of the elements whose addend is negated: by 90 degrees, the real parts.
    let negated = w.bits(12, 1);
    let result = lanes.collect(|e| {
        let addend = elem(m, e ^ 1, lanes.esize);
        let addend = if e & 1 == negated { fp_neg(addend, format) } else { addend };
        let sum = fp_add(elem(n, e, lanes.esize), addend, format, cpu.fpcr);
        noted(cpu, sum)
    });
    set_v(cpu, w.rd(), result);
}

/// FCMLA: adds half of the product of complex numbers of Vn and Vm, rotated by multiples of 90 degrees, to those of Vd. The
/// half is that with the real, or with the imaginary parts of Vn.
pub fn fcmla(cpu: &mut Cpu, w: Word) {
    let lanes = Lanes::of_size(w);
    let esize = lanes.esize;
    let (d, n, m, format) = (v(cpu, w.rd()), v(cpu, w.rn()), v(cpu, w.rm()), format(lanes));
    let is_indexed = w.bits(24, 1) == 1;
    let rotation = w.bits(if is_indexed { 13 } else { 11 }, 2);
    let (h, l) = (w.bits(11, 1), w.bits(21, 1));
    let index = if esize == 16 { h << 1 | l } else { h };
    // Whether the imaginary parts of Vn are the factors.
    let swapped = rotation & 1;
    let result = lanes.collect(|e| {
        let (pair, part) = (e & !1, e & 1);
        let factor = elem(n, pair | swapped, esize);
        let other = elem(m, if is_indexed { 2 * index } else { pair } | (part ^ swapped), esize);
        let is_negated = if part == 1 { rotation >= 2 } else { rotation == 1 || rotation == 2 };
        let other = if is_negated { fp_neg(other, format) } else { other };
        let sum = fp_mul_add(elem(d, e, esize), factor, other, format, cpu.fpcr);
        noted(cpu, sum)
    });
    set_v(cpu, w.rd(), result);
}
