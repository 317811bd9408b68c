//! Formats of floating-point numbers.

/// How many bits of a number are what.
///
/// Twin: `kvrm_arm64::semantics::float::format::Format`.
struct Format {
    /// Bits of the fraction.
    fraction_bits: u32,
    /// Bits of the exponent.
    exponent_bits: u32,
    /// Whether it is the alternative half precision, whose largest exponent is one of numbers.
    alternative: bool,
}

/// The format of numbers of `datasize` bits: 16, 32 or 64.
///
/// Twin: `kvrm_arm64::semantics::float::format::fp_format`.
fn fp_format(datasize: u32, alternative: bool) -> Format {
    switch datasize {
        case 16u: { return Format(10u, 5u, alternative); }
        case 32u: { return Format(23u, 8u, false); }
        default: { return Format(52u, 11u, false); }
    }
}

/// What is added to an exponent before it is stored: the largest exponent of a format with infinities.
///
/// Twin: `kvrm_arm64::semantics::float::format::exponent_bias`.
fn exponent_bias(format: Format) -> i32 {
    return (1i << (format.exponent_bits - 1u)) - 1i;
}

/// The field of the exponent, all ones.
///
/// Twin: `kvrm_arm64::semantics::float::format::exponent_ones`.
fn exponent_ones(format: Format) -> u32 {
    return (1u << format.exponent_bits) - 1u;
}
