//! Numbers with significands of two words, compared with integers of 128 bits.

use kvrm_arm64::semantics::float::multiply::multiply_numbers;
use kvrm_arm64::semantics::float::number::{KIND_FINITE, Number, TOP, denormalized, fp_finite, normalized};
use kvrm_testkit::random::Random;

const fn number(bits: u128, exponent: i32) -> Number {
    Number {
        kind: KIND_FINITE,
        sign: 0,
        exponent,
        significand: (bits >> 64) as u64,
        rest: bits as u64,
        fpsr: 0,
    }
}

/// Returns a random integer that is not zero, of any length, and often with only one or two bits set.
fn bits(random: &mut Random) -> u128 {
    let any = u128::from(random.bits()) << 64 | u128::from(random.bits());
    let sparse = 1 << random.below(128) | 1 << random.below(128);
    let chosen = if random.below(2) == 0 { any } else { sparse };
    (chosen >> random.below(128)).max(1)
}

#[test]
fn a_right_shift_that_loses_bits_sets_the_lowest_bit() {
    let mut random = Random::new(1);
    for _ in 0..200_000 {
        let bits = bits(&mut random);
        let amount = random.below(200) as u32;
        let kept = bits.checked_shr(amount).unwrap_or(0);
        let is_lost = kept.checked_shl(amount).unwrap_or(0) != bits;
        let expected = number(kept | u128::from(is_lost), amount as i32);
        assert_eq!(denormalized(number(bits, 0), amount), expected, "{bits:#x} by {amount}");
    }
}

#[test]
fn a_left_shift_sets_the_top_bit() {
    let mut random = Random::new(2);
    for _ in 0..200_000 {
        let bits = bits(&mut random);
        let zeros = bits.leading_zeros();
        assert_eq!(normalized(number(bits, 0)), number(bits << zeros, -(zeros as i32)), "{bits:#x}");
    }
}

#[test]
fn products_have_all_their_bits() {
    let mut random = Random::new(3);
    for _ in 0..200_000 {
        let [x, y] = [(); 2].map(|()| random.bits() | TOP);
        let product = u128::from(x) * u128::from(y);
        let zeros = product.leading_zeros();
        let expected = number(product << zeros, 1 - zeros as i32);
        assert_eq!(
            multiply_numbers(fp_finite(0, 0, x, 0), fp_finite(0, 0, y, 0)),
            expected,
            "{x:#x}, {y:#x}"
        );
    }
}
