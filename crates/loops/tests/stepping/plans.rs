//! Iterations that are executed at once.

use kvrm_arm64::{Cpu, Stop, run};
use kvrm_loops::{Loop, Obstacle, Plan, Source, registers, set_register};
use kvrm_testkit::loops::{accesses, indexed, streams};
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

/// Executes a plan.
fn execute(plan: &Plan, body: &Loop, cpu: &mut Cpu, memory: &mut Code<'_>) {
    // In another order than that of the loop, because the order does not matter.
    for stream in plan.streams.iter().rev() {
        for iteration in (0..plan.iterations).rev() {
            let at = |address: u64, step: i64| {
                (address.wrapping_add((step as u64).wrapping_mul(iteration)) - DATA) as usize
            };
            let size = stream.bytes as usize / stream.sources.len().max(1);
            for (number, source) in stream.sources.iter().enumerate() {
                let value = match source {
                    Source::Progression(values) => {
                        values.start.wrapping_add(values.step.wrapping_mul(iteration)).to_le_bytes()
                    }
                    Source::Loaded { load, offset } => {
                        let load = &plan.streams[*load];
                        let mut value = [0; 8];
                        let from = at(load.address + offset, load.step);
                        value[..size].copy_from_slice(&memory.data[from..from + size]);
                        value
                    }
                };
                let to = at(stream.address, stream.step) + number * size;
                memory.data[to..to + size].copy_from_slice(&value[..size]);
            }
        }
    }
    for (register, value) in &plan.registers {
        set_register(cpu, *register, *value);
    }
    cpu.steps += plan.iterations * body.body().ops.len() as u64;
}

/// The largest plan whose accesses are in the data.
fn plan(body: &Loop, cpu: &Cpu) -> Result<Plan, Obstacle> {
    let plan = Plan::new(body, &registers(cpu), ITERATIONS_MAX)?;
    let within = plan.streams.iter().map(|of| of.iterations_within(DATA, DATA + BYTES as u64)).min();
    match within {
        Some(within) if within <= plan.iterations => {
            Plan::new(body, &registers(cpu), within.checked_sub(1).ok_or(Obstacle::TooShort)?)
        }
        _ => Ok(plan),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    /// A plan and the iteration behind it give what stepping gives: registers, flags, memory and steps.
    #[test]
    fn plans_are_equal_to_stepping(words in prop_oneof![1 => accesses(), 2 => streams(), 1 => indexed()], start in pointers()) {
        let Some(body) = body(&words) else { return Ok(()) };
        let Ok(plan) = plan(&body, &start) else { return Ok(()) };
        let data: Vec<u8> = (0..BYTES).map(|place| (place * 7 % 251) as u8).collect();
        let [mut at_once, mut stepped] = [start.clone(), start];
        let [mut memory, mut memory_stepped] = [0, 1].map(|_| Code { words: &words, data: data.clone() });
        let length = words.len() as u64;
        execute(&plan, &body, &mut at_once, &mut memory);
        prop_assert_eq!(run(&mut at_once, &mut memory, length), Stop::Budget);
        prop_assert_eq!(run(&mut stepped, &mut memory_stepped, (plan.iterations + 1) * length), Stop::Budget);
        prop_assert_eq!(stepped.pc, HEAD);
        prop_assert_eq!(at_once, stepped, "{} iterations", plan.iterations);
        prop_assert!(memory.data == memory_stepped.data, "memory after {} iterations", plan.iterations);
    }
}
