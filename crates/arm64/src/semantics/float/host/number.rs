//! The floating-point types of the host.

use core::ops::{Add, Div, Mul, Neg, Sub};

use crate::semantics::float::format::{DOUBLE, Format, SINGLE};

/// A floating-point type of the host.
pub trait HostFloat:
    Copy
    + PartialEq
    + Neg<Output = Self>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
{
    /// The format of the numbers.
    const FORMAT: Format;
    /// The size of a number in bits.
    const BITS: u32 = 1 + Self::FORMAT.exponent_bits + Self::FORMAT.fraction_bits;

    /// Returns the number with a bit pattern. Bits above those of the format are ignored.
    fn of(pattern: u64) -> Self;

    /// Returns the bit pattern of a number.
    fn pattern(self) -> u64;

    /// Returns whether a number is a zero.
    fn is_zero(self) -> bool;

    /// Returns whether a number is a zero or normal.
    fn is_usual(self) -> bool;

    /// Returns whether a number is neither a NaN nor infinite.
    fn is_finite(self) -> bool;

    /// Returns whether a result is finite and was not tiny before it was rounded. The least normal number may have been
    /// tiny.
    fn is_in_range(self) -> bool;

    /// Returns the square root of a number, or `None` if this crate is compiled without `std`.
    fn root(self) -> Option<Self>;

    /// Returns `self` * `factor` + `addend`, and whether that is certain to be rounded once.
    fn fused(self, factor: Self, addend: Self) -> (Self, bool);
}

/// Implements [`HostFloat`].
macro_rules! host_float {
    ($float:ident, $bits:ident, $format:ident, $fused:ident) => {
        impl HostFloat for $float {
            const FORMAT: Format = $format;

            #[inline(always)]
            fn of(pattern: u64) -> Self {
                Self::from_bits(pattern as $bits)
            }

            #[inline(always)]
            fn pattern(self) -> u64 {
                self.to_bits().into()
            }

            #[inline(always)]
            fn is_zero(self) -> bool {
                self.to_bits() << 1 == 0
            }

            #[inline(always)]
            fn is_usual(self) -> bool {
                const LEAST: $bits = $float::MIN_POSITIVE.to_bits() << 1;
                const SPAN: $bits = ($float::INFINITY.to_bits() << 1) - LEAST;
                self.is_zero() | ((self.to_bits() << 1).wrapping_sub(LEAST) < SPAN)
            }

            #[inline(always)]
            fn is_finite(self) -> bool {
                Self::is_finite(self)
            }

            #[inline(always)]
            fn is_in_range(self) -> bool {
                const LEAST: $bits = ($float::MIN_POSITIVE.to_bits() << 1) + 1;
                const SPAN: $bits = ($float::INFINITY.to_bits() << 1) - LEAST;
                (self.to_bits() << 1).wrapping_sub(LEAST) < SPAN
            }

            #[inline(always)]
            fn root(self) -> Option<Self> {
                #[cfg(feature = "std")]
                return Some(self.sqrt());
                #[cfg(not(feature = "std"))]
                None
            }

            #[inline(always)]
            fn fused(self, factor: Self, addend: Self) -> (Self, bool) {
                $fused(self, factor, addend)
            }
        }
    };
}
host_float!(f64, u64, DOUBLE, fused_doubles);
host_float!(f32, u32, SINGLE, fused_singles);

/// Returns `x` * `y` + `addend` in double precision, and whether it is rounded once.
#[inline(always)]
fn fused_doubles(x: f64, y: f64, addend: f64) -> (f64, bool) {
    #[cfg(feature = "std")]
    if has_fused_products() {
        return (x.mul_add(y, addend), true);
    }
    (x * y + addend, false)
}

/// Returns whether the host has instructions for fused products. Without them, `std` is slower than the integers, and
/// the C library of some hosts rounds twice.
#[cfg(feature = "std")]
#[inline(always)]
fn has_fused_products() -> bool {
    #[cfg(target_arch = "x86_64")]
    return cfg!(not(all(windows, target_env = "gnu"))) && std::arch::is_x86_feature_detected!("fma");
    #[cfg(not(target_arch = "x86_64"))]
    return cfg!(target_arch = "aarch64");
}

/// Returns `x` * `y` + `addend` in single precision, and whether it is rounded once.
///
/// Double precision has the exact product. Its sum with the addend is rounded to double and then to single precision. If
/// the first rounding matters for the second one, the sum is halfway between two numbers of single precision.
#[inline(always)]
fn fused_singles(x: f32, y: f32, addend: f32) -> (f32, bool) {
    let sum = f64::from(x) * f64::from(y) + f64::from(addend);
    let dropped = DOUBLE.fraction_bits - SINGLE.fraction_bits;
    let is_halfway = sum.to_bits() & ((1 << dropped) - 1) == 1 << (dropped - 1);
    (sum as f32, !is_halfway)
}
