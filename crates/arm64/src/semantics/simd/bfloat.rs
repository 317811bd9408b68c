//! Instructions on numbers in the format bfloat16.

use super::float::noted;
use super::vector::{Second, collect, elem, set_v, set_v_part, v};
use crate::semantics::float::arithmetic::{FP_ADD, FP_MUL, fp_operation};
use crate::semantics::float::control::{FPCR_DN, FPCR_FZ, ROUND_ODD_INFINITY, fp_rounding_mode};
use crate::semantics::float::format::{BFLOAT, SINGLE};
use crate::semantics::float::named::{fp_convert, fp_mul_add};
use crate::{Cpu, Word};

/// BFCVT.
pub fn bfcvt(cpu: &mut Cpu, w: Word) {
    let value = elem(v(cpu, w.rn()), 0, 32);
    let result = fp_convert(value, SINGLE, BFLOAT, fp_rounding_mode(cpu.fpcr), cpu.fpcr);
    let value = noted(cpu, result);
    set_v(cpu, w.rd(), value.into());
}

/// BFCVTN and BFCVTN2.
pub fn bfcvtn(cpu: &mut Cpu, w: Word) {
    let (n, fpcr) = (v(cpu, w.rn()), cpu.fpcr);
    let result = collect(16, 4, |e| {
        noted(cpu, fp_convert(elem(n, e, 32), SINGLE, BFLOAT, fp_rounding_mode(fpcr), fpcr))
    });
    set_v_part(cpu, w, result);
}

/// BFMLALB and BFMLALT: products of the elements with even or odd numbers, as numbers of single precision.
pub fn bfmlal(cpu: &mut Cpu, w: Word) {
    let (d, n) = (v(cpu, w.rd()), v(cpu, w.rn()));
    let m = Second::new(cpu, w, 16, v(cpu, w.rm()));
    let result = collect(32, 4, |e| {
        let at = 2 * e + w.q();
        let [x, y] = [elem(n, at, 16), m.elem(at)].map(|bits| bits << 16);
        let sum = fp_mul_add(elem(d, e, 32), x, y, SINGLE, cpu.fpcr);
        noted(cpu, sum)
    });
    set_v(cpu, w.rd(), result);
}

/// `BFMul()` or `BFAdd()`: an operation on numbers of single precision that flushes denormal numbers, rounds to odd and raises no
/// exceptions.
fn operation(operation: u32, x: u64, y: u64) -> u64 {
    fp_operation(operation, x, y, y, SINGLE, SINGLE, ROUND_ODD_INFINITY, FPCR_FZ | FPCR_DN).value
}

/// `BFDotAdd()`: adds the dot product of two pairs of numbers, each in a word, to a number of single precision.
fn dot_add(addend: u64, n: u64, m: u64) -> u64 {
    let low = operation(FP_MUL, (n & 0xffff) << 16, (m & 0xffff) << 16);
    let high = operation(FP_MUL, n & 0xffff_0000, m & 0xffff_0000);
    operation(FP_ADD, addend, operation(FP_ADD, low, high))
}

/// BFDOT.
pub fn bfdot(cpu: &mut Cpu, w: Word) {
    let (d, n, m) = (v(cpu, w.rd()), v(cpu, w.rn()), v(cpu, w.rm()));
    let index = (w.bits(24, 1) == 1).then(|| w.bits(11, 1) << 1 | w.bits(21, 1));
    let result =
        collect(32, 2 << w.q(), |e| dot_add(elem(d, e, 32), elem(n, e, 32), elem(m, index.unwrap_or(e), 32)));
    set_v(cpu, w.rd(), result);
}

/// BFMMLA: Vn has two rows of four numbers, Vm two columns, and Vd a matrix of two by two.
pub fn bfmmla(cpu: &mut Cpu, w: Word) {
    let (d, n, m) = (v(cpu, w.rd()), v(cpu, w.rn()), v(cpu, w.rm()));
    let result = collect(32, 4, |e| {
        let (row, column) = (2 * (e >> 1), 2 * (e & 1));
        let half = dot_add(elem(d, e, 32), elem(n, row, 32), elem(m, column, 32));
        dot_add(half, elem(n, row + 1, 32), elem(m, column + 1, 32))
    });
    set_v(cpu, w.rd(), result);
}
