//! Shifted and extended registers, compared bit by bit.

use kvrm_arm64::semantics::operand::{extend_reg, rotate_right, shift_reg};
use proptest::prelude::*;

use crate::numbers::{bit, datasize, from_bits, low, number};

/// Returns a shifted value, from the source of each bit. `kind` is 0 LSL, 1 LSR, 2 ASR, 3 ROR.
pub(crate) fn shifted(value: u64, kind: u32, amount: u32, datasize: u32) -> u64 {
    from_bits(datasize, |i| match kind {
        0 => i >= amount && bit(value, i - amount),
        1 => i + amount < datasize && bit(value, i + amount),
        2 => bit(value, (i + amount).min(datasize - 1)),
        _ => bit(value, (i + amount) % datasize),
    })
}

/// `ExtendReg()` of the manual: returns as many bits as fit above the shift, extended, with zeros below.
pub(crate) fn extended(value: u64, option: u32, shift: u32, datasize: u32) -> u64 {
    let (length, is_signed) = match option {
        0 => (8, false),
        1 => (16, false),
        2 => (32, false),
        3 => (64, false),
        4 => (8, true),
        5 => (16, true),
        6 => (32, true),
        _ => (64, true),
    };
    let length = length.min(datasize - shift);
    from_bits(datasize, |i| {
        if i < shift {
            false
        } else if i - shift < length {
            bit(value, i - shift)
        } else {
            is_signed && bit(value, length - 1)
        }
    })
}

proptest! {
    #[test]
    fn a_shift_moves_every_bit(value in number(), kind in 0..4_u32, datasize in datasize()) {
        let value = low(value, datasize);
        for amount in 0..datasize {
            prop_assert_eq!(
                shift_reg(value, kind, amount, datasize),
                shifted(value, kind, amount, datasize),
                "{:#x} by {}", value, amount
            );
        }
    }

    #[test]
    fn a_rotation_moves_every_bit_round(value in number(), datasize in datasize()) {
        let value = low(value, datasize);
        for amount in 0..datasize {
            let expected = shifted(value, 3, amount, datasize);
            prop_assert_eq!(rotate_right(value, amount, datasize), expected, "{:#x} by {}", value, amount);
        }
    }

    #[test]
    fn an_extension_repeats_the_sign_or_zero(value in number(), datasize in datasize()) {
        for option in 0..8 {
            for shift in 0..=4 {
                prop_assert_eq!(
                    extend_reg(value, option, shift, datasize),
                    extended(value, option, shift, datasize),
                    "{:#x}, option {}, shifted by {}", value, option, shift
                );
            }
        }
    }
}
