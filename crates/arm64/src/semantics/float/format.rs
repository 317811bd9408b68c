//! Formats of floating-point numbers.

/// How many bits of a number are what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Bits of the fraction.
    pub fraction_bits: u32,
    /// Bits of the exponent.
    pub exponent_bits: u32,
    /// Whether it is the alternative half precision, whose largest exponent is one of numbers.
    pub alternative: bool,
}

/// Half precision.
pub const HALF: Format = Format { fraction_bits: 10, exponent_bits: 5, alternative: false };
/// Half precision if `FPCR.AHP` is set.
pub const ALTERNATIVE_HALF: Format = Format { alternative: true, ..HALF };
/// Single precision.
pub const SINGLE: Format = Format { fraction_bits: 23, exponent_bits: 8, alternative: false };
/// Double precision.
pub const DOUBLE: Format = Format { fraction_bits: 52, exponent_bits: 11, alternative: false };

/// The format of numbers of `datasize` bits: 16, 32 or 64.
#[must_use]
#[inline(always)]
pub const fn fp_format(datasize: u32, alternative: bool) -> Format {
    match datasize {
        16 => Format { alternative, ..HALF },
        32 => SINGLE,
        _ => DOUBLE,
    }
}

/// What is added to an exponent before it is stored: the largest exponent of a format with infinities.
#[must_use]
#[inline(always)]
pub const fn exponent_bias(format: Format) -> i32 {
    (1 << (format.exponent_bits - 1)) - 1
}

/// The field of the exponent, all ones.
#[must_use]
#[inline(always)]
pub const fn exponent_ones(format: Format) -> u32 {
    (1 << format.exponent_bits) - 1
}
