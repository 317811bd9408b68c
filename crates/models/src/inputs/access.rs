//! Accesses to memory, and the deltas between their addresses.

use super::{flag, magnitude};
use crate::elementary::exp;

/// The greatest number of accesses in a window.
pub const WINDOW_ACCESSES_MAX: usize = 32;

/// The number of features of an access.
pub const ACCESS_FEATURES: usize = 10;

/// The factor of the first feature.
const DELTA_SCALE: f32 = 1e-6;
/// The divisor of the logarithms of deltas.
const LOG_DIVISOR: f32 = 20.0;

/// An access to memory of a lane.
///
/// The caller chooses the unit of addresses, and has to use the unit with which the network was trained. KVRM has pages of
/// 4 KiB: a delta is the difference of the numbers of two pages. The published network has bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Access {
    /// The address minus the address of the access before; 0 if there is none.
    pub delta: i64,
    /// The number of bytes.
    pub size: u32,
    /// Whether the access reads.
    pub is_load: bool,
    /// The address of the instruction.
    pub pc: u64,
}

/// Returns whether the memory oracle sees windows of this many accesses.
#[must_use]
pub const fn is_window_length(accesses: usize) -> bool {
    accesses > 0 && accesses <= WINDOW_ACCESSES_MAX
}

/// Returns the features of an access.
///
/// | features | meaning |
/// | --- | --- |
/// | 0 | delta / 1e6 |
/// | 1 | ln(1 + \|delta\|) / 20 |
/// | 2 | -1 for a negative delta, else 1 |
/// | 3 | \|delta\| is at most 8 |
/// | 4 | \|delta\| is one of 8, 16, 24, 32, 40, 48, 56 and 64 |
/// | 5, 6 | delta is a multiple of 4, and of 8 |
/// | 7 | the size, at most 8, divided by 8 |
/// | 8 | the access is a load |
/// | 9 | the lowest byte of the address of the instruction, divided by 255 |
///
/// The published network does not count 40 and 56 as strides.
///
/// ```
/// use kvrm_models::inputs::{Access, access_features};
///
/// let features = access_features(&Access { delta: -16, size: 4, is_load: true, pc: 0x40_00ff });
/// assert_eq!(features[2..], [-1.0, 0.0, 1.0, 1.0, 1.0, 0.5, 1.0, 1.0]);
/// ```
#[must_use]
pub fn access_features(access: &Access) -> [f32; ACCESS_FEATURES] {
    let Access { delta, size, is_load, pc } = *access;
    let distance = delta.unsigned_abs();
    [
        delta as f32 * DELTA_SCALE,
        logarithm(delta),
        if delta < 0 { -1.0 } else { 1.0 },
        flag(distance <= 8),
        flag((8..=64).contains(&distance) && distance.is_multiple_of(8)),
        flag(distance.is_multiple_of(4)),
        flag(distance.is_multiple_of(8)),
        size.min(8) as f32 / 8.0,
        flag(is_load),
        (pc & 0xff) as f32 / 255.0,
    ]
}

/// Returns ln(1 + |delta|) / 20.
fn logarithm(delta: i64) -> f32 {
    magnitude(delta) * (std::f32::consts::LN_2 / LOG_DIVISOR)
}

/// Returns a delta as the memory oracle predicts it: sign(delta) ln(1 + |delta|) / 20, between -2.2 and 2.2.
///
/// ```
/// use kvrm_models::inputs::encoded_delta;
///
/// assert_eq!((encoded_delta(0), encoded_delta(-5)), (0.0, -encoded_delta(5)));
/// ```
#[must_use]
pub fn encoded_delta(delta: i64) -> f32 {
    logarithm(delta) * delta.signum() as f32
}

/// Returns the delta with this encoding: sign(value) (e^(20 |value|) - 1), rounded to the nearest integer.
///
/// For the encoding of a delta up to ±100,000 this is the delta. For larger ones the relative error is below 1e-5.
/// Values beyond all deltas give the greatest or the least one, and NaN gives 0.
///
/// ```
/// use kvrm_models::inputs::{decoded_delta, encoded_delta};
///
/// assert_eq!(decoded_delta(encoded_delta(-4_096)), -4_096);
/// assert_eq!([f32::NAN, f32::INFINITY].map(decoded_delta), [0, i64::MAX]);
/// ```
#[must_use]
pub fn decoded_delta(value: f32) -> i64 {
    // Conversions to integers saturate, and a NaN becomes 0.
    let distance = (exp(LOG_DIVISOR * value.abs()) - 1.0).round() as i64;
    if value < 0.0 { -distance } else { distance }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The features as the documentation states them, in 64 bits.
    fn features_f64(access: &Access) -> [f64; ACCESS_FEATURES] {
        let (delta, distance) = (access.delta as f64, access.delta.unsigned_abs());
        let flag = |is: bool| f64::from(u8::from(is));
        [
            delta / 1e6,
            delta.abs().ln_1p() / 20.0,
            if access.delta < 0 { -1.0 } else { 1.0 },
            flag(distance < 9),
            flag([8, 16, 24, 32, 40, 48, 56, 64].contains(&distance)),
            flag(distance & 3 == 0),
            flag(distance & 7 == 0),
            f64::from(access.size).min(8.0) / 8.0,
            flag(access.is_load),
            f64::from(access.pc as u8) / 255.0,
        ]
    }

    fn deltas() -> impl Strategy<Value = i64> {
        prop_oneof![-80..=80_i64, any::<i64>(), (any::<i64>(), 0..64).prop_map(|(bits, shift)| bits >> shift)]
    }

    proptest! {
        #[test]
        fn features_are_those_of_the_table(
            delta in deltas(),
            size in prop_oneof![0..20_u32, any::<u32>()],
            is_load in any::<bool>(),
            pc in any::<u64>(),
        ) {
            let access = Access { delta, size, is_load, pc };
            for (index, (ours, right)) in
                access_features(&access).into_iter().zip(features_f64(&access)).enumerate()
            {
                let error = (f64::from(ours) - right).abs();
                prop_assert!(error <= 3e-7 * right.abs().max(1.0), "{}: {} instead of {}", index, ours, right);
            }
        }

        #[test]
        fn decoding_is_the_inverse_of_encoding(delta in deltas()) {
            let (encoded, decoded) = (encoded_delta(delta), decoded_delta(encoded_delta(delta)));
            let right = (delta as f64).abs().ln_1p() / 20.0 * (delta as f64).signum();
            if delta != 0 {
                prop_assert!((f64::from(encoded) - right).abs() < 3e-7, "{} instead of {}", encoded, right);
            }
            let error = (decoded as f64 - delta as f64).abs();
            prop_assert!(error <= 1e-5 * (delta as f64).abs(), "{} instead of {}", decoded, delta);
        }
    }

    #[test]
    fn small_deltas_are_decoded_exactly() {
        for delta in -100_000..=100_000 {
            assert_eq!(decoded_delta(encoded_delta(delta)), delta, "again");
        }
    }

    #[test]
    fn any_value_has_a_delta() {
        for (value, delta) in [
            (f32::NAN, 0),
            (-f32::NAN, 0),
            (0.0, 0),
            (-0.0, 0),
            (1e-30, 0),
            (3.0, i64::MAX),
            (f32::MAX, i64::MAX),
            (-3.0, -i64::MAX),
            (f32::NEG_INFINITY, -i64::MAX),
        ] {
            assert_eq!(decoded_delta(value), delta, "of {value}");
        }
        assert_eq!([0, 1, 32, 33].map(is_window_length), [false, true, true, false], "lengths");
    }
}
