//! Division, compared with repeated subtraction of shifted divisors.

use kvrm_arm64::Cpu;
use kvrm_arm64::Word;
use kvrm_arm64::semantics::divide::{sdiv, udiv};
use proptest::prelude::*;

use crate::numbers::{low, number, signed, wrapped};

/// Returns the quotient by long division in binary; zero if the divisor is zero.
fn quotient(dividend: u128, divisor: u128) -> u128 {
    if divisor == 0 {
        return 0;
    }
    let (mut rest, mut quotient) = (dividend, 0);
    for i in (0..64).rev() {
        if rest >= divisor << i {
            rest -= divisor << i;
            quotient += 1 << i;
        }
    }
    quotient
}

/// Returns the result, if the instruction is a division.
pub(crate) fn result(mnemonic: &str, dividend: u64, divisor: u64, datasize: u32) -> Option<u64> {
    match mnemonic {
        "udiv" => Some(quotient(dividend.into(), divisor.into()) as u64),
        "sdiv" => {
            // Divides magnitudes, so that the quotient is rounded towards zero.
            let (dividend, divisor) = (signed(dividend, datasize), signed(divisor, datasize));
            let magnitude = quotient(dividend.unsigned_abs(), divisor.unsigned_abs()) as i128;
            let negative = (dividend < 0) != (divisor < 0);
            Some(wrapped(if negative { -magnitude } else { magnitude }, datasize))
        }
        _ => None,
    }
}

/// The operands of X0 = X1 / X2.
const OPERANDS: Word = Word(1 << 5 | 2 << 16);

fn divide(operation: fn(&mut Cpu, Word), dividend: u64, divisor: u64) -> u64 {
    let mut cpu = Cpu::default();
    cpu.set_x(1, dividend);
    cpu.set_x(2, divisor);
    operation(&mut cpu, OPERANDS);
    cpu.x(0)
}

#[test]
fn division_by_zero_is_zero() {
    for dividend in crate::numbers::EDGES {
        for operation in [udiv::<32>, udiv::<64>, sdiv::<32>, sdiv::<64>] {
            assert_eq!(divide(operation, dividend, 0), 0, "{dividend:#x} / 0");
        }
        // Only the low word is the divisor of a 32-bit division.
        assert_eq!(divide(udiv::<32>, dividend, 1 << 32), 0, "{dividend:#x} / 0");
    }
}

#[test]
fn the_only_overflow_wraps() {
    assert_eq!(divide(sdiv::<64>, 1 << 63, u64::MAX), 1 << 63, "the least number / -1");
    assert_eq!(divide(sdiv::<32>, 1 << 31, 0xffff_ffff), 1 << 31, "the least number / -1 in 32 bits");
    assert_eq!(divide(sdiv::<32>, 1 << 31, u64::MAX), 1 << 31, "the upper half of the divisor is ignored");
}

#[test]
fn signed_division_rounds_towards_zero() {
    let number = |value: i64| value as u64;
    for (dividend, divisor, quotient) in [(7, 2, 3), (-7, 2, -3), (7, -2, -3), (-7, -2, 3), (-1, 2, 0)] {
        let wide = divide(sdiv::<64>, number(dividend), number(divisor));
        assert_eq!(wide, number(quotient), "{dividend} / {divisor}");
        let narrow = divide(sdiv::<32>, number(dividend), number(divisor));
        assert_eq!(narrow, low(number(quotient), 32), "{dividend} / {divisor} in 32 bits");
    }
}

proptest! {
    #[test]
    fn quotient_times_divisor_is_less_than_a_divisor_away(a in number(), b in number()) {
        prop_assume!(b != 0);
        let rest = i128::from(a) - i128::from(divide(udiv::<64>, a, b)) * i128::from(b);
        prop_assert!((0..i128::from(b)).contains(&rest), "{} / {} leaves {}", a, b, rest);
        let (sa, sb) = (signed(a, 64), signed(b, 64));
        prop_assume!(!(sa == i128::from(i64::MIN) && sb == -1));
        let rest = sa - signed(divide(sdiv::<64>, a, b), 64) * sb;
        prop_assert!(rest.abs() < sb.abs() && rest * sa >= 0, "{} / {} leaves {}", sa, sb, rest);
    }
}
