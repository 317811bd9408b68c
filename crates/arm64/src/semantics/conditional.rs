//! Conditional compare and select.

use super::flags::{add_with_carry, condition_holds};
use super::truncate;
use crate::{Cpu, Word};

/// Sets the flags: from a comparison of Rn and `operand2` if the condition holds, else from the field nzcv.
#[inline(always)]
fn compare<const N: u32, const SUB_OP: bool>(cpu: &mut Cpu, w: Word, operand2: u64) {
    let operand1 = truncate(cpu.x(w.rn()), N);
    cpu.nzcv = if !condition_holds(w.cond(), cpu.nzcv) {
        w.nzcv()
    } else if SUB_OP {
        add_with_carry(operand1, truncate(!operand2, N), 1, N).nzcv
    } else {
        add_with_carry(operand1, truncate(operand2, N), 0, N).nzcv
    };
}

/// CCMN, CCMP (immediate).
#[inline(always)]
pub fn compare_immediate<const N: u32, const SUB_OP: bool>(cpu: &mut Cpu, w: Word) {
    compare::<N, SUB_OP>(cpu, w, u64::from(w.imm5()));
}

/// CCMN, CCMP (register).
#[inline(always)]
pub fn compare_register<const N: u32, const SUB_OP: bool>(cpu: &mut Cpu, w: Word) {
    compare::<N, SUB_OP>(cpu, w, cpu.x(w.rm()));
}

/// Writes Rd: Rn if the condition holds, else the function `otherwise` of Rm.
#[inline(always)]
fn select<const N: u32>(cpu: &mut Cpu, w: Word, otherwise: impl Fn(u64) -> u64) {
    let holds = condition_holds(w.cond(), cpu.nzcv);
    let result = if holds { cpu.x(w.rn()) } else { otherwise(cpu.x(w.rm())) };
    cpu.set_x(w.rd(), truncate(result, N));
}

/// CSEL.
#[inline(always)]
pub fn csel<const N: u32>(cpu: &mut Cpu, w: Word) {
    select::<N>(cpu, w, |value| value);
}

/// CSINC.
#[inline(always)]
pub fn csinc<const N: u32>(cpu: &mut Cpu, w: Word) {
    select::<N>(cpu, w, |value| value.wrapping_add(1));
}

/// CSINV.
#[inline(always)]
pub fn csinv<const N: u32>(cpu: &mut Cpu, w: Word) {
    select::<N>(cpu, w, |value| !value);
}

/// CSNEG.
#[inline(always)]
pub fn csneg<const N: u32>(cpu: &mut Cpu, w: Word) {
    select::<N>(cpu, w, u64::wrapping_neg);
}
