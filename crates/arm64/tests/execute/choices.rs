//! CONSTRAINED UNPREDICTABLE cases, which all engines execute as described in docs/isa.md.

use kvrm_arm64::operand::Operand;
use kvrm_arm64::{Cpu, Encoding, Monitor};
use kvrm_testkit::random::Random;

use crate::rows::AccessRow;
use crate::{random_cpu, step_word};
use kvrm_testkit::flat::{BASE, Flat};

/// The address of the data.
const DATA: u64 = BASE + 64;
/// The number of the register that points to [`DATA`].
const BASE_REGISTER: u32 = 3;

fn rows(filter: impl Fn(&Encoding) -> bool) -> Vec<AccessRow> {
    AccessRow::all().into_iter().filter(|access| filter(access.row)).collect()
}

fn has(row: &Encoding, operands: &[Operand]) -> bool {
    row.operands.iter().any(|operand| operands.contains(operand))
}

fn writes_back(row: &Encoding) -> bool {
    use Operand as O;
    row.operands.iter().any(|operand| {
        matches!(operand, O::PreIndex | O::PostIndex | O::PairPreIndex(_) | O::PairPostIndex(_))
    })
}

/// Returns memory whose bytes are all different and have clear top bits, so that sign extension makes no difference.
fn memory() -> Flat {
    let mut memory = Flat::new(&[], 128);
    for (index, byte) in memory.bytes.iter_mut().enumerate() {
        *byte = index as u8;
    }
    memory
}

fn number(memory: &Flat, at: u64, bytes: u64) -> u64 {
    let at = (at - BASE) as usize;
    memory.bytes[at..at + bytes as usize].iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

/// Executes a word whose base register points to [`DATA`], and returns the state after it.
fn execute_word(word: u32, memory: &mut Flat) -> Cpu {
    let mut cpu = random_cpu(&mut Random::new(1));
    cpu.set_x(BASE_REGISTER, DATA);
    assert_eq!(step_word(&mut cpu, memory, word), Ok(()), "{word:#010x}");
    cpu
}

/// Returns the word with an offset: one register's size in pairs, which have imm7, and eight bytes in others, which
/// have imm9.
fn with_offset(word: u32) -> u32 {
    word | 1 << 15
}

/// Returns the offset that [`with_offset`] sets, in bytes.
fn offset(access: AccessRow) -> u64 {
    if access.row.group().starts_with("ldstpair") { access.bytes / 2 } else { 8 }
}

#[test]
fn write_back_wins_over_a_load_into_the_base() {
    let rows = rows(|row| writes_back(row) && row.mnemonic.starts_with("ld"));
    assert_eq!(rows.len(), 9 + 9 + 3 + 3, "loads with write-back, both ways");
    for access in rows {
        let is_pair = access.row.group().starts_with("ldstpair");
        for (rt, rt2) in [(BASE_REGISTER, 4), (4, BASE_REGISTER)] {
            if !is_pair && rt != BASE_REGISTER {
                continue;
            }
            let word = with_offset(access.word(rt, rt2, BASE_REGISTER, 0));
            let after = execute_word(word, &mut memory());
            assert_eq!(
                after.x(BASE_REGISTER),
                DATA + offset(access),
                "base of {} {word:#010x}",
                access.row.name
            );
        }
    }
}

#[test]
fn a_store_of_the_base_stores_its_old_value() {
    let rows = rows(|row| writes_back(row) && row.mnemonic.starts_with("st"));
    assert_eq!(rows.len(), 4 + 4 + 2 + 2, "stores with write-back, both ways");
    for access in rows {
        let word = with_offset(access.word(BASE_REGISTER, 4, BASE_REGISTER, 0));
        let mut memory = memory();
        let after = execute_word(word, &mut memory);
        let is_pre = access.row.group().ends_with("pre");
        let at = if is_pre { DATA + offset(access) } else { DATA };
        let bytes = if access.row.group().starts_with("ldstpair") { access.bytes / 2 } else { access.bytes };
        let stored = number(&memory, at, bytes);
        assert_eq!(stored, DATA & (u64::MAX >> (64 - 8 * bytes)), "stored by {}", access.row.name);
        assert_eq!(after.x(BASE_REGISTER), DATA + offset(access), "base of {}", access.row.name);
    }
}

#[test]
fn of_a_pair_loaded_into_one_register_the_first_wins() {
    let rows = rows(|row| {
        ["ldstpair", "ldstnapair"].iter().any(|group| row.group().starts_with(group))
            && row.mnemonic.starts_with("ld")
    });
    assert_eq!(rows.len(), 9 + 2, "LDP, LDPSW and LDNP in all their modes");
    for access in rows {
        let after = execute_word(access.word(5, 5, BASE_REGISTER, 0), &mut memory());
        assert_eq!(after.x(5), number(&memory(), DATA, access.bytes / 2), "{}", access.row.name);
    }
}

#[test]
fn of_an_exclusive_pair_loaded_into_one_register_the_second_wins() {
    let rows = rows(|row| row.group() == "ldstexclp" && row.mnemonic.starts_with("ld"));
    assert_eq!(rows.len(), 4, "LDXP and LDAXP of both sizes");
    for access in rows {
        let half = access.bytes / 2;
        let after = execute_word(access.word(5, 5, BASE_REGISTER, 0), &mut memory());
        assert_eq!(after.x(5), number(&memory(), DATA + half, half), "{}", access.row.name);
    }
}

#[test]
fn an_exclusive_store_reads_its_registers_before_it_writes_the_status() {
    for access in rows(|row| row.group().starts_with("ldstexcl") && has(row, &[Operand::Ws])) {
        // The status register is also the data register, then the base.
        for (rt, rt2, rs) in [(5, 4, 5), (4, 5, 5), (4, 6, BASE_REGISTER)] {
            let word = access.word(rt, rt2, BASE_REGISTER, rs);
            let mut cpu = random_cpu(&mut Random::new(2));
            cpu.set_x(BASE_REGISTER, DATA);
            cpu.monitor = Some(Monitor { address: DATA, bytes: access.bytes as u32 });
            let before = cpu.clone();
            let mut memory = memory();
            assert_eq!(step_word(&mut cpu, &mut memory, word), Ok(()), "{} {word:#010x}", access.row.name);
            assert_eq!(cpu.x(rs), 0, "status of {} {word:#010x}", access.row.name);
            let is_pair = access.row.group() == "ldstexclp";
            let bytes = if is_pair { access.bytes / 2 } else { access.bytes };
            let cut = |value: u64| value & (u64::MAX >> (64 - 8 * bytes));
            let first = number(&memory, DATA, bytes);
            assert_eq!(first, cut(before.x(rt)), "stored by {} {word:#010x}", access.row.name);
            if is_pair {
                let second = number(&memory, DATA + bytes, bytes);
                assert_eq!(second, cut(before.x(rt2)), "stored by {} {word:#010x}", access.row.name);
            }
        }
    }
}

#[test]
fn register_31_reads_as_zero_and_discards_writes() {
    for access in AccessRow::all() {
        let word = access.word(31, 31, BASE_REGISTER, 30);
        // Pairs of registers begin with an even one.
        let word =
            if access.row.group() == "comswappr" { access.word(30, 0, BASE_REGISTER, 30) } else { word };
        let mut memory = memory();
        let after = execute_word(word, &mut memory);
        assert_eq!(after.x(31), 0, "register 31 after {}", access.row.name);
        if access.is_store() && !access.is_exclusive() {
            assert_eq!(number(&memory, DATA, access.bytes.min(8)), 0, "stored by {}", access.row.name);
        }
    }
}
