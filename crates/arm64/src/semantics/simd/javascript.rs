//! Conversion to integers as in JavaScript.

use super::vector::{elem, v};
use crate::semantics::float::control::{FPCR_FZ, FPSR_IDC, FPSR_IOC, FPSR_IXC};
use crate::{Cpu, Word};

/// The result of a conversion as in JavaScript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Converted {
    /// The integer modulo 2^32.
    pub value: u32,
    /// Whether the integer is the number, which is not negative zero.
    pub is_exact: bool,
    /// The bits of FPSR that become set.
    pub fpsr: u32,
}

/// `FPToFixedJS()`: rounds a number of double precision towards zero and takes the result modulo 2^32.
#[must_use]
pub const fn fp_to_fixed_js(number: u64, fpcr: u32) -> Converted {
    const IMPLICIT: u64 = 1 << 52;
    let (is_negative, field) = (number >> 63 == 1, (number >> 52) as u32 & 0x7ff);
    let fraction = number & (IMPLICIT - 1);
    if field == 0x7ff {
        // NaNs and infinities.
        return Converted { value: 0, is_exact: false, fpsr: FPSR_IOC };
    }
    if field == 0 && fraction == 0 {
        return Converted { value: 0, is_exact: !is_negative, fpsr: 0 };
    }
    if field < 1023 {
        let is_flushed = field == 0 && fpcr & FPCR_FZ != 0;
        return Converted { value: 0, is_exact: false, fpsr: if is_flushed { FPSR_IDC } else { FPSR_IXC } };
    }
    let (significand, exponent) = (fraction | IMPLICIT, field - 1023);
    // The integer, whose bits from 64 up do not matter, and whether it differs from the number.
    let (integer, is_inexact) = if exponent <= 52 {
        let right = 52 - exponent;
        (significand >> right, significand & ((1 << right) - 1) != 0)
    } else if exponent < 84 {
        (significand << (exponent - 52), false)
    } else {
        (0, false)
    };
    let most = (1 << 31) - !is_negative as u64;
    let fpsr = if exponent > 31 || integer > most {
        FPSR_IOC
    } else if is_inexact {
        FPSR_IXC
    } else {
        0
    };
    let value = if is_negative { integer.wrapping_neg() } else { integer };
    Converted { value: value as u32, is_exact: fpsr == 0, fpsr }
}

/// FJCVTZS.
pub fn fjcvtzs(cpu: &mut Cpu, w: Word) {
    let Converted { value, is_exact, fpsr } = fp_to_fixed_js(elem(v(cpu, w.rn()), 0, 64), cpu.fpcr);
    cpu.fpsr |= fpsr;
    cpu.nzcv = if is_exact { 0b0100 } else { 0 };
    cpu.set_x(w.rd(), value.into());
}
