//! Loops with an inner loop.

use kvrm_arm64::lowering::lower;
use kvrm_arm64::micro_op::{REGISTERS, SINK, ZERO};
use kvrm_arm64::{Cpu, Features, Stop, run};
use kvrm_loops::{Loop, Obstacle, Plan, Proof, Unproved, registers, set_register};
use kvrm_testkit::loops::nests;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;

use crate::code::{Code, DATA, HEAD};

/// The number of bytes of the data.
const BYTES: u64 = 1 << 14;
/// The largest number of steps that are executed at once.
const STEPS_MAX: u64 = 20_000;

fn find(words: &[u32]) -> Result<Loop, Unproved> {
    let fetch = |pc: u64| Some(lower(*words.get(pc.checked_sub(HEAD)? as usize / 4)?, Features::BASE));
    match Proof::find(HEAD + 4 * (words.len() as u64 - 1), fetch)? {
        Proof::Loop(found) => Ok(found),
        Proof::Pass(_) => panic!("{words:x?} is no pass"),
    }
}

/// The largest plan whose accesses are in the data.
fn plan(found: &Loop, cpu: &Cpu, memory: &Code<'_>) -> Result<Plan, Obstacle> {
    let plan = |steps| Plan::new(found, &registers(cpu), steps, memory);
    let largest = plan(STEPS_MAX)?;
    let within = largest.streams.iter().flatten().map(|of| of.iterations_within(DATA, DATA + BYTES)).min();
    match within {
        Some(within) if within < largest.most => plan(within * largest.length),
        _ => Ok(largest),
    }
}

fn data() -> Vec<u8> {
    (0..BYTES).map(|place| (place * 7 % 251) as u8).collect()
}

/// Registers: x0 and x1 are addresses in the data, x2 is what is stored, x4 counts.
fn start() -> impl Strategy<Value = Cpu> {
    let place = || prop_oneof![4 => 2000..14_000_u64, 1 => 7900..8100_u64];
    (place(), place(), any::<u64>(), 0..20_u64, 0..60_u64).prop_map(|(to, from, value, small, count)| {
        let mut cpu = Cpu::new(HEAD, 0x8000);
        for (register, value) in [DATA + to, DATA + from, value, small, count].into_iter().enumerate() {
            cpu.set_x(register as u32, value);
        }
        cpu
    })
}

/// Compares iterations at once and the one behind them with stepping. Returns the number of steps at once.
fn compare(words: &[u32], start: &Cpu) -> Result<u64, TestCaseError> {
    let Ok(found) = find(words) else { return Ok(0) };
    let [mut memory, mut memory_stepped] = [0, 1].map(|_| Code { words, data: data() });
    let Ok(plan) = plan(&found, start, &memory) else { return Ok(0) };
    let [mut at_once, mut stepped] = [start.clone(), start.clone()];
    let mut after = registers(&at_once);
    let iterations = plan.execute(&found, &mut after, &mut memory);
    for register in (0..REGISTERS).filter(|register| ![ZERO, SINK].contains(register)) {
        set_register(&mut at_once, register, after[register as usize]);
    }
    at_once.steps += iterations * plan.length;
    if iterations > 0 {
        prop_assert_eq!(run(&mut at_once, &mut memory, plan.length), Stop::Budget);
        prop_assert_eq!(run(&mut stepped, &mut memory_stepped, (iterations + 1) * plan.length), Stop::Budget);
        prop_assert_eq!(stepped.pc, HEAD);
    }
    prop_assert_eq!(&at_once, &stepped, "{} iterations", iterations);
    prop_assert!(memory.data == memory_stepped.data, "memory after {} iterations", iterations);
    Ok(iterations * plan.length)
}

/// A rectangle of words is filled, whose lines are 64 bytes apart.
#[test]
fn rectangles_are_filled() {
    let words = [
        0xaa00_03e6, // mov x6, x0
        0xd280_0065, // movz x5, #3
        0xb800_44c2, // str w2, [x6], #4
        0xf100_04a5, // subs x5, x5, #1
        0x54ff_ffc1, // b.ne
        0x9101_0000, // add x0, x0, #64
        0xf100_0484, // subs x4, x4, #1
        0x54ff_ff21, // b.ne
    ];
    let mut cpu = Cpu::new(HEAD, 0);
    [DATA, 0, 0x1234_5678, 0, 100].into_iter().enumerate().for_each(|(n, value)| cpu.set_x(n as u32, value));
    assert_eq!(
        compare(&words, &cpu).ok(),
        Some(98 * 14),
        "all iterations but the one that is stepped and the last"
    );
    cpu.set_x(4, 3);
    assert_eq!(compare(&words, &cpu).ok(), Some(14), "fewer than three have nothing to execute at once");
}

/// A delay without an access has a closed form, however long it is.
#[test]
fn delays_in_delays_have_a_closed_form() {
    let words = [
        0xaa03_03e5, // mov x5, x3
        0xf100_04a5, // subs x5, x5, #1
        0x54ff_ffe1, // b.ne
        0xf100_0484, // subs x4, x4, #1
        0x54ff_ff81, // b.ne
    ];
    let mut registers = [0; REGISTERS as usize];
    (registers[3], registers[4]) = (1 << 30, 1 << 30);
    let found = find(&words).expect("it has a closed form");
    let memory = Code::new(&words);
    let plan = Plan::new(&found, &registers, u64::MAX, &memory).expect("there is a plan");
    assert_eq!((plan.most, plan.length), ((1 << 30) - 1, 3 + (2 << 30)));
    registers[3] = 0;
    let endless = Plan::new(&found, &registers, u64::MAX, &memory);
    assert_eq!(endless, Err(Obstacle::Trips), "2^64 iterations are too many to be counted");
}

/// The number of iterations of the inner loop is another one each time.
#[test]
fn triangles_are_refused() {
    let words = [0xaa04_03e5, 0xf100_04a5, 0x54ff_ffe1, 0xf100_0484, 0x54ff_ff81]; // mov x5, x4; the same
    let mut registers = [0; REGISTERS as usize];
    registers[4] = 100;
    let found = find(&words).expect("it is understood");
    let plan = Plan::new(&found, &registers, u64::MAX, &Code::new(&words));
    assert_eq!(plan, Err(Obstacle::Trips));
}

/// The generator has many nests that are executed at once.
#[test]
fn many_random_nests_are_executed_at_once() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut executed = 0;
    for _ in 0..2000 {
        let tree = (nests(), start()).new_tree(&mut runner).expect("the generator rejects nothing");
        let (words, cpu) = tree.current();
        executed += u32::from(compare(&words, &cpu).expect("they are equal") > 0);
    }
    assert!(executed > 300, "{executed} of 2000");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    /// Iterations with all their inner iterations give what stepping gives: registers, flags, memory and steps.
    #[test]
    fn nests_are_equal_to_stepping(words in nests(), start in start()) {
        compare(&words, &start)?;
    }
}
