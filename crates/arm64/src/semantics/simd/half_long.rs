//! Products of half precision that are added to numbers of single precision.

use super::float::{fp_neg, noted};
use super::vector::{Second, collect, elem, set_v, v};
use crate::semantics::float::format::HALF;
use crate::semantics::float::named::fp_mul_add_h;
use crate::{Cpu, Word};

/// FMLAL, FMLAL2, FMLSL and FMLSL2. `UPPER`: the factors are the upper half of those in the size of the vector. `NEGATE`: their
/// product is subtracted.
pub fn fmlal<const UPPER: bool, const NEGATE: bool>(cpu: &mut Cpu, w: Word) {
    let count = 2 << w.q();
    let shift = if UPPER { 16 * count } else { 0 };
    let (d, n) = (v(cpu, w.rd()), v(cpu, w.rn()) >> shift);
    let m = Second::new(cpu, w, 16, v(cpu, w.rm()) >> shift);
    let result = collect(32, count, |e| {
        let factor = elem(n, e, 16);
        let factor = if NEGATE { fp_neg(factor, HALF) } else { factor };
        let sum = fp_mul_add_h(elem(d, e, 32), factor, m.elem(e), cpu.fpcr);
        noted(cpu, sum)
    });
    set_v(cpu, w.rd(), result);
}
