//! Dot products and matrix products of bytes, added to words of Vd.

use super::vector::{collect, elem, int, set_v, v};
use crate::{Cpu, Word};

/// The bytes of an operand are signed.
pub const SIGNED_BYTES: bool = false;
/// The bytes of an operand are unsigned.
pub const UNSIGNED_BYTES: bool = true;

/// Returns the sum of the products of `count` bytes of `n` from byte `i` on and of `m` from byte `j` on.
fn products<const N: bool, const M: bool>([n, m]: [u128; 2], [i, j]: [u32; 2], count: u32) -> i128 {
    (0..count).map(|k| int(elem(n, i + k, 8), 8, N) * int(elem(m, j + k, 8), 8, M)).sum()
}

/// SDOT, UDOT, USDOT and SUDOT: each word gets the dot product of four bytes of Vn and of Vm. `N` and `M` say whether
/// they are unsigned. Forms by element use the same four bytes of Vm for all words.
pub fn dot<const N: bool, const M: bool>(cpu: &mut Cpu, w: Word) {
    let (d, operands) = (v(cpu, w.rd()), [v(cpu, w.rn()), v(cpu, w.rm())]);
    let index = (w.bits(24, 1) == 1).then(|| w.bits(11, 1) << 1 | w.bits(21, 1));
    let result = collect(32, 2 << w.q(), |e| {
        let sum = products::<N, M>(operands, [4 * e, 4 * index.unwrap_or(e)], 4);
        (i128::from(elem(d, e, 32)) + sum) as u64
    });
    set_v(cpu, w.rd(), result);
}

/// SMMLA, UMMLA and USMMLA: Vn has two rows of eight bytes, Vm two columns, and Vd the words of a matrix of two by two.
pub fn matrix<const N: bool, const M: bool>(cpu: &mut Cpu, w: Word) {
    let (d, operands) = (v(cpu, w.rd()), [v(cpu, w.rn()), v(cpu, w.rm())]);
    let result = collect(32, 4, |e| {
        let sum = products::<N, M>(operands, [8 * (e >> 1), 8 * (e & 1)], 8);
        (i128::from(elem(d, e, 32)) + sum) as u64
    });
    set_v(cpu, w.rd(), result);
}
