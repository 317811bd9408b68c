//! Shifts by a register.

use super::operand::shift_reg;
use super::truncate;
use crate::{Cpu, Word};

/// LSLV, LSRV, ASRV, RORV: the amount is Rm modulo the register size.
#[inline(always)]
pub fn variable<const N: u32, const SHIFT_TYPE: u32>(cpu: &mut Cpu, w: Word) {
    let amount = cpu.x(w.rm()) as u32 & (N - 1);
    cpu.set_x(w.rd(), shift_reg(truncate(cpu.x(w.rn()), N), SHIFT_TYPE, amount, N));
}
