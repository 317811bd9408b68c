//! Instructions that combine all elements of a vector to one.

use super::vector::{Lanes, collect, elem, int, set_v, v};
use crate::{Cpu, Word};

/// Combines all elements of Vn by `operation` and writes the result to Vd, as one element of `size` bits.
fn across(cpu: &mut Cpu, w: Word, unsigned: bool, size: u32, operation: impl Fn(i128, i128) -> i128) {
    let lanes = Lanes::of_size(w);
    let n = v(cpu, w.rn());
    let elements = (0..lanes.count).map(|e| int(elem(n, e, lanes.esize), lanes.esize, unsigned));
    let result = elements.reduce(operation).unwrap_or(0);
    set_v(cpu, w.rd(), collect(size, 1, |_| result as u64));
}

/// Defines instructions: whether elements are unsigned, the size of the result in elements, and the operation.
macro_rules! across { ($($(#[doc = $doc:literal])* $name:ident = $unsigned:literal $times:literal |$a:ident, $b:ident| $result:expr;)*) => { $(
    $(#[doc = $doc])*
    pub fn $name(cpu: &mut Cpu, w: Word) {
        across(cpu, w, $unsigned, (8 << w.size()) * $times, |$a, $b| $result);
    }
)* } }
across! {
    /// ADDV.
    addv = true 1 |a, b| a + b;
    /// SADDLV.
    saddlv = false 2 |a, b| a + b;
    /// UADDLV.
    uaddlv = true 2 |a, b| a + b;
    /// SMAXV.
    smaxv = false 1 |a, b| a.max(b);
    /// UMAXV.
    umaxv = true 1 |a, b| a.max(b);
    /// SMINV.
    sminv = false 1 |a, b| a.min(b);
    /// UMINV.
    uminv = true 1 |a, b| a.min(b);
}
