//! Division. Division by zero gives zero, and the one overflow wraps.

use super::{sign_extend, truncate};
use crate::{Cpu, Word};

/// UDIV.
#[inline(always)]
pub fn udiv<const N: u32>(cpu: &mut Cpu, w: Word) {
    let (dividend, divisor) = (truncate(cpu.x(w.rn()), N), truncate(cpu.x(w.rm()), N));
    cpu.set_x(w.rd(), dividend.checked_div(divisor).unwrap_or(0));
}

/// SDIV, rounding towards zero.
#[inline(always)]
pub fn sdiv<const N: u32>(cpu: &mut Cpu, w: Word) {
    let dividend = sign_extend(cpu.x(w.rn()), N) as i64;
    let divisor = sign_extend(cpu.x(w.rm()), N) as i64;
    let quotient = if divisor == 0 { 0 } else { dividend.wrapping_div(divisor) };
    cpu.set_x(w.rd(), truncate(quotient as u64, N));
}
