//! Elements of two vectors in another order.

use super::vector::{Lanes, elem, set_v, v};
use crate::{Cpu, Word};

/// Writes the elements that a function names: 0 to `count` of Vn, and on in Vm.
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

/// UZP1 and UZP2: even elements, or odd ones.
pub fn uzp<const PART: u32>(cpu: &mut Cpu, w: Word) {
    permute(cpu, w, |e, _| 2 * e + PART);
}

/// ZIP1 and ZIP2: elements of the lower halves in turn, or of the upper ones.
pub fn zip<const PART: u32>(cpu: &mut Cpu, w: Word) {
    permute(cpu, w, |e, count| e / 2 + PART * count / 2 + (e & 1) * count);
}

/// TRN1 and TRN2: even elements in turn, or odd ones.
pub fn trn<const PART: u32>(cpu: &mut Cpu, w: Word) {
    permute(cpu, w, |e, count| (e & !1) + PART + (e & 1) * count);
}

/// EXT: bytes out of the middle of Vm:Vn.
pub fn ext(cpu: &mut Cpu, w: Word) {
    let lanes = Lanes::new(w, 8);
    let (n, m) = (v(cpu, w.rn()), v(cpu, w.rm()));
    let result = lanes.collect(|e| {
        let index = e + w.imm4();
        if index < lanes.count { elem(n, index, 8) } else { elem(m, index - lanes.count, 8) }
    });
    set_v(cpu, w.rd(), result);
}
