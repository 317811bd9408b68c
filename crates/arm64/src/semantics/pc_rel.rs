//! PC-relative addresses.

use crate::{Cpu, Word};

/// ADR.
#[inline(always)]
pub fn adr(cpu: &mut Cpu, w: Word) {
    cpu.set_x(w.rd(), cpu.pc.wrapping_add_signed(w.adr_imm()));
}

/// ADRP: the start of the pc's page plus a number of 4 KiB pages.
#[inline(always)]
pub fn adrp(cpu: &mut Cpu, w: Word) {
    cpu.set_x(w.rd(), (cpu.pc & !0xfff).wrapping_add_signed(w.adr_imm() << 12));
}
