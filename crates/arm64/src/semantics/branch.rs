//! Branches. They set the pc whether they are taken or not.

use super::flags::condition_holds;
use super::truncate;
use crate::{Cpu, Word};

/// Branches by `offset` if `taken`, else advances the pc to the next instruction.
#[inline(always)]
fn branch_if(cpu: &mut Cpu, taken: bool, offset: i64) {
    cpu.pc = cpu.pc.wrapping_add_signed(if taken { offset } else { 4 });
}

/// B.cond.
#[inline(always)]
pub fn b_cond(cpu: &mut Cpu, w: Word) {
    branch_if(cpu, condition_holds(w.cond_b(), cpu.nzcv), w.offset19());
}

/// CBZ.
#[inline(always)]
pub fn cbz<const N: u32>(cpu: &mut Cpu, w: Word) {
    branch_if(cpu, truncate(cpu.x(w.rt()), N) == 0, w.offset19());
}

/// CBNZ.
#[inline(always)]
pub fn cbnz<const N: u32>(cpu: &mut Cpu, w: Word) {
    branch_if(cpu, truncate(cpu.x(w.rt()), N) != 0, w.offset19());
}

/// TBZ.
#[inline(always)]
pub fn tbz(cpu: &mut Cpu, w: Word) {
    branch_if(cpu, cpu.x(w.rt()) >> w.test_bit() & 1 == 0, w.offset14());
}

/// TBNZ.
#[inline(always)]
pub fn tbnz(cpu: &mut Cpu, w: Word) {
    branch_if(cpu, cpu.x(w.rt()) >> w.test_bit() & 1 == 1, w.offset14());
}

/// B.
#[inline(always)]
pub fn b(cpu: &mut Cpu, w: Word) {
    branch_if(cpu, true, w.offset26());
}

/// BL.
#[inline(always)]
pub fn bl(cpu: &mut Cpu, w: Word) {
    cpu.set_x(30, cpu.pc.wrapping_add(4));
    b(cpu, w);
}

/// BR.
#[inline(always)]
pub fn br(cpu: &mut Cpu, w: Word) {
    cpu.pc = cpu.x(w.rn());
}

/// BLR. The target is read before X30 is written.
#[inline(always)]
pub fn blr(cpu: &mut Cpu, w: Word) {
    let target = cpu.x(w.rn());
    cpu.set_x(30, cpu.pc.wrapping_add(4));
    cpu.pc = target;
}

/// RET.
#[inline(always)]
pub fn ret(cpu: &mut Cpu, w: Word) {
    br(cpu, w);
}
