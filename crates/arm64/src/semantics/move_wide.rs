//! Wide moves.

use super::truncate;
use crate::{Cpu, Word};

/// Returns the immediate, shifted to the halfword hw.
#[inline(always)]
fn positioned(w: Word) -> u64 {
    u64::from(w.imm16()) << (16 * w.hw())
}

/// MOVZ.
#[inline(always)]
pub fn movz<const N: u32>(cpu: &mut Cpu, w: Word) {
    cpu.set_x(w.rd(), positioned(w));
}

/// MOVN.
#[inline(always)]
pub fn movn<const N: u32>(cpu: &mut Cpu, w: Word) {
    cpu.set_x(w.rd(), truncate(!positioned(w), N));
}

/// MOVK.
#[inline(always)]
pub fn movk<const N: u32>(cpu: &mut Cpu, w: Word) {
    let kept = cpu.x(w.rd()) & !(0xffff << (16 * w.hw()));
    cpu.set_x(w.rd(), truncate(kept, N) | positioned(w));
}
