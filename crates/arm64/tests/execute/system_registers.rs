//! System registers: the accesses of EL0, and the values.

use kvrm_arm64::sysreg::{El0, REGISTERS, SystemRegister, register};
use kvrm_arm64::{Cpu, Stop};
use kvrm_testkit::random::Random;

use crate::{random_cpu, step_word};
use kvrm_testkit::flat::{BASE, Flat, run};

const MRS: u32 = 0xd530_0000;
const MSR: u32 = 0xd510_0000;

fn number(name: &str) -> u32 {
    REGISTERS.iter().find(|register| register.name == name).expect("the register has a name").number
}

/// Returns the value that MRS reads.
fn read(name: &str, cpu: &Cpu) -> u64 {
    let mut cpu = cpu.clone();
    cpu.pc = BASE;
    let word = MRS | number(name) << 5 | 9;
    assert_eq!(step_word(&mut cpu, &mut Flat::new(&[], 64), word), Ok(()), "mrs of {name}");
    cpu.x(9)
}

/// Returns the state after an MSR.
fn after_msr(name: &str, value: u64, cpu: &Cpu) -> Cpu {
    let mut cpu = cpu.clone();
    cpu.pc = BASE;
    cpu.set_x(9, value);
    let word = MSR | number(name) << 5 | 9;
    assert_eq!(step_word(&mut cpu, &mut Flat::new(&[], 64), word), Ok(()), "msr of {name}");
    cpu
}

#[test]
fn registers_are_sorted_and_found_by_their_numbers() {
    for pair in REGISTERS.windows(2) {
        assert!(pair[0].number < pair[1].number, "{} and {} are out of order", pair[0].name, pair[1].name);
    }
    for known in REGISTERS {
        assert_eq!(register(known.number).map(|found| found.name), Some(known.name), "by number");
    }
    let mut names: Vec<&str> = REGISTERS.iter().map(|register| register.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), REGISTERS.len(), "a name occurs twice");
}

#[test]
fn el0_has_eleven_registers() {
    let names = |access| {
        let with = REGISTERS.iter().filter(move |register| register.el0 == access);
        with.map(|register| register.name).collect::<Vec<_>>()
    };
    assert_eq!(
        names(El0::ReadWrite),
        ["nzcv", "dit", "ssbs", "fpcr", "fpsr", "tpidr_el0"],
        "read and written"
    );
    let read_only = ["ctr_el0", "dczid_el0", "tpidrro_el0", "cntfrq_el0", "cntvct_el0"];
    assert_eq!(names(El0::Read), read_only, "only read");
}

#[test]
fn el0_can_access_no_other_register_numbers() {
    let mut random = Random::new(1);
    let mut memory = Flat::new(&[], 64);
    let (mut reads, mut writes) = (0, 0);
    for number in 0..1 << 15 {
        let el0 = REGISTERS.iter().find(|register| register.number == number).map(|register| register.el0);
        let is_readable = matches!(el0, Some(El0::Read | El0::ReadWrite));
        let is_writable = el0 == Some(El0::ReadWrite);
        for (instruction, is_allowed) in [(MRS, is_readable), (MSR, is_writable)] {
            let rt = random.below(32) as u32;
            let word = instruction | number << 5 | rt;
            let mut cpu = random_cpu(&mut random);
            let before = cpu.clone();
            let result = step_word(&mut cpu, &mut memory, word);
            if !is_allowed {
                assert_eq!(result, Err(Stop::Undefined { word }), "{word:#010x} at EL0");
                assert_eq!(cpu, before, "registers at {word:#010x}");
                continue;
            }
            assert_eq!(result, Ok(()), "{word:#010x} at EL0");
            reads += usize::from(instruction == MRS);
            writes += usize::from(instruction == MSR);
            // A read changes only its target; a write changes no general register.
            let target = (instruction == MRS).then_some(rt);
            for n in (0..31).filter(|n| Some(*n) != target) {
                assert_eq!(cpu.x(n), before.x(n), "x{n} after {word:#010x}");
            }
            assert_eq!((cpu.sp, cpu.pc), (before.sp, BASE + 4), "sp and pc after {word:#010x}");
        }
    }
    assert_eq!((reads, writes), (11, 6), "registers that can be read and written");
}

#[test]
fn a_write_changes_only_the_implemented_bits() {
    let mut random = Random::new(2);
    let masks = [
        ("nzcv", 0xf000_0000),
        ("dit", 1 << 24),
        ("ssbs", 1 << 12),
        ("fpcr", 0x07c8_0000),
        ("fpsr", 0x0800_009f),
        ("tpidr_el0", u64::MAX),
    ];
    for (name, mask) in masks {
        let values = [0, u64::MAX, random.bits(), random.bits()].into_iter();
        for value in values.chain((0..64).map(|bit| 1 << bit)) {
            let cpu = random_cpu(&mut random);
            let after = after_msr(name, value, &cpu);
            assert_eq!(read(name, &after), value & mask, "{name} after msr of {value:#x}");
            for SystemRegister { name: other, el0, .. } in REGISTERS {
                if *other != name && *el0 != El0::None && *other != "cntvct_el0" {
                    assert_eq!(read(other, &after), read(other, &cpu), "{other} after msr of {name}");
                }
            }
        }
    }
}

#[test]
fn flags_are_the_top_bits_of_their_register() {
    let mut cpu = Cpu::new(BASE, 0);
    for nzcv in 0..16 {
        cpu.nzcv = nzcv;
        assert_eq!(read("nzcv", &cpu), u64::from(nzcv) << 28, "flags {nzcv:04b}");
        assert_eq!(
            after_msr("nzcv", u64::from(nzcv) << 28, &Cpu::new(BASE, 0)).nzcv,
            nzcv,
            "flags {nzcv:04b}"
        );
    }
}

#[test]
fn constant_registers_describe_the_machine() {
    let mut cpu = Cpu::new(BASE, 0);
    cpu.tpidr_el0 = 0x1234;
    cpu.tpidrro_el0 = 0x5678;
    assert_eq!(read("tpidr_el0", &cpu), 0x1234, "the thread pointer");
    assert_eq!(read("tpidrro_el0", &cpu), 0x5678, "the read-only thread pointer");
    assert_eq!(read("cntfrq_el0", &cpu), 1_000_000_000, "a step takes a nanosecond");
    // DCZID_EL0.DZP is 0, as DC ZVA works, and BS is the logarithm of 16 words.
    assert_eq!(read("dczid_el0", &cpu), 4, "DC ZVA clears 64 bytes");
    // DminLine and IminLine count words in powers of two.
    let ctr = read("ctr_el0", &cpu);
    assert_eq!((ctr >> 16 & 15, ctr & 15), (4, 4), "lines of 64 bytes");
    assert_eq!(ctr >> 31 & 1, 1, "bit 31 is RES1");
}

#[test]
fn the_counter_counts_steps() {
    // nop and mrs x1, cntvct_el0, over and over.
    let code: Vec<u32> = (0..32).map(|i| if i % 2 == 0 { 0xd503_201f } else { 0xd53b_e041 }).collect();
    let mut memory = Flat::new(&code, 256);
    let mut cpu = memory.cpu();
    for pair in 0..16 {
        assert_eq!(run(&mut cpu, &mut memory, 2), Stop::Budget, "nop and mrs");
        assert_eq!(cpu.x(1), 2 * pair + 1, "steps before the mrs");
        assert_eq!(cpu.steps, 2 * pair + 2, "steps after it");
    }
}
