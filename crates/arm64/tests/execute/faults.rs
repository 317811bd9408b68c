//! Faults are precise: an instruction that fails changes nothing.

use kvrm_arm64::asm::{Assembler, X0, X1};
use kvrm_arm64::encoding::ENCODINGS;
use kvrm_arm64::{Access, Encoding, Fault, FaultKind, Monitor, Stop};
use kvrm_testkit::random::Random;
use kvrm_testkit::words;

use crate::rows::AccessRow;
use crate::{random_cpu, set_base, step_word};
use kvrm_testkit::flat::{BASE, Flat, run};

const SIZE: usize = 128;
const END: u64 = BASE + SIZE as u64;

fn filled(random: &mut Random) -> Flat {
    let mut memory = Flat::new(&[], SIZE);
    memory.bytes.fill_with(|| random.bits() as u8);
    memory
}

#[test]
fn loads_and_stores_at_random_addresses_fault_and_change_nothing() {
    let mut random = Random::new(1);
    let rows: Vec<AccessRow> = AccessRow::all();
    for access in rows {
        let mut faults = 0;
        for _ in 0..50 {
            let mut word = words::allocated(access.row, &mut random);
            if access.row.group() == "ldapstl_unscaled" {
                // Any other offset could make the address misaligned.
                word &= !(0x1ff << 12);
            }
            let mut memory = filled(&mut random);
            let mut cpu = random_cpu(&mut random);
            // The address is aligned and the monitor is set, so that all instructions access memory.
            let base = word >> 5 & 31;
            let address = random.bits() & !15;
            set_base(&mut cpu, base, address);
            cpu.monitor = Some(Monitor { address, bytes: access.bytes as u32 });
            let before = cpu.clone();
            memory.bytes[..4].copy_from_slice(&word.to_le_bytes());
            let memory_before = memory.clone();
            let Err(stop) = step_word(&mut cpu, &mut memory, word) else { continue };
            faults += 1;
            let expected = if access.is_store() { Access::Write } else { Access::Read };
            let Stop::Fault(Fault { kind: FaultKind::Translation, access: found, .. }) = stop else {
                panic!("{} {word:#010x} ended in {stop:?}", access.row.name);
            };
            assert_eq!(found, expected, "the access of {}", access.row.name);
            assert_eq!(cpu, before, "registers after {} {word:#010x}", access.row.name);
            assert!(memory == memory_before, "memory after {} {word:#010x}", access.row.name);
        }
        assert!(faults >= 40, "only {faults} accesses of {} hit unmapped memory", access.row.name);
    }
}

#[test]
fn an_access_half_outside_memory_faults_at_the_first_byte_outside_and_changes_nothing() {
    let mut random = Random::new(2);
    for access in AccessRow::all() {
        for outside in 0..access.bytes {
            let address = END - access.bytes + outside;
            if access.is_aligned() && outside > 0 {
                continue;
            }
            let word = access.word(2, 4, 20, 6);
            let mut memory = filled(&mut random);
            memory.bytes[..4].copy_from_slice(&word.to_le_bytes());
            let mut cpu = random_cpu(&mut random);
            cpu.set_x(20, address);
            let (before, memory_before) = (cpu.clone(), memory.clone());
            let result = step_word(&mut cpu, &mut memory, word);
            if outside == 0 {
                assert_eq!(result, Ok(()), "{} of the last bytes", access.row.name);
                continue;
            }
            let kind = if access.is_store() { Access::Write } else { Access::Read };
            let fault = Fault { kind: FaultKind::Translation, access: kind, address: END };
            assert_eq!(result, Err(fault.into()), "{} {outside} bytes over the end", access.row.name);
            assert_eq!(cpu, before, "registers after a fault of {}", access.row.name);
            assert!(memory == memory_before, "memory after a fault of {}", access.row.name);
        }
    }
}

