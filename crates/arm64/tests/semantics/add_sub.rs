//! Addition and subtraction, compared with wider integers.

use kvrm_arm64::semantics::flags::{AddResult, add_with_carry};
use proptest::prelude::*;

use crate::harness::{check, datasize as size_of, set_x, set_x_or_sp, x, x_or_sp};
use crate::numbers::{EDGES, datasize, field, low, number, signed, wrapped};
use crate::operands::{extended, shifted};

/// Returns a result and its flags from the exact sum or difference of unsigned and of signed operands. C of a sum means
/// that it does not fit unsigned, C of a difference that there was no borrow, V that the result does not fit signed.
fn with_flags(unsigned: i128, of_signed: i128, is_sub: bool, datasize: u32) -> (u64, u32) {
    let value = wrapped(unsigned, datasize);
    let n = signed(value, datasize) < 0;
    let z = value == 0;
    let c = if is_sub { unsigned >= 0 } else { unsigned >= 1 << datasize };
    let v = of_signed != signed(value, datasize);
    (value, [n, z, c, v].iter().fold(0, |flags, &flag| flags << 1 | u32::from(flag)))
}

/// Returns `a + b + carry` and its flags.
pub(crate) fn sum(a: u64, b: u64, carry: u32, datasize: u32) -> (u64, u32) {
    let (a, b) = (low(a, datasize), low(b, datasize));
    let unsigned = i128::from(a) + i128::from(b) + i128::from(carry);
    let of_signed = signed(a, datasize) + signed(b, datasize) + i128::from(carry);
    with_flags(unsigned, of_signed, false, datasize)
}

/// Returns `a - b`, minus 1 if `carry` is 0, and its flags.
pub(crate) fn difference(a: u64, b: u64, carry: u32, datasize: u32) -> (u64, u32) {
    let (a, b) = (low(a, datasize), low(b, datasize));
    let borrow = i128::from(1 - carry);
    let unsigned = i128::from(a) - i128::from(b) - borrow;
    with_flags(unsigned, signed(a, datasize) - signed(b, datasize) - borrow, true, datasize)
}

/// Returns the result of an instruction by its mnemonic, and the flags if it sets them.
fn result(mnemonic: &str, a: u64, b: u64, carry: u32, datasize: u32) -> (u64, Option<u32>) {
    let (plain, sets_flags) = match mnemonic.strip_suffix('s') {
        Some(plain) => (plain, true),
        None => (mnemonic, false),
    };
    let (value, flags) = match plain {
        "add" => sum(a, b, 0, datasize),
        "adc" => sum(a, b, carry, datasize),
        "sub" => difference(a, b, 1, datasize),
        "sbc" => difference(a, b, carry, datasize),
        _ => panic!("the test has no result for {mnemonic}"),
    };
    (value, sets_flags.then_some(flags))
}

#[test]
fn sums_and_flags_at_all_edges_are_those_of_wider_integers() {
    for datasize in [32, 64] {
        for (a, b) in EDGES.iter().flat_map(|a| EDGES.iter().map(move |b| (*a, *b))) {
            let (a, b) = (low(a, datasize), low(b, datasize));
            for carry in 0..2 {
                let (value, nzcv) = sum(a, b, carry, datasize);
                let result = add_with_carry(a, b, carry, datasize);
                assert_eq!(result, AddResult { value, nzcv }, "{a:#x} + {b:#x} + {carry}");
                // A difference is a sum with the complement.
                let (value, nzcv) = difference(a, b, carry, datasize);
                let result = add_with_carry(a, low(!b, datasize), carry, datasize);
                assert_eq!(result, AddResult { value, nzcv }, "{a:#x} - {b:#x}, carry {carry}");
            }
        }
    }
}

proptest! {
    #[test]
    fn sums_and_flags_are_those_of_wider_integers(
        a in number(), b in number(), carry in 0..2_u32, datasize in datasize()
    ) {
        let (a, b) = (low(a, datasize), low(b, datasize));
        let (value, nzcv) = sum(a, b, carry, datasize);
        prop_assert_eq!(add_with_carry(a, b, carry, datasize), AddResult { value, nzcv });
    }
}

#[test]
fn instructions_with_an_immediate_add_and_subtract_it() {
    check(&["addsub_imm"], |cpu, row, w| {
        let size = size_of(w);
        let imm = u64::from(field(w, 21, 10)) * if field(w, 22, 22) == 1 { 4096 } else { 1 };
        let (value, flags) = result(row.mnemonic, x_or_sp(cpu, field(w, 9, 5), size), imm, 0, size);
        match flags {
            Some(_) => set_x(cpu, field(w, 4, 0), value),
            None => set_x_or_sp(cpu, field(w, 4, 0), value),
        }
        cpu.nzcv = flags.unwrap_or(cpu.nzcv);
    });
}

#[test]
fn instructions_with_a_shifted_register_add_and_subtract_it() {
    check(&["addsub_shift"], |cpu, row, w| {
        let size = size_of(w);
        let second = shifted(x(cpu, field(w, 20, 16), size), field(w, 23, 22), field(w, 15, 10), size);
        let (value, flags) = result(row.mnemonic, x(cpu, field(w, 9, 5), size), second, 0, size);
        set_x(cpu, field(w, 4, 0), value);
        cpu.nzcv = flags.unwrap_or(cpu.nzcv);
    });
}

#[test]
fn instructions_with_an_extended_register_add_and_subtract_it() {
    check(&["addsub_ext"], |cpu, row, w| {
        let size = size_of(w);
        let second = extended(x(cpu, field(w, 20, 16), 64), field(w, 15, 13), field(w, 12, 10), size);
        let (value, flags) = result(row.mnemonic, x_or_sp(cpu, field(w, 9, 5), size), second, 0, size);
        match flags {
            Some(_) => set_x(cpu, field(w, 4, 0), value),
            None => set_x_or_sp(cpu, field(w, 4, 0), value),
        }
        cpu.nzcv = flags.unwrap_or(cpu.nzcv);
    });
}

#[test]
fn instructions_with_carry_add_and_subtract_it_too() {
    check(&["addsub_carry"], |cpu, row, w| {
        let (size, carry) = (size_of(w), u32::from(cpu.nzcv & 2 != 0));
        let (first, second) = (x(cpu, field(w, 9, 5), size), x(cpu, field(w, 20, 16), size));
        let (value, flags) = result(row.mnemonic, first, second, carry, size);
        set_x(cpu, field(w, 4, 0), value);
        cpu.nzcv = flags.unwrap_or(cpu.nzcv);
    });
}
