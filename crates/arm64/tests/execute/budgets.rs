//! Budgets are exact, and a run may be split anywhere.

use kvrm_arm64::asm::{Arg, Assembler, X0};
use kvrm_arm64::encoding::ENCODINGS;
use kvrm_arm64::{Class, Cpu, Encoding, Stop};
use kvrm_testkit::random::Random;
use kvrm_testkit::words;

use crate::random_cpu;
use kvrm_testkit::flat::{BASE, Flat, run};

/// Words of a program.
const LENGTH: u64 = 64;
const MEMORY_BYTES: u64 = 0x1_0000;

fn row(classes: &[Class], random: &mut Random) -> &'static Encoding {
    loop {
        let row = random.pick(ENCODINGS);
        if classes.contains(&row.class) {
            return row.op.encoding();
        }
    }
}

/// Returns a program of random instructions: mostly arithmetic, some accesses at the stack pointer, some branches
/// within the program, and a few instructions that stop it.
fn program(random: &mut Random) -> Vec<u32> {
    let mut a = Assembler::new(BASE);
    for index in 0..LENGTH as i64 {
        let target = Arg::Offset(4 * (random.below(LENGTH) as i64 - index));
        let (cond, bit) = (Arg::Cond(random.below(16) as u32), random.below(64) as i64);
        match random.below(40) {
            0 => a.word(words::allocated(row(&[Class::System, Class::Branch], random), random)),
            1..3 => a.emit("b.", &[cond, target]),
            3 => a.cbz(X0, target),
            4 => a.tbnz(X0, bit, target),
            // Rn becomes the stack pointer, which points into memory until an instruction changes it.
            5..9 => a.word(words::allocated(row(&[Class::LoadStore], random), random) | 31 << 5),
            _ => {
                let classes = [Class::Arithmetic, Class::Logical, Class::MulDiv, Class::ExtendShift];
                a.word(words::allocated(row(&classes, random), random))
            }
        };
    }
    a.finish().expect("every operand is in range")
}

/// Returns a random program in memory and a processor at its beginning.
fn machine(random: &mut Random) -> (Cpu, Flat) {
    let memory = Flat::new(&program(random), MEMORY_BYTES as usize);
    let mut cpu = random_cpu(random);
    cpu.sp = BASE + MEMORY_BYTES / 2;
    (cpu, memory)
}

#[test]
fn a_run_in_two_parts_equals_one_run() {
    let mut random = Random::new(1);
    let (mut long, mut cut_short) = (0, 0);
    for _ in 0..2000 {
        let (start, memory) = machine(&mut random);
        let (first, second) = (random.below(300), random.below(300));

        let (mut whole, mut whole_memory) = (start.clone(), memory.clone());
        let whole_stop = run(&mut whole, &mut whole_memory, first + second);
        let steps = whole.steps - start.steps;
        assert!(steps <= first + second, "{steps} steps of at most {first} + {second}");

        let (mut parts, mut parts_memory) = (start.clone(), memory.clone());
        let mut stop = run(&mut parts, &mut parts_memory, first);
        if stop == Stop::Budget {
            assert_eq!(parts.steps - start.steps, first, "steps of the first part");
            stop = run(&mut parts, &mut parts_memory, second);
        }
        assert_eq!(stop, whole_stop, "after {first} and {second} steps");
        assert_eq!(parts, whole, "after {first} and {second} steps");
        assert!(parts_memory == whole_memory, "memory after {first} and {second} steps");
        match stop {
            Stop::Budget => {
                assert_eq!(steps, first + second, "a budget is used up");
                long += usize::from(steps > 100);
            }
            _ => cut_short += 1,
        }
    }
    assert!(long > 100 && cut_short > 100, "{long} long runs, {cut_short} that stopped early");
}

#[test]
fn single_steps_equal_one_run() {
    let mut random = Random::new(2);
    for _ in 0..200 {
        let (start, memory) = machine(&mut random);
        let (mut whole, mut whole_memory) = (start.clone(), memory.clone());
        let whole_stop = run(&mut whole, &mut whole_memory, 100);
        let (mut single, mut single_memory) = (start.clone(), memory.clone());
        let mut stop = Stop::Budget;
        for _ in 0..100 {
            stop = run(&mut single, &mut single_memory, 1);
            if stop != Stop::Budget {
                break;
            }
        }
        assert_eq!(stop, whole_stop, "one step at a time");
        assert_eq!(single, whole, "one step at a time");
        assert!(single_memory == whole_memory, "memory, one step at a time");
    }
}

#[test]
fn a_run_is_deterministic() {
    let mut random = Random::new(3);
    for _ in 0..200 {
        let (start, memory) = machine(&mut random);
        let once = || {
            let (mut cpu, mut memory) = (start.clone(), memory.clone());
            let stop = run(&mut cpu, &mut memory, 200);
            (stop, cpu, memory.bytes)
        };
        assert!(once() == once(), "two runs of {start:?} differ");
    }
}

#[test]
fn a_budget_of_zero_executes_nothing() {
    let mut random = Random::new(4);
    // It does not even fetch, so neither a fault nor an undefined word stops it.
    for pc in [BASE, BASE + 1, 0, u64::MAX] {
        let mut cpu = random_cpu(&mut random);
        cpu.pc = pc;
        let before = cpu.clone();
        assert_eq!(run(&mut cpu, &mut Flat::new(&[], 64), 0), Stop::Budget, "at {pc:#x}");
        assert_eq!(cpu, before, "at {pc:#x}");
    }
}

#[test]
fn an_endless_loop_takes_exactly_its_budget() {
    let mut a = Assembler::new(BASE);
    let here = a.label();
    a.bind(here).b(here);
    let mut memory = Flat::new(&a.finish().expect("it assembles"), 64);
    let mut cpu = memory.cpu();
    for budget in [1, 2, 3, 1000, 123_456] {
        let steps = cpu.steps;
        assert_eq!(run(&mut cpu, &mut memory, budget), Stop::Budget, "of {budget} steps");
        assert_eq!((cpu.pc, cpu.steps), (BASE, steps + budget), "after {budget} steps");
    }
}

#[test]
fn the_largest_budget_does_not_wrap_around() {
    let mut memory = Flat::new(&[0xd503_201f, 0xd440_0000], 64);
    let mut cpu = memory.cpu();
    cpu.steps = 1000;
    assert_eq!(run(&mut cpu, &mut memory, u64::MAX), Stop::Halt { imm: 0 }, "nop and hlt");
    assert_eq!(cpu.steps, 1001, "the nop was counted");
}
