//! Conditional select and compare.

use crate::add_sub::{difference, sum};
use crate::conditions::holds;
use crate::harness::{check, datasize, set_x, x};
use crate::numbers::{field, wrapped};

#[test]
fn a_select_takes_the_first_operand_or_a_function_of_the_second() {
    check(&["condsel"], |cpu, row, w| {
        let size = datasize(w);
        let (first, second) = (x(cpu, field(w, 9, 5), size), x(cpu, field(w, 20, 16), size));
        let otherwise = match row.mnemonic {
            "csel" => second.into(),
            "csinc" => i128::from(second) + 1,
            "csinv" => -1 - i128::from(second),
            "csneg" => -i128::from(second),
            mnemonic => panic!("the test has no result for {mnemonic}"),
        };
        let value = if holds(field(w, 15, 12), cpu.nzcv) { first } else { wrapped(otherwise, size) };
        set_x(cpu, field(w, 4, 0), value);
    });
}

#[test]
fn a_conditional_compare_sets_the_flags_of_a_comparison_or_of_the_word() {
    check(&["condcmp_reg", "condcmp_imm"], |cpu, row, w| {
        let size = datasize(w);
        let second = match row.group() {
            "condcmp_imm" => field(w, 20, 16).into(),
            _ => x(cpu, field(w, 20, 16), size),
        };
        let first = x(cpu, field(w, 9, 5), size);
        let (_, flags) = match row.mnemonic {
            "ccmp" => difference(first, second, 1, size),
            "ccmn" => sum(first, second, 0, size),
            mnemonic => panic!("the test has no result for {mnemonic}"),
        };
        cpu.nzcv = if holds(field(w, 15, 12), cpu.nzcv) { flags } else { field(w, 3, 0) };
    });
}
