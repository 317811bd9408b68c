//! Saturation.

use super::vector::{Lanes, set_v};
use crate::semantics::bitmask::ones;
use crate::{Cpu, Word};

/// FPSR.QC: a result was saturated.
pub const FPSR_QC: u32 = 1 << 27;

/// `SatQ()`: saturates an integer to `n` bits. Returns the element, and whether it differs from the integer.
#[must_use]
#[inline]
pub const fn sat_q(value: i128, n: u32, unsigned: bool) -> (u64, bool) {
    let (low, high) = if unsigned { (0, (1 << n) - 1) } else { (-(1 << (n - 1)), (1 << (n - 1)) - 1) };
    let nearest: i128 = if value < low {
        low
    } else if value > high {
        high
    } else {
        value
    };
    (nearest as u64 & ones(n), nearest != value)
}

/// Sets FPSR.QC if a result was saturated.
#[inline]
pub const fn set_qc(cpu: &mut Cpu, saturated: bool) {
    if saturated {
        cpu.fpsr |= FPSR_QC;
    }
}

/// Writes a function of the index of each element to Vd, saturated.
#[inline]
pub fn write_saturated(
    cpu: &mut Cpu,
    w: Word,
    lanes: Lanes,
    unsigned: bool,
    mut value: impl FnMut(u32) -> i128,
) {
    let mut any = false;
    let result = lanes.collect(|e| {
        let (element, saturated) = sat_q(value(e), lanes.esize, unsigned);
        any |= saturated;
        element
    });
    set_v(cpu, w.rd(), result);
    set_qc(cpu, any);
}
