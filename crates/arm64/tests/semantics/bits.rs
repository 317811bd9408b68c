//! Counting and reversal, compared with operations on strings of binary digits.

use kvrm_arm64::semantics::bits::{count_leading_sign_bits, count_leading_zero_bits, reverse_bytes};
use proptest::prelude::*;

use crate::harness::{check, datasize as size_of, set_x, x};
use crate::numbers::{datasize, field, low, number};
use crate::pauth;

fn digits(value: u64, datasize: u32) -> String {
    let digits = format!("{value:064b}");
    digits[64 - datasize as usize..].to_owned()
}

fn parse_digits(digits: &str) -> u64 {
    u64::from_str_radix(digits, 2).expect("binary digits")
}

fn leading_zeros(value: u64, datasize: u32) -> usize {
    digits(value, datasize).chars().take_while(|digit| *digit == '0').count()
}

/// Returns the number of digits after the first that equal it without a gap.
fn leading_signs(value: u64, datasize: u32) -> usize {
    let digits = digits(value, datasize);
    digits.chars().skip(1).take_while(|digit| digits.starts_with(*digit)).count()
}

/// Returns a number with the groups of eight digits reversed in each container of `container` digits.
fn bytes_reversed(value: u64, container: u32, datasize: u32) -> u64 {
    let digits = digits(value, datasize);
    let containers = digits.as_bytes().chunks(container as usize);
    let reversed = containers.flat_map(|container| container.chunks(8).rev().flatten());
    parse_digits(&reversed.map(|digit| char::from(*digit)).collect::<String>())
}

#[test]
fn instructions_with_one_source_do_what_their_names_say() {
    check(&["dp_1src"], |cpu, row, w| {
        let size = size_of(w);
        let value = x(cpu, field(w, 9, 5), size);
        let result = match row.mnemonic {
            "clz" => leading_zeros(value, size) as u64,
            "cls" => leading_signs(value, size) as u64,
            "rbit" => parse_digits(&digits(value, size).chars().rev().collect::<String>()),
            "rev16" => bytes_reversed(value, 16, size),
            "rev32" => bytes_reversed(value, 32, size),
            "rev" => bytes_reversed(value, size, size),
            mnemonic => pauth::result(mnemonic, cpu, w)
                .unwrap_or_else(|| panic!("the test has no result for {mnemonic}")),
        };
        set_x(cpu, field(w, 4, 0), result);
    });
}

#[test]
fn a_single_bit_has_as_many_zeros_before_it_as_there_are_places_above() {
    for datasize in [32, 64] {
        assert_eq!(count_leading_zero_bits(0, datasize), datasize, "zero is all zeros");
        assert_eq!(count_leading_sign_bits(0, datasize), datasize - 1, "of which one is the sign");
        assert_eq!(count_leading_sign_bits(low(u64::MAX, datasize), datasize), datasize - 1, "minus one");
        for place in 0..datasize {
            assert_eq!(count_leading_zero_bits(1 << place, datasize), datasize - 1 - place, "bit {place}");
        }
    }
}

proptest! {
    #[test]
    fn counts_are_those_of_digits(value in number(), datasize in datasize()) {
        let value = low(value, datasize);
        prop_assert_eq!(count_leading_zero_bits(value, datasize) as usize, leading_zeros(value, datasize));
        prop_assert_eq!(count_leading_sign_bits(value, datasize) as usize, leading_signs(value, datasize));
    }

    #[test]
    fn bytes_are_reversed_within_their_containers(value in number()) {
        for container in [16, 32, 64] {
            prop_assert_eq!(reverse_bytes(value, container), bytes_reversed(value, container, 64));
        }
    }
}
