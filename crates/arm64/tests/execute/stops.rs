//! Stops, and the state in which they leave the lane.

use kvrm_arm64::encoding::ENCODINGS;
use kvrm_arm64::{Features, Instruction, Stop};
use kvrm_testkit::random::Random;
use kvrm_testkit::words;

use crate::{random_cpu, step_word};
use kvrm_testkit::flat::{BASE, Flat, run};

#[test]
fn halt_and_breakpoint_stop_before_they_retire() {
    let mut random = Random::new(1);
    let mut memory = Flat::new(&[], 64);
    for imm in 0..=u16::MAX {
        for (word, stop) in [(0xd440_0000, Stop::Halt { imm }), (0xd420_0000, Stop::Breakpoint { imm })] {
            let mut cpu = random_cpu(&mut random);
            let before = cpu.clone();
            let result = step_word(&mut cpu, &mut memory, word | u32::from(imm) << 5);
            assert_eq!(result, Err(stop), "the immediate {imm:#x}");
            assert_eq!(cpu, before, "registers at {stop:?}");
        }
    }
}

#[test]
fn a_system_call_retires_before_it_stops() {
    let mut random = Random::new(2);
    let mut memory = Flat::new(&[], 64);
    for imm in 0..=u16::MAX {
        let mut cpu = random_cpu(&mut random);
        let mut expected = cpu.clone();
        expected.pc += 4;
        expected.steps += 1;
        let result = step_word(&mut cpu, &mut memory, 0xd400_0001 | u32::from(imm) << 5);
        assert_eq!(result, Err(Stop::Syscall { imm }), "the immediate {imm:#x}");
        assert_eq!(cpu, expected, "registers at svc #{imm:#x}");
    }
}

#[test]
fn a_system_call_is_one_step_and_the_run_continues_after_it() {
    // svc #0, svc #1, nop
    let mut memory = Flat::new(&[0xd400_0001, 0xd400_0021, 0xd503_201f], 64);
    let mut cpu = memory.cpu();
    assert_eq!(run(&mut cpu, &mut memory, 1), Stop::Syscall { imm: 0 }, "a budget of one is enough");
    assert_eq!(run(&mut cpu, &mut memory, 5), Stop::Syscall { imm: 1 }, "the next one");
    assert_eq!(run(&mut cpu, &mut memory, 1), Stop::Budget, "the nop");
    assert_eq!((cpu.pc, cpu.steps), (BASE + 12, 3), "three steps");
}

#[test]
fn unallocated_words_are_undefined_and_change_nothing() {
    let mut random = Random::new(3);
    let mut memory = Flat::new(&[], 64);
    let mut undefined = 0;
    for _ in 0..200_000 {
        let word = random.bits() as u32;
        if Instruction::new(word, Features::ALL).op.is_some() {
            continue;
        }
        undefined += 1;
        let mut cpu = random_cpu(&mut random);
        let before = cpu.clone();
        assert_eq!(step_word(&mut cpu, &mut memory, word), Err(Stop::Undefined { word }), "{word:#010x}");
        assert_eq!(cpu, before, "registers at {word:#010x}");
    }
    assert!(undefined > 50_000, "only {undefined} words were undefined");
}

#[test]
fn instructions_of_higher_exception_levels_are_undefined_and_change_nothing() {
    let mut random = Random::new(4);
    let mut memory = Flat::new(&[], 64);
    let rows: Vec<_> = ENCODINGS.iter().filter(|row| row.is_undefined_at_el0()).collect();
    let names: Vec<&str> = rows.iter().map(|row| row.mnemonic).collect();
    let expected =
        ["udf", "hvc", "smc", "dcps1", "dcps2", "dcps3", "sysl", "eret", "drps", "eretaa", "eretab"];
    assert_eq!(names, expected, "encodings that are undefined at EL0");
    for row in rows {
        for _ in 0..100 {
            let word = words::allocated(row, &mut random);
            let mut cpu = random_cpu(&mut random);
            let before = cpu.clone();
            let result = step_word(&mut cpu, &mut memory, word);
            assert_eq!(result, Err(Stop::Undefined { word }), "{} {word:#010x}", row.name);
            assert_eq!(cpu, before, "registers at {}", row.name);
        }
    }
}
