//! Bitwise logic, compared bit by bit.

use kvrm_arm64::{Cpu, Encoding};

use crate::bit_masks::mask;
use crate::harness::{check, datasize, set_x, set_x_or_sp, x};
use crate::numbers::{bit, field, from_bits, low};
use crate::operands::shifted;

/// Returns the result of an instruction by its mnemonic, and the flags if it sets them.
fn result(row: &Encoding, a: u64, b: u64, datasize: u32) -> (u64, Option<u32>) {
    let of_bits: fn(bool, bool) -> bool = match row.mnemonic {
        "and" | "ands" => |a, b| a && b,
        "bic" | "bics" => |a, b| a && !b,
        "orr" => |a, b| a || b,
        "orn" => |a, b| a || !b,
        "eor" => |a, b| a != b,
        "eon" => |a, b| a == b,
        mnemonic => panic!("the test has no result for {mnemonic}"),
    };
    let value = from_bits(datasize, |i| of_bits(bit(a, i), bit(b, i)));
    let (n, z) = (bit(value, datasize - 1), value == 0);
    (value, row.mnemonic.ends_with('s').then_some(u32::from(n) << 3 | u32::from(z) << 2))
}

fn set_flags(cpu: &mut Cpu, flags: Option<u32>) {
    cpu.nzcv = flags.unwrap_or(cpu.nzcv);
}

#[test]
fn logic_with_an_immediate_is_done_bit_by_bit() {
    check(&["log_imm"], |cpu, row, w| {
        let size = datasize(w);
        let mask = mask(field(w, 22, 22), field(w, 15, 10), field(w, 21, 16)).expect("the word is allocated");
        let (value, flags) = result(row, x(cpu, field(w, 9, 5), size), low(mask, size), size);
        // The form that sets flags cannot write the stack pointer.
        match flags {
            Some(_) => set_x(cpu, field(w, 4, 0), value),
            None => set_x_or_sp(cpu, field(w, 4, 0), value),
        }
        set_flags(cpu, flags);
    });
}

#[test]
fn logic_with_a_shifted_register_is_done_bit_by_bit() {
    check(&["log_shift"], |cpu, row, w| {
        let size = datasize(w);
        let second = shifted(x(cpu, field(w, 20, 16), size), field(w, 23, 22), field(w, 15, 10), size);
        let (value, flags) = result(row, x(cpu, field(w, 9, 5), size), second, size);
        set_x(cpu, field(w, 4, 0), value);
        set_flags(cpu, flags);
    });
}
