//! Alignment: accesses that must be aligned fault, and all others work at any address.

use kvrm_arm64::{Access, Fault, FaultKind, Monitor};
use kvrm_testkit::random::Random;

use crate::rows::AccessRow;
use crate::{random_cpu, set_base, step_word};
use kvrm_testkit::flat::{BASE, Flat};

/// The base registers: one that the word does not use otherwise, and the stack pointer.
const BASES: [u32; 2] = [20, 31];

#[test]
fn ordered_exclusive_and_atomic_accesses_fault_at_every_misaligned_address_and_change_nothing() {
    let mut random = Random::new(1);
    let rows: Vec<AccessRow> = AccessRow::all().into_iter().filter(|access| access.is_aligned()).collect();
    assert_eq!(
        rows.len(),
        8 + 16 + 8 + 16 + 8 + 144 + 4 + 13,
        "exclusives, ordered ones, compare and swap, atomics, LDAPR, LDAPUR"
    );
    for access in rows {
        for offset in 0..access.bytes {
            for base in BASES {
                let word = access.word(2, 4, base, 6);
                let mut memory = Flat::new(&[word], 128);
                memory.bytes[64..].fill_with(|| random.bits() as u8);
                let address = BASE + 64 + offset;
                let mut cpu = random_cpu(&mut random);
                set_base(&mut cpu, base, address);
                // The monitor permits an exclusive store, so only the alignment can fail.
                cpu.monitor = Some(Monitor { address, bytes: access.bytes as u32 });
                let (before, memory_before) = (cpu.clone(), memory.clone());
                let result = step_word(&mut cpu, &mut memory, word);
                if offset == 0 {
                    assert_eq!(result, Ok(()), "{} at an aligned address", access.row.name);
                    continue;
                }
                // The read of an atomic fails first.
                let kind = if access.is_store() { Access::Write } else { Access::Read };
                let fault = Fault { kind: FaultKind::Alignment, access: kind, address };
                assert_eq!(result, Err(fault.into()), "{} {offset} bytes off", access.row.name);
                assert_eq!(cpu, before, "registers after a fault of {}", access.row.name);
                assert!(memory == memory_before, "memory after a fault of {}", access.row.name);
            }
        }
    }
}

#[test]
fn plain_accesses_work_at_every_address() {
    let mut random = Random::new(2);
    for access in AccessRow::all().into_iter().filter(|access| !access.is_aligned()) {
        for offset in 0..16 {
            let word = access.word(2, 4, 20, 6);
            let mut memory = Flat::new(&[word], 128);
            let mut cpu = random_cpu(&mut random);
            cpu.set_x(20, BASE + 64 + offset);
            assert_eq!(
                step_word(&mut cpu, &mut memory, word),
                Ok(()),
                "{} {offset} bytes off",
                access.row.name
            );
        }
    }
}

#[test]
fn the_stack_pointer_may_be_misaligned() {
    let mut random = Random::new(3);
    for access in AccessRow::all().into_iter().filter(|access| !access.is_aligned()) {
        let word = access.word(2, 4, 31, 6);
        let mut cpu = random_cpu(&mut random);
        cpu.sp = BASE + 65;
        let result = step_word(&mut cpu, &mut Flat::new(&[word], 128), word);
        assert_eq!(result, Ok(()), "{} at a misaligned stack pointer", access.row.name);
    }
}
