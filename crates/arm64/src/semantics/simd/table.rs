//! Table lookups of bytes. A table is one to four registers.

use super::vector::{Lanes, elem, set_v, v};
use crate::{Cpu, Word};

/// Looks up the bytes of Vm. An index beyond the table takes the byte of `otherwise` at the same position.
fn look_up(cpu: &mut Cpu, w: Word, registers: u32, otherwise: u128) {
    let indices = v(cpu, w.rm());
    let result = Lanes::new(w, 8).collect(|e| {
        let index = elem(indices, e, 8) as u32;
        if index < 16 * registers {
            elem(v(cpu, w.rn() + index / 16), index % 16, 8)
        } else {
            elem(otherwise, e, 8)
        }
    });
    set_v(cpu, w.rd(), result);
}

/// TBL: an index beyond the table gives zero.
pub fn tbl<const REGISTERS: u32>(cpu: &mut Cpu, w: Word) {
    look_up(cpu, w, REGISTERS, 0);
}

/// TBX: an index beyond the table keeps the byte of Vd.
pub fn tbx<const REGISTERS: u32>(cpu: &mut Cpu, w: Word) {
    look_up(cpu, w, REGISTERS, v(cpu, w.rd()));
}
