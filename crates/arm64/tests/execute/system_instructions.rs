//! SYS: DC ZVA, and cache maintenance, which only checks its address.

use kvrm_arm64::{Access, Fault, FaultKind, Stop};
use kvrm_testkit::random::Random;

use crate::{random_cpu, step_word};
use kvrm_testkit::flat::{BASE, Flat};

const SYS: u32 = 0xd508_0000;
const SYSL: u32 = 0xd528_0000;

/// Returns op1:CRn:CRm:op2.
const fn number(op1: u32, crn: u32, crm: u32, op2: u32) -> u32 {
    op1 << 11 | crn << 7 | crm << 3 | op2
}

const DC_ZVA: u32 = number(3, 7, 4, 1);
/// IC IVAU, DC CVAC, DC CVAU, DC CIVAC.
const MAINTENANCE: [u32; 4] =
    [number(3, 7, 5, 1), number(3, 7, 10, 1), number(3, 7, 11, 1), number(3, 7, 14, 1)];

const SIZE: usize = 512;

fn filled(random: &mut Random) -> Flat {
    let mut memory = Flat::new(&[], SIZE);
    memory.bytes.fill_with(|| random.bits() as u8 | 1);
    memory
}

#[test]
fn el0_has_exactly_five_sys_instructions() {
    let mut random = Random::new(1);
    let mut defined = Vec::new();
    let mut memory = filled(&mut random);
    for form in 0..1 << 14 {
        for (instruction, rt) in [(SYS, 3), (SYS, 31), (SYSL, 3)] {
            let word = instruction | form << 5 | rt;
            let mut cpu = random_cpu(&mut random);
            cpu.set_x(3, BASE + 128);
            let before = cpu.clone();
            match step_word(&mut cpu, &mut memory, word) {
                Ok(()) => defined.push((instruction, form)),
                // The address in XZR is zero, which is not mapped.
                Err(Stop::Fault(Fault { address: 0, .. })) if rt == 31 => {
                    assert!(defined.contains(&(instruction, form)), "{word:#010x} faults, so it is defined");
                    assert_eq!(cpu, before, "registers at {word:#010x}");
                }
                Err(stop) => {
                    assert_eq!(stop, Stop::Undefined { word }, "{word:#010x}");
                    assert_eq!(cpu, before, "registers at {word:#010x}");
                }
            }
        }
    }
    let expected = [
        (SYS, DC_ZVA),
        (SYS, MAINTENANCE[0]),
        (SYS, MAINTENANCE[1]),
        (SYS, MAINTENANCE[2]),
        (SYS, MAINTENANCE[3]),
    ];
    assert_eq!(defined, expected, "DC ZVA and the maintenance of caches");
}

#[test]
fn dc_zva_clears_the_64_bytes_its_address_lies_in() {
    let mut random = Random::new(2);
    for offset in 64..SIZE {
        let mut memory = filled(&mut random);
        let mut cpu = random_cpu(&mut random);
        cpu.set_x(3, BASE + offset as u64);
        let word = SYS | DC_ZVA << 5 | 3;
        memory.bytes[..4].copy_from_slice(&word.to_le_bytes());
        let (mut expected, mut expected_cpu) = (memory.clone(), cpu.clone());
        expected.bytes[offset / 64 * 64..][..64].fill(0);
        expected_cpu.pc += 4;
        expected_cpu.steps += 1;
        assert_eq!(step_word(&mut cpu, &mut memory, word), Ok(()), "dc zva of offset {offset}");
        assert_eq!(cpu, expected_cpu, "registers after dc zva");
        assert!(memory == expected, "memory after dc zva of offset {offset}");
    }
}

#[test]
fn dc_zva_of_memory_that_cannot_be_written_faults_and_changes_nothing() {
    let mut random = Random::new(3);
    let word = SYS | DC_ZVA << 5 | 3;
    let read_only = BASE..BASE + 192 + 32;
    let cases = [
        // The access is to the block, but the fault has the address in Xt.
        (BASE + SIZE as u64 + 63, FaultKind::Translation),
        (BASE - 1, FaultKind::Translation),
        (BASE + 300, FaultKind::Permission),
        // Only the first half of this block is writable.
        (BASE + 192, FaultKind::Permission),
        (BASE + 192 + 33, FaultKind::Permission),
    ];
    for (address, kind) in cases {
        let mut memory = filled(&mut random);
        memory.writable = read_only.clone();
        memory.bytes[..4].copy_from_slice(&word.to_le_bytes());
        let mut cpu = random_cpu(&mut random);
        cpu.set_x(3, address);
        let (before, memory_before) = (cpu.clone(), memory.clone());
        let fault = Fault { kind, access: Access::Write, address };
        assert_eq!(step_word(&mut cpu, &mut memory, word), Err(fault.into()), "dc zva of {address:#x}");
        assert_eq!(cpu, before, "registers after a fault of dc zva");
        assert!(memory == memory_before, "memory after a fault of dc zva");
    }
}

#[test]
fn cache_maintenance_only_checks_its_address() {
    let mut random = Random::new(4);
    for form in MAINTENANCE {
        let word = SYS | form << 5 | 3;
        for address in [BASE, BASE + 1, BASE + SIZE as u64 - 1, BASE + SIZE as u64, BASE - 1, 0, u64::MAX] {
            let mut memory = filled(&mut random);
            // Permission to read is enough.
            memory.writable = BASE..BASE;
            memory.bytes[..4].copy_from_slice(&word.to_le_bytes());
            let mut cpu = random_cpu(&mut random);
            cpu.set_x(3, address);
            let (mut expected, memory_before) = (cpu.clone(), memory.clone());
            let result = step_word(&mut cpu, &mut memory, word);
            if address.wrapping_sub(BASE) < SIZE as u64 {
                assert_eq!(result, Ok(()), "{word:#010x} of {address:#x}");
                expected.pc += 4;
                expected.steps += 1;
            } else {
                let fault = Fault { kind: FaultKind::Translation, access: Access::Read, address };
                assert_eq!(result, Err(fault.into()), "{word:#010x} of {address:#x}");
            }
            assert_eq!(cpu, expected, "registers after {word:#010x} of {address:#x}");
            assert!(memory == memory_before, "memory after {word:#010x} of {address:#x}");
        }
    }
}
