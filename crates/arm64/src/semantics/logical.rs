//! Bitwise logic: immediate and shifted register.

use super::bitmask::{BitMasks, decode_bit_masks};
use super::flags::nz;
use super::operand::shift_reg;
use super::truncate;
use crate::{Cpu, Word};

/// `OP`: and.
pub const AND: u32 = 0;
/// `OP`: inclusive or.
pub const ORR: u32 = 1;
/// `OP`: exclusive or.
pub const EOR: u32 = 2;
/// `OP`: and; sets the flags.
pub const ANDS: u32 = 3;
/// `INVERTED`: the second operand is not complemented.
pub const PLAIN: bool = false;
/// `INVERTED`: the second operand is complemented, as in BIC, ORN, EON, BICS.
pub const INVERT: bool = true;

/// Returns the result of an operation. ANDS sets N and Z and clears C and V.
#[inline(always)]
fn logical<const N: u32, const OP: u32>(cpu: &mut Cpu, operand1: u64, operand2: u64) -> u64 {
    let result = truncate(
        match OP {
            ORR => operand1 | operand2,
            EOR => operand1 ^ operand2,
            _ => operand1 & operand2,
        },
        N,
    );
    if OP == ANDS {
        cpu.nzcv = nz(result, N == 64);
    }
    result
}

/// AND, ORR, EOR, ANDS (immediate). All but ANDS can write SP.
#[inline(always)]
pub fn immediate<const N: u32, const OP: u32>(cpu: &mut Cpu, w: Word) {
    // The decoder has already refused reserved masks.
    let BitMasks { wmask, .. } = decode_bit_masks(w.n(), w.imms(), w.immr(), true).unwrap_or_default();
    let result = logical::<N, OP>(cpu, cpu.x(w.rn()), wmask);
    if OP == ANDS { cpu.set_x(w.rd(), result) } else { cpu.set_x_or_sp(w.rd(), result) }
}

/// AND, BIC, ORR, ORN, EOR, EON, ANDS, BICS (shifted register).
#[inline(always)]
pub fn shifted_register<const N: u32, const OP: u32, const INVERTED: bool>(cpu: &mut Cpu, w: Word) {
    let shifted = shift_reg(truncate(cpu.x(w.rm()), N), w.shift(), w.imm6(), N);
    let operand2 = if INVERTED { !shifted } else { shifted };
    let result = logical::<N, OP>(cpu, cpu.x(w.rn()), operand2);
    cpu.set_x(w.rd(), result);
}
