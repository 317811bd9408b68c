//! Add and subtract: immediate, shifted register, extended register, with carry.

use super::flags::add_with_carry;
use super::operand::{extend_reg, shift_reg};
use super::truncate;
use crate::{Cpu, Word};

/// `SUB_OP`: adds.
pub const ADD: bool = false;
/// `SUB_OP`: subtracts, by adding the complement and 1.
pub const SUB: bool = true;
/// `FLAGS`: the condition flags are set.
pub const SET_FLAGS: bool = true;
/// `FLAGS`: the condition flags do not change.
pub const KEEP_FLAGS: bool = false;

/// Adds or subtracts, and writes Rd. In some encodings number 31 is SP if the flags are not set.
#[inline(always)]
fn add_sub<const N: u32, const SUB_OP: bool, const FLAGS: bool>(
    cpu: &mut Cpu,
    w: Word,
    operand1: u64,
    operand2: u64,
    destination_may_be_sp: bool,
) {
    let (operand1, operand2) = (truncate(operand1, N), truncate(operand2, N));
    let result = if SUB_OP {
        add_with_carry(operand1, truncate(!operand2, N), 1, N)
    } else {
        add_with_carry(operand1, operand2, 0, N)
    };
    if FLAGS {
        cpu.nzcv = result.nzcv;
    }
    if destination_may_be_sp && !FLAGS {
        cpu.set_x_or_sp(w.rd(), result.value);
    } else {
        cpu.set_x(w.rd(), result.value);
    }
}

/// ADD, ADDS, SUB, SUBS (immediate).
#[inline(always)]
pub fn immediate<const N: u32, const SUB_OP: bool, const FLAGS: bool>(cpu: &mut Cpu, w: Word) {
    let imm = u64::from(w.imm12()) << (12 * w.sh());
    add_sub::<N, SUB_OP, FLAGS>(cpu, w, cpu.x_or_sp(w.rn()), imm, true);
}

/// ADD, ADDS, SUB, SUBS (shifted register).
#[inline(always)]
pub fn shifted_register<const N: u32, const SUB_OP: bool, const FLAGS: bool>(cpu: &mut Cpu, w: Word) {
    let operand2 = shift_reg(truncate(cpu.x(w.rm()), N), w.shift(), w.imm6(), N);
    add_sub::<N, SUB_OP, FLAGS>(cpu, w, cpu.x(w.rn()), operand2, false);
}

/// ADD, ADDS, SUB, SUBS (extended register).
#[inline(always)]
pub fn extended_register<const N: u32, const SUB_OP: bool, const FLAGS: bool>(cpu: &mut Cpu, w: Word) {
    let operand2 = extend_reg(cpu.x(w.rm()), w.option(), w.imm3(), N);
    add_sub::<N, SUB_OP, FLAGS>(cpu, w, cpu.x_or_sp(w.rn()), operand2, true);
}

/// ADC, ADCS, SBC, SBCS.
#[inline(always)]
pub fn with_carry<const N: u32, const SUB_OP: bool, const FLAGS: bool>(cpu: &mut Cpu, w: Word) {
    let operand2 = if SUB_OP { !cpu.x(w.rm()) } else { cpu.x(w.rm()) };
    let carry_in = cpu.nzcv >> 1 & 1;
    let result = add_with_carry(truncate(cpu.x(w.rn()), N), truncate(operand2, N), carry_in, N);
    if FLAGS {
        cpu.nzcv = result.nzcv;
    }
    cpu.set_x(w.rd(), result.value);
}
