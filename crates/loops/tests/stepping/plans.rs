//! Iterations that are executed at once.

use kvrm_arm64::micro_op::{REGISTERS, SINK, ZERO};
use kvrm_arm64::{Cpu, Stop, run};
use kvrm_loops::{Loop, Obstacle, Plan, registers, set_register};
use kvrm_testkit::loops::{accesses, byte_tables, indexed, kernels, streams};
use proptest::prelude::*;

use crate::code::{Code, DATA, HEAD, body, cpu, number};

/// The number of bytes of the data.
const BYTES: usize = 1 << 14;
/// The largest number of iterations that are executed at once.
const ITERATIONS_MAX: u64 = 300;

/// Registers of which the first three are addresses in the data, near each other, and the others are small, or near numbers at
/// which something wraps.
fn pointers() -> impl Strategy<Value = Cpu> {
    let middle = DATA + BYTES as u64 / 2;
    let value = prop_oneof![1 => number(), 1 => (-40..400_i64).prop_map(|number| number as u64)];
    (cpu(), prop::array::uniform3(-600..600_i64), value, -4..400_i64, any::<bool>()).prop_map(
        move |(mut cpu, places, value, count, below)| {
            for (register, place) in places.into_iter().enumerate() {
                cpu.set_x(register as u32, middle.wrapping_add_signed(place));
            }
            if below {
                // For `indexed`: w2 is a small negative number, or one that becomes negative, and the data is where it leads.
                let index = places[2].unsigned_abs();
                let from = if places[0] < 0 { 1_u64 << 32 } else { 1 << 31 };
                cpu.set_x(2, from - index);
                cpu.set_x(1, middle.wrapping_sub(from));
            }
            cpu.set_x(3, value);
            cpu.set_x(4, count as u64);
            cpu
        },
    )
}

/// The largest plan whose accesses are in the data.
fn plan(body: &Loop, cpu: &Cpu, memory: &Code<'_>) -> Result<Plan, Obstacle> {
    let length = body.body().ops.len() as u64;
    let plan = |most: u64| Plan::new(body, &registers(cpu), (most + 1) * length, memory);
    let largest = plan(ITERATIONS_MAX)?;
    let streams = largest.streams.iter().flatten();
    let within = streams.map(|of| of.iterations_within(DATA, DATA + BYTES as u64)).min();
    match within {
        Some(within) if within < largest.most => plan(within.checked_sub(1).ok_or(Obstacle::TooShort)?),
        _ => Ok(largest),
    }
}

/// A byte is loaded, another one is stored in its place, and then the first one is stored behind it.
#[test]
fn copies_of_bytes_that_another_store_replaces_are_those_from_before() {
    // ldurb w3, [x0]; strb w14, [x0], #1; strb w3, [x0], #1; sub x4, x4, #1; cbnz x4
    let words = [0x3840_0003, 0x3800_140e, 0x3800_1403, 0xd100_0484, 0xb5ff_ff84];
    let body = body(&words).expect("it is a loop");
    let mut start = Cpu::new(HEAD, 0);
    start.set_x(0, DATA + 1);
    start.set_x(4, 200);
    let data: Vec<u8> = (0..BYTES).map(|place| (place * 7 % 251) as u8).collect();
    let [mut memory, mut stepped] = [0, 1].map(|_| Code { words: &words, data: data.clone() });
    let plan = plan(&body, &start, &memory).expect("iterations can be executed at once");
    let iterations = plan.execute(&body, &mut registers(&start), &mut memory);
    assert!(iterations > 100, "{iterations} iterations");
    assert_eq!(run(&mut start, &mut stepped, 5 * iterations), Stop::Budget);
    assert!(memory.data == stepped.data, "memory after {iterations} iterations");
}

/// Registers: x0 to x2 are anywhere in the data, and x4 is small.
fn far_pointers() -> impl Strategy<Value = Cpu> {
    (prop::array::uniform3(0..BYTES as u64), 0..400_u64).prop_map(|(places, count)| {
        let mut cpu = Cpu::new(HEAD, 0x8000);
        for (register, place) in (0..).zip(places) {
            cpu.set_x(register, DATA + place);
        }
        cpu.set_x(4, count);
        cpu
    })
}

/// Compares a plan and the iteration behind it with stepping.
fn compare(words: &[u32], start: Cpu) -> Result<(), TestCaseError> {
    let Some(body) = body(words) else { return Ok(()) };
    let data: Vec<u8> = (0..BYTES).map(|place| (place * 7 % 251) as u8).collect();
    let [mut memory, mut memory_stepped] = [0, 1].map(|_| Code { words, data: data.clone() });
    let Ok(plan) = plan(&body, &start, &memory) else { return Ok(()) };
    let [mut at_once, mut stepped] = [start.clone(), start];
    let length = words.len() as u64;
    let mut after = registers(&at_once);
    let iterations = plan.execute(&body, &mut after, &mut memory);
    for register in (0..REGISTERS).filter(|register| ![ZERO, SINK].contains(register)) {
        set_register(&mut at_once, register, after[register as usize]);
    }
    at_once.steps += iterations * length;
    if iterations > 0 {
        prop_assert_eq!(run(&mut at_once, &mut memory, length), Stop::Budget);
        prop_assert_eq!(run(&mut stepped, &mut memory_stepped, (iterations + 1) * length), Stop::Budget);
        prop_assert_eq!(stepped.pc, HEAD);
    }
    prop_assert_eq!(at_once, stepped, "{} iterations", iterations);
    prop_assert!(memory.data == memory_stepped.data, "memory after {} iterations", iterations);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    /// A plan and the iteration behind it give what stepping gives: registers, flags, memory and steps.
    #[test]
    fn plans_are_equal_to_stepping(words in prop_oneof![1 => accesses(), 2 => streams(), 1 => indexed(), 6 => kernels()], start in pointers()) {
        compare(&words, start)?;
    }

    #[test]
    fn byte_tables_are_equal_to_stepping(words in byte_tables(), start in far_pointers()) {
        compare(&words, start)?;
    }
}
