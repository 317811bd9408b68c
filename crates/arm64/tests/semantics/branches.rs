//! Branches: whether they are taken, and their targets.

use kvrm_arm64::Cpu;

use crate::conditions::holds;
use crate::harness::{check, datasize, x};
use crate::numbers::{bit, field, signed_field};
use crate::pauth;

/// Sets the pc to `words` words from the branch, if it is taken.
fn branch(cpu: &mut Cpu, words: i64, taken: bool) {
    if taken {
        cpu.pc = cpu.pc.wrapping_sub(4).wrapping_add_signed(4 * words);
    }
}

#[test]
fn a_conditional_branch_is_taken_if_its_condition_holds() {
    check(&["condbranch"], |cpu, _, w| {
        let taken = holds(field(w, 3, 0), cpu.nzcv);
        branch(cpu, signed_field(w, 23, 5), taken);
    });
}

#[test]
fn a_compare_branch_is_taken_by_the_register() {
    check(&["compbranch"], |cpu, row, w| {
        let is_zero = x(cpu, field(w, 4, 0), datasize(w)) == 0;
        let taken = match row.mnemonic {
            "cbz" => is_zero,
            "cbnz" => !is_zero,
            mnemonic => panic!("the test has no result for {mnemonic}"),
        };
        branch(cpu, signed_field(w, 23, 5), taken);
    });
}

#[test]
fn a_test_branch_is_taken_by_the_bit() {
    check(&["testbranch"], |cpu, row, w| {
        let number = 32 * field(w, 31, 31) + field(w, 23, 19);
        let is_set = bit(x(cpu, field(w, 4, 0), 64), number);
        let taken = match row.mnemonic {
            "tbz" => !is_set,
            "tbnz" => is_set,
            mnemonic => panic!("the test has no result for {mnemonic}"),
        };
        branch(cpu, signed_field(w, 18, 5), taken);
    });
}

#[test]
fn branches_go_to_their_target_and_calls_set_the_link_register() {
    check(&["branch_imm"], |cpu, row, w| {
        let next = cpu.pc;
        branch(cpu, signed_field(w, 25, 0), true);
        if row.mnemonic == "bl" {
            cpu.set_x(30, next);
        }
    });
    check(&["branch_reg"], |cpu, row, w| {
        let next = cpu.pc;
        // BLR X30 branches to the old value of X30.
        cpu.pc = pauth::target(row.mnemonic, cpu, w).unwrap_or_else(|| x(cpu, field(w, 9, 5), 64));
        match row.mnemonic {
            "blr" | "blraa" | "blrab" | "blraaz" | "blrabz" => cpu.set_x(30, next),
            "br" | "ret" | "braa" | "brab" | "braaz" | "brabz" | "retaa" | "retab" => {}
            mnemonic => panic!("the test has no result for {mnemonic}"),
        }
    });
}
