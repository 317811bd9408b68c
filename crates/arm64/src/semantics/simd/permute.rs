//! Instructions that permute the elements of two vectors.

use super::vector::{Lanes, elem, set_v, v};
use crate::{Cpu, Word};

/// Writes elements of Vn and Vm to Vd. `index` returns the source of an element, from its index and the number of
/// elements `count`: indices below `count` are in Vn, and `count` is the first element of Vm.
fn permute(cpu: &mut Cpu, w: Word, index: impl Fn(u32, u32) -> u32) {
    let lanes = Lanes::of_size(w);
    let (n, m) = (v(cpu, w.rn()), v(cpu, w.rm()));
    let result = lanes.collect(|e| {
        let index = index(e, lanes.count);
        if index < lanes.count {
            elem(n, index, lanes.esize)
        } else {
            elem(m, index - lanes.count, lanes.esize)
        }
    });
    set_v(cpu, w.rd(), result);
}

/// UZP1 and UZP2: take the even elements, or the odd ones.
pub fn uzp<const PART: u32>(cpu: &mut Cpu, w: Word) {
    permute(cpu, w, |e, _| 2 * e + PART);
}

/// ZIP1 and ZIP2: interleave the lower halves, or the upper ones.
pub fn zip<const PART: u32>(cpu: &mut Cpu, w: Word) {
    permute(cpu, w, |e, count| e / 2 + PART * count / 2 + (e & 1) * count);
}

/// TRN1 and TRN2: interleave the even elements, or the odd ones.
pub fn trn<const PART: u32>(cpu: &mut Cpu, w: Word) {
    permute(cpu, w, |e, count| (e & !1) + PART + (e & 1) * count);
}

/// EXT: takes the bytes of Vm:Vn from the index imm4 on.
pub fn ext(cpu: &mut Cpu, w: Word) {
    let lanes = Lanes::new(w, 8);
    let (n, m) = (v(cpu, w.rn()), v(cpu, w.rm()));
    let result = lanes.collect(|e| {
        let index = e + w.imm4();
        if index < lanes.count { elem(n, index, 8) } else { elem(m, index - lanes.count, 8) }
    });
    set_v(cpu, w.rd(), result);
}
