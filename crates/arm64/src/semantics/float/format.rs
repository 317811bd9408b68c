//! Formats of floating-point numbers.

/// A format of floating-point numbers: the number of bits in each field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// The number of fraction bits.
    pub fraction_bits: u32,
    /// The number of exponent bits.
    pub exponent_bits: u32,
    /// Whether this is the alternative half precision: numbers with the largest exponent are finite.
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

/// Bfloat16, the upper half of single precision.
pub const BFLOAT: Format = Format { fraction_bits: 7, exponent_bits: 8, alternative: false };

/// Returns the format of numbers of `datasize` bits, which is 16, 32 or 64.
#[must_use]
#[inline(always)]
pub const fn fp_format(datasize: u32, alternative: bool) -> Format {
    match datasize {
        16 => Format { alternative, ..HALF },
        32 => SINGLE,
        _ => DOUBLE,
    }
}

/// Returns the bias, which is added to an exponent to store it. It is also the largest exponent of finite numbers,
/// except in the alternative half precision.
#[must_use]
#[inline(always)]
pub const fn exponent_bias(format: Format) -> i32 {
    (1 << (format.exponent_bits - 1)) - 1
}

/// Returns the exponent field with all bits set.
#[must_use]
#[inline(always)]
pub const fn exponent_ones(format: Format) -> u32 {
    (1 << format.exponent_bits) - 1
}
