//! Multiplication, compared with sums of shifted numbers.

use kvrm_arm64::semantics::multiply::{smulh, umulh};
use kvrm_arm64::{Cpu, Word};
use proptest::prelude::*;

use crate::harness::{check, datasize, set_x, x};
use crate::numbers::{bit, field, number, signed, wrapped};

/// Returns the product in 128 bits, by long multiplication in binary.
fn product(a: u64, b: u64) -> u128 {
    (0..64).filter(|&i| bit(b, i)).map(|i| u128::from(a) << i).sum()
}

/// Returns the product of signed numbers, from their magnitudes.
fn signed_product(a: i128, b: i128) -> i128 {
    let magnitude = product(a.unsigned_abs() as u64, b.unsigned_abs() as u64) as i128;
    if (a < 0) == (b < 0) { magnitude } else { -magnitude }
}

#[test]
fn instructions_with_three_sources_multiply_and_add() {
    check(&["dp_3src"], |cpu, row, w| {
        let size = datasize(w);
        let [rd, ra, rn, rm] = [(4, 0), (14, 10), (9, 5), (20, 16)].map(|(high, low)| field(w, high, low));
        let addend = i128::from(x(cpu, ra, size));
        let whole = product(x(cpu, rn, size), x(cpu, rm, size));
        // The result has at most 64 bits, so the upper half of the product does not matter.
        let kept = i128::from(whole as u64);
        let long = signed_product(signed(x(cpu, rn, 32), 32), signed(x(cpu, rm, 32), 32));
        let unsigned_long = product(x(cpu, rn, 32), x(cpu, rm, 32)) as i128;
        let signed_whole = signed_product(signed(x(cpu, rn, 64), 64), signed(x(cpu, rm, 64), 64));
        let result = match row.mnemonic {
            "madd" => wrapped(addend + kept, size),
            "msub" => wrapped(addend - kept, size),
            "smaddl" => wrapped(addend + long, 64),
            "smsubl" => wrapped(addend - long, 64),
            "umaddl" => wrapped(addend + unsigned_long, 64),
            "umsubl" => wrapped(addend - unsigned_long, 64),
            "umulh" => (whole >> 64) as u64,
            "smulh" => wrapped(signed_whole.div_euclid(1 << 64), 64),
            mnemonic => panic!("the test has no result for {mnemonic}"),
        };
        set_x(cpu, rd, result);
    });
}

/// The operands of X0 = high half of X1 * X2.
const OPERANDS: Word = Word(1 << 5 | 2 << 16);

fn high(operation: fn(&mut Cpu, Word), a: u64, b: u64) -> u64 {
    let mut cpu = Cpu::default();
    cpu.set_x(1, a);
    cpu.set_x(2, b);
    operation(&mut cpu, OPERANDS);
    cpu.x(0)
}

proptest! {
    #[test]
    fn both_halves_together_are_the_product(a in number(), b in number()) {
        let low = a.wrapping_mul(b);
        let unsigned = u128::from(high(umulh, a, b)) << 64 | u128::from(low);
        prop_assert_eq!(unsigned, product(a, b), "unsigned");
        let together = (u128::from(high(smulh, a, b)) << 64 | u128::from(low)) as i128;
        prop_assert_eq!(together, signed_product(signed(a, 64), signed(b, 64)), "signed");
    }
}
