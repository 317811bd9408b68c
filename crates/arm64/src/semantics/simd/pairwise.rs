//! Pairwise instructions, whose operands are adjacent elements.

use super::vector::{Lanes, collect, elem, int, is_scalar, set_v, v};
use crate::{Cpu, Word};

/// Writes a function of each pair of adjacent elements to Vd. The pairs are those of Vn, then those of Vm; scalar forms
/// have one pair, the two elements of Vn.
#[inline]
pub(super) fn pairs(
    cpu: &mut Cpu,
    w: Word,
    lanes: Lanes,
    mut operation: impl FnMut(&mut Cpu, u64, u64) -> u64,
) {
    let (n, m) = (v(cpu, w.rn()), v(cpu, w.rm()));
    let Lanes { esize, count } = lanes;
    let element =
        |e: u32| if is_scalar(w) || e < count { elem(n, e, esize) } else { elem(m, e - count, esize) };
    let result = collect(esize, count, |e| operation(cpu, element(2 * e), element(2 * e + 1)));
    set_v(cpu, w.rd(), result);
}

/// Defines instructions: whether elements are unsigned, and the operation.
macro_rules! pairwise { ($($(#[doc = $doc:literal])* $name:ident = $unsigned:literal |$a:ident, $b:ident| $result:expr;)*) => { $(
    $(#[doc = $doc])*
    pub fn $name(cpu: &mut Cpu, w: Word) {
        let lanes = Lanes::of_size(w);
        pairs(cpu, w, lanes, |_, a, b| {
            let [$a, $b] = [a, b].map(|x| int(x, lanes.esize, $unsigned));
            ($result) as u64
        });
    }
)* } }
pairwise! {
    /// ADDP, also scalar.
    addp = true |a, b| a + b;
    /// SMAXP.
    smaxp = false |a, b| a.max(b);
    /// UMAXP.
    umaxp = true |a, b| a.max(b);
    /// SMINP.
    sminp = false |a, b| a.min(b);
    /// UMINP.
    uminp = true |a, b| a.min(b);
}

/// Writes the sums of adjacent elements to Vd, as elements of double size. Adds them to those of Vd if `accumulate`.
fn add_long(cpu: &mut Cpu, w: Word, unsigned: bool, accumulate: bool) {
    let lanes = Lanes::of_size(w);
    let (d, n, esize) = (v(cpu, w.rd()), v(cpu, w.rn()), lanes.esize);
    let result = collect(2 * esize, lanes.count / 2, |e| {
        let [a, b] = [2 * e, 2 * e + 1].map(|e| int(elem(n, e, esize), esize, unsigned));
        let before = if accumulate { i128::from(elem(d, e, 2 * esize)) } else { 0 };
        (before + a + b) as u64
    });
    set_v(cpu, w.rd(), result);
}

/// SADDLP.
pub fn saddlp(cpu: &mut Cpu, w: Word) {
    add_long(cpu, w, false, false);
}

/// UADDLP.
pub fn uaddlp(cpu: &mut Cpu, w: Word) {
    add_long(cpu, w, true, false);
}

/// SADALP.
pub fn sadalp(cpu: &mut Cpu, w: Word) {
    add_long(cpu, w, false, true);
}

/// UADALP.
pub fn uadalp(cpu: &mut Cpu, w: Word) {
    add_long(cpu, w, true, true);
}
