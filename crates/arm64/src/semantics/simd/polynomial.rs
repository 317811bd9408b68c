//! Products of polynomials over the field of two elements.

use super::vector::{collect, elem, set_v, v_part};
use crate::{Cpu, Word};

/// `PolynomialMult()`: returns the carry-less product.
#[must_use]
#[inline]
pub const fn polynomial_mult(a: u64, b: u64) -> u128 {
    let (mut product, mut bit) = (0, 0);
    while bit < 64 {
        if a >> bit & 1 == 1 {
            product ^= (b as u128) << bit;
        }
        bit += 1;
    }
    product
}

/// PMULL.
pub fn pmull(cpu: &mut Cpu, w: Word) {
    let (n, m) = (v_part(cpu, w, w.rn()), v_part(cpu, w, w.rm()));
    let result = match w.size() {
        3 => polynomial_mult(n as u64, m as u64),
        _ => collect(16, 8, |e| polynomial_mult(elem(n, e, 8), elem(m, e, 8)) as u64),
    };
    set_v(cpu, w.rd(), result);
}
