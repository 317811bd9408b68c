//! Bytes looked up in up to four registers.

use super::vector::{Lanes, elem, set_v, v};
use crate::{Cpu, Word};

/// Looks the bytes of Vm up; `otherwise` is taken where one is beyond the table.
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

/// TBL: zero for what is beyond the table.
pub fn tbl<const REGISTERS: u32>(cpu: &mut Cpu, w: Word) {
    look_up(cpu, w, REGISTERS, 0);
}

/// TBX: Vd is kept for what is beyond the table.
pub fn tbx<const REGISTERS: u32>(cpu: &mut Cpu, w: Word) {
    look_up(cpu, w, REGISTERS, v(cpu, w.rd()));
}
