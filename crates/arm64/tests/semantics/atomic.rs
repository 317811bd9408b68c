//! Atomics, compared with wider integers.

use kvrm_arm64::encoding::ENCODINGS;
use kvrm_arm64::semantics::atomic::{
    MEM_ADD, MEM_BIC, MEM_EOR, MEM_ORR, MEM_SMAX, MEM_SMIN, MEM_SWP, MEM_UMAX, MEM_UMIN, mem_atomic_op,
};
use kvrm_arm64::{Cpu, Encoding, Feature, Word};
use kvrm_testkit::random::Random;
use kvrm_testkit::words;
use proptest::prelude::*;

use crate::harness::{random_cpu, set_x, set_x_or_sp, x, x_or_sp};
use crate::numbers::{field, low, number, random_number, signed, wrapped};
use kvrm_testkit::flat::{BASE, Flat, execute};

const WORDS_OF_EACH: usize = 1000;

/// Returns the new value in memory, for numbers of `bits` bits.
fn result(op: &str, old: u64, operand: u64, bits: u32) -> u64 {
    let (a, b) = (i128::from(low(old, bits)), i128::from(low(operand, bits)));
    let (signed_a, signed_b) = (signed(old, bits), signed(operand, bits));
    // Logic as arithmetic: `both` is the number of the bits that are set in both operands.
    let both = (0..bits).filter(|i| a >> i & b >> i & 1 == 1).map(|i| 1 << i).sum::<i128>();
    let value = match op {
        "add" => a + b,
        "clr" => a - both,
        "eor" => a + b - 2 * both,
        "set" => a + b - both,
        "smax" => signed_a.max(signed_b),
        "smin" => signed_a.min(signed_b),
        "umax" => a.max(b),
        "umin" => a.min(b),
        "swp" => b,
        _ => panic!("the test has no result for {op}"),
    };
    wrapped(value, bits)
}

#[rustfmt::skip] // Several operations a line.
const OPERATIONS: [(&str, u32); 9] = [
    ("add", MEM_ADD), ("clr", MEM_BIC), ("eor", MEM_EOR), ("set", MEM_ORR), ("smax", MEM_SMAX),
    ("smin", MEM_SMIN), ("umax", MEM_UMAX), ("umin", MEM_UMIN), ("swp", MEM_SWP),
];

proptest! {
    #[test]
    fn operations_are_those_of_wider_integers(old in number(), operand in number(), same in 0..8) {
        for (name, op) in OPERATIONS {
            for bytes in [1, 2, 4, 8] {
                let bits = 8 * bytes as u32;
                // The loaded value is zero-extended; the operand is a whole register.
                let old = low(old, bits);
                let operand = if same == 0 { old } else { operand };
                let new = low(mem_atomic_op(op, old, operand, bytes), bits);
                let expected = result(name, old, operand, bits);
                prop_assert_eq!(new, expected, "{} of {:#x} and {:#x}, {} bytes", name, old, operand, bytes);
            }
        }
    }
}

/// Returns a number in memory.
fn get(memory: &Flat, address: u64, bytes: u64) -> u64 {
    let at = (address - BASE) as usize;
    memory.bytes[at..at + bytes as usize].iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

fn put(memory: &mut Flat, address: u64, bytes: u64, value: u64) {
    let at = (address - BASE) as usize;
    for i in 0..bytes {
        memory.bytes[at + i as usize] = (value >> (8 * i)) as u8;
    }
}

/// Changes registers and memory as an atomic with this mnemonic does.
fn expect(cpu: &mut Cpu, memory: &mut Flat, row: &Encoding, w: u32) {
    let address = x_or_sp(cpu, field(w, 9, 5), 64);
    let (rs, rt) = (field(w, 20, 16), field(w, 4, 0));
    if row.mnemonic.starts_with("casp") {
        let bytes = if field(w, 30, 30) == 1 { 8 } else { 4 };
        let bits = 8 * bytes as u32;
        let old = [get(memory, address, bytes), get(memory, address + bytes, bytes)];
        let is_equal = old == [x(cpu, rs, bits), x(cpu, rs + 1, bits)];
        if is_equal {
            put(memory, address, bytes, x(cpu, rt, bits));
            put(memory, address + bytes, bytes, x(cpu, rt + 1, bits));
        }
        set_x(cpu, rs, old[0]);
        set_x(cpu, rs + 1, old[1]);
        return;
    }
    let bytes = 1 << field(w, 31, 30);
    let bits = 8 * bytes as u32;
    let old = get(memory, address, bytes);
    if row.mnemonic.starts_with("cas") {
        if old == x(cpu, rs, bits) {
            put(memory, address, bytes, x(cpu, rt, bits));
        }
        set_x(cpu, rs, old);
        return;
    }
    let operation = row.mnemonic.strip_prefix("ld").unwrap_or(row.mnemonic);
    let (operation, _) = *OPERATIONS
        .iter()
        .find(|(name, _)| operation.starts_with(name))
        .unwrap_or_else(|| panic!("the test has no result for {}", row.mnemonic));
    put(memory, address, bytes, result(operation, old, x(cpu, rs, bits), bits));
    set_x(cpu, rt, old);
}

#[test]
fn atomics_do_what_their_names_say() {
    let mut random = Random::new(1);
    let rows: Vec<&Encoding> = ENCODINGS.iter().filter(|row| row.feature == Feature::Lse).collect();
    assert_eq!(rows.len(), 168, "the Armv8.1 atomics");
    for row in rows {
        let mut swapped = 0;
        for _ in 0..WORDS_OF_EACH {
            let w = words::allocated(row, &mut random);
            let mut memory = Flat::new(&[], 64);
            memory.bytes.fill_with(|| random.bits() as u8);
            let mut before = random_cpu(&mut random);
            let address = BASE + 16 * random.below(3);
            put(&mut memory, address, 8, random_number(&mut random));
            if random.below(2) == 0 {
                // The comparison succeeds, even if the register has other bits above the operand.
                set_x(&mut before, field(w, 20, 16), get(&memory, address, 8));
                let second = address + if field(w, 30, 30) == 1 { 8 } else { 4 };
                set_x(&mut before, (field(w, 20, 16) + 1).min(31), get(&memory, second, 8));
            }
            set_x_or_sp(&mut before, field(w, 9, 5), address);

            let (mut expected, mut expected_memory) = (before.clone(), memory.clone());
            expect(&mut expected, &mut expected_memory, row, w);
            expected.pc = expected.pc.wrapping_add(4);
            swapped += usize::from(expected_memory != memory);

            let (mut after, mut after_memory) = (before.clone(), memory.clone());
            let result = execute(&mut after, &mut after_memory, row.op, Word(w));
            assert_eq!(result, Ok(()), "{} {w:#010x}", row.name);
            assert_eq!(after, expected, "{} {w:#010x} after {before:?}", row.name);
            assert!(after_memory == expected_memory, "memory after {} {w:#010x}", row.name);
        }
        assert!(swapped > WORDS_OF_EACH / 10, "{} wrote only {swapped} times", row.name);
    }
}
