//! The formats of floating-point numbers.

/// The layout of a floating-point format.
///
/// Twin: `kvrm_arm64::semantics::float::format::Format`.
struct Format {
    /// The number of bits of the fraction.
    fraction_bits: u32,
    /// The number of bits of the exponent.
    exponent_bits: u32,
    /// Whether the format is the alternative half precision, whose largest exponent is that of finite numbers.
    alternative: bool,
}

/// Returns the format of numbers of `datasize` bits: 16, 32 or 64.
///
/// Twin: `kvrm_arm64::semantics::float::format::fp_format`.
fn fp_format(datasize: u32, alternative: bool) -> Format {
    switch datasize {
        case 16u: { return Format(10u, 5u, alternative); }
        case 32u: { return Format(23u, 8u, false); }
        default: { return Format(52u, 11u, false); }
    }
}

/// Returns the bias of stored exponents, which is also the largest exponent of a format with infinities.
///
/// Twin: `kvrm_arm64::semantics::float::format::exponent_bias`.
fn exponent_bias(format: Format) -> i32 {
    return (1i << (format.exponent_bits - 1u)) - 1i;
}

/// Returns an exponent field of all ones.
///
/// Twin: `kvrm_arm64::semantics::float::format::exponent_ones`.
fn exponent_ones(format: Format) -> u32 {
    return (1u << format.exponent_bits) - 1u;
}
