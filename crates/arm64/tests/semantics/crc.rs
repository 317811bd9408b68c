//! CRC32, compared with the division of polynomials in the manual.

use kvrm_arm64::Cpu;
use kvrm_arm64::Word;
use kvrm_arm64::semantics::crc::{crc32, crc32c};
use proptest::prelude::*;

use crate::numbers::{bit, from_bits, number};

const CRC32: u128 = 0x1_04c1_1db7;
const CRC32C: u128 = 0x1_1edc_6f41;

fn reversed(value: u64, bits: u32) -> u64 {
    from_bits(bits, |i| bit(value, bits - 1 - i))
}

/// Returns the remainder of a dividend of 32 + `bits` bits modulo a polynomial of degree 32.
fn remainder(mut dividend: u128, bits: u32, polynomial: u128) -> u32 {
    for i in (0..bits).rev() {
        if dividend >> (32 + i) & 1 == 1 {
            dividend ^= polynomial << i;
        }
    }
    u32::try_from(dividend).expect("a remainder is smaller than its divisor")
}

/// Returns the checksum: `Poly32Mod2()` of the reversed accumulator and value, reversed again.
fn checksum(accumulator: u32, value: u64, bits: u32, polynomial: u128) -> u32 {
    let accumulator = u128::from(reversed(accumulator.into(), 32)) << bits;
    let value = u128::from(reversed(value, bits)) << 32;
    reversed(remainder(accumulator ^ value, bits, polynomial).into(), 32) as u32
}

/// Returns the result, if the instruction is a checksum.
pub(crate) fn result(mnemonic: &str, accumulator: u64, value: u64) -> Option<u64> {
    let (polynomial, size) = match mnemonic.strip_prefix("crc32")? {
        size @ ("b" | "h" | "w" | "x") => (CRC32, size),
        size => (CRC32C, size.strip_prefix('c')?),
    };
    let bits = match size {
        "b" => 8,
        "h" => 16,
        "w" => 32,
        _ => 64,
    };
    Some(checksum(accumulator as u32, value, bits, polynomial).into())
}

/// The operands of W0 = checksum of W0 and W1 or X1.
const OPERANDS: Word = Word(1 << 16);

type Operation = fn(&mut Cpu, Word);

fn continue_checksum(operation: Operation, accumulator: u32, value: u64) -> u32 {
    let mut cpu = Cpu::default();
    cpu.set_x(0, accumulator.into());
    cpu.set_x(1, value);
    operation(&mut cpu, OPERANDS);
    u32::try_from(cpu.x(0)).expect("a checksum has 32 bits")
}

#[test]
fn the_checksums_of_the_nine_digits_are_the_published_ones() {
    let digits = b"123456789";
    let bytes =
        |operation| digits.iter().fold(!0, |crc, &digit| continue_checksum(operation, crc, digit.into()));
    assert_eq!(!bytes(crc32::<8>), 0xcbf4_3926, "CRC-32 of 123456789");
    assert_eq!(!bytes(crc32c::<8>), 0xe306_9283, "CRC-32C of 123456789");
    let start = u64::from_le_bytes(*b"12345678");
    assert_eq!(
        !continue_checksum(crc32::<8>, continue_checksum(crc32::<64>, !0, start), 0x39),
        0xcbf4_3926,
        "eight at once"
    );
    assert_eq!(
        !continue_checksum(crc32c::<8>, continue_checksum(crc32c::<64>, !0, start), 0x39),
        0xe306_9283,
        "eight at once"
    );
}

proptest! {
    #[test]
    fn a_checksum_is_the_remainder_of_a_division(accumulator in number(), value in number()) {
        let operations: [(Operation, u32, u128); 8] = [
            (crc32::<8>, 8, CRC32),
            (crc32::<16>, 16, CRC32),
            (crc32::<32>, 32, CRC32),
            (crc32::<64>, 64, CRC32),
            (crc32c::<8>, 8, CRC32C),
            (crc32c::<16>, 16, CRC32C),
            (crc32c::<32>, 32, CRC32C),
            (crc32c::<64>, 64, CRC32C),
        ];
        let accumulator = accumulator as u32;
        for (operation, bits, polynomial) in operations {
            let expected = checksum(accumulator, value, bits, polynomial);
            prop_assert_eq!(continue_checksum(operation, accumulator, value), expected, "{} bits", bits);
        }
    }
}