#[test]
fn stores_and_atomics_need_permission_to_write() {
    let mut random = Random::new(3);
    let mut atomics = 0;
    for access in AccessRow::all() {
        let word = access.word(2, 4, 20, 6);
        let mut memory = filled(&mut random);
        memory.writable = BASE..BASE;
        memory.bytes[..4].copy_from_slice(&word.to_le_bytes());
        let address = BASE + 64;
        let mut cpu = random_cpu(&mut random);
        cpu.set_x(20, address);
        cpu.monitor = Some(Monitor { address, bytes: access.bytes as u32 });
        let (before, memory_before) = (cpu.clone(), memory.clone());
        let result = step_word(&mut cpu, &mut memory, word);
        if access.writes() {
            // Compare and swap needs the permission even though the values differ here.
            atomics += usize::from(access.is_atomic());
            let fault = Fault { kind: FaultKind::Permission, access: Access::Write, address };
            assert_eq!(result, Err(fault.into()), "{} of read-only memory", access.row.name);
            assert_eq!(cpu, before, "registers after a fault of {}", access.row.name);
        } else {
            assert_eq!(result, Ok(()), "{} of read-only memory", access.row.name);
        }
        assert!(memory == memory_before, "memory after {}", access.row.name);
    }
    assert_eq!(atomics, 168, "all atomics need permission to write");
}

#[test]
fn literals_outside_memory_fault_and_change_nothing() {
    let rows: Vec<&Encoding> =
        ENCODINGS.iter().filter(|row| row.group() == "loadlit" && row.mnemonic != "prfm").collect();
    assert_eq!(rows.len(), 6, "LDR of all sizes and LDRSW");
    let mut random = Random::new(4);
    for row in rows {
        // 1 MiB backwards, and 512 KiB forwards.
        for offset in [1 << 18, 1 << 17] {
            let mut cpu = random_cpu(&mut random);
            let before = cpu.clone();
            let word = row.pattern.canonical() | offset << 5;
            let Err(stop) = step_word(&mut cpu, &mut Flat::new(&[], SIZE), word) else {
                panic!("{} outside memory", row.name);
            };
            assert!(
                matches!(stop, Stop::Fault(fault) if fault.access == Access::Read),
                "{} {stop}",
                row.name
            );
            assert_eq!(cpu, before, "registers after a fault of {}", row.name);
        }
    }
}

#[test]
fn a_branch_out_of_memory_is_taken_and_the_fetch_faults() {
    for (target, kind) in [
        (0x1234_5678_9abc_def0, FaultKind::Translation),
        (BASE + 2, FaultKind::Alignment),
        (1, FaultKind::Alignment),
        (END, FaultKind::Translation),
    ] {
        let mut a = Assembler::new(BASE);
        a.blr(X1);
        let mut memory = Flat::new(&a.finish().expect("it assembles"), SIZE);
        let mut cpu = memory.cpu();
        cpu.set_x(1, target);
        let stop = run(&mut cpu, &mut memory, 10);
        let fault = Fault { kind, access: Access::Execute, address: target };
        assert_eq!(stop, fault.into(), "fetch from {target:#x}");
        assert_eq!((cpu.pc, cpu.steps, cpu.x(30)), (target, 1, BASE + 4), "the call itself has retired");
    }
}

#[test]
fn instructions_before_the_one_that_faults_have_retired_and_none_after_it_has() {
    let mut a = Assembler::new(BASE);
    a.mov(X0, 7).ldr(X1, kvrm_arm64::asm::at(X1, 0)).mov(X0, 9);
    let mut memory = Flat::new(&a.finish().expect("it assembles"), SIZE);
    let mut cpu = memory.cpu();
    cpu.set_x(1, END);
    for _ in 0..3 {
        // A second run faults again.
        let stop = run(&mut cpu, &mut memory, 10);
        let fault = Fault { kind: FaultKind::Translation, access: Access::Read, address: END };
        assert_eq!(stop, fault.into(), "a load past the end");
        assert_eq!((cpu.pc, cpu.steps, cpu.x(0), cpu.x(1)), (BASE + 4, 1, 7, END), "state at the load");
    }
    // When the cause is removed, the program continues.
    cpu.set_x(1, BASE);
    assert_eq!(run(&mut cpu, &mut memory, 2), Stop::Budget, "the load and the move");
    assert_eq!((cpu.pc, cpu.steps, cpu.x(0)), (BASE + 12, 3, 9), "state at the end");
}
