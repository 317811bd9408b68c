//! Iterations that are executed at once.

use kvrm_arm64::{Cpu, Stop, run};
use kvrm_loops::{Loop, Obstacle, Plan, Source};
use proptest::prelude::*;

use crate::code::{Code, DATA, HEAD, body, branch, compare, cpu, induction, instruction, number, registers};

/// The number of bytes of the data.
const BYTES: usize = 1 << 14;
/// The largest number of iterations that are executed at once.
const ITERATIONS_MAX: u64 = 300;

/// A load or a store of a register, or of a pair, at x0, x1 or x2, of all sizes and addressing modes.
fn access() -> impl Strategy<Value = u32> {
    let parts = || (0..4_u32, 0..2_u32, 0..3_u32, 0..5_u32);
    prop_oneof![
        // With an unsigned offset.
        2 => (parts(), 0..4_u32).prop_map(|((size, load, n, t), imm)| {
            size << 30 | 0x3900_0000 | load << 22 | imm << 10 | n << 5 | t
        }),
        // With write-back, before or after, or without.
        4 => (parts(), prop::sample::select(&[0_u32, 1, 3][..]), -16..17_i32).prop_map(
            |((size, load, n, t), index, imm)| {
                size << 30 | 0x3800_0000 | load << 22 | (imm as u32 & 0x1ff) << 12 | index << 10 | n << 5 | t
            }
        ),
        // With a register.
        2 => (parts(), 2..5_u32, prop::sample::select(&[2_u32, 3, 6][..]), 0..2_u32).prop_map(
            |((size, load, n, t), m, option, shift)| {
                size << 30 | 0x3820_0800 | load << 22 | m << 16 | option << 13 | shift << 12 | n << 5 | t
            }
        ),
        // Pairs.
        1 => (parts(), 0..2_u32, 0..5_u32, 1..4_u32, -3..4_i32).prop_map(
            |((_, load, n, t), wide, second, index, imm)| {
                wide << 31 | 0x2800_0000 | index << 23 | load << 22 | (imm as u32 & 0x7f) << 15 | second << 10 | n << 5 | t
            }
        ),
    ]
}

/// The code of a loop with accesses to memory.
fn code() -> impl Strategy<Value = Vec<u32>> {
    let others =
        prop::collection::vec(prop_oneof![2 => induction(), 2 => access(), 1 => instruction()], 0..3);
    (access(), induction(), others, prop::option::of(compare()))
        .prop_map(|(access, induction, others, compare)| {
            [access, induction].into_iter().chain(others).chain(compare).collect::<Vec<_>>()
        })
        .prop_shuffle()
        .prop_flat_map(|words| {
            let back = branch(-(words.len() as i32));
            (Just(words), back)
        })
        .prop_map(|(mut words, back)| {
            words.push(back);
            words
        })
}

/// CBNZ of x4 or B.NE to the first instruction, after a subtraction of 1 from x4. It ends a loop of `words` instructions.
fn countdown(words: usize) -> impl Strategy<Value = [u32; 2]> {
    let distance = (-(words as i32) - 1) as u32 & 0x7_ffff;
    let subtract = |flags: u32| 0xd100_0484 | flags << 29;
    prop::sample::select(vec![
        [subtract(0), 0xb500_0004 | distance << 5],
        [subtract(1), 0xb500_0004 | distance << 5],
        [subtract(1), 0x5400_0001 | distance << 5],
    ])
}

/// The code of a loop with two or three accesses of one size that move in steps, such as copies and fills: the first is often a
/// load of x3 and x5, the others are stores of them. Often, these are pairs. x4 counts down.
fn streams() -> impl Strategy<Value = Vec<u32>> {
    let step = prop_oneof![3 => Just(1), 2 => Just(-1), 1 => -3..4_i32];
    let access = |load: u32| (0..3_u32, -3..4_i32, prop::bool::weighted(0.7)).prop_map(move |of| (load, of));
    let load = prop_oneof![access(1), access(0)];
    let accesses = (load, access(0), prop::option::weighted(0.3, access(0)));
    // An induction, also of w3, or a selection by the flags of the iteration before.
    let other = prop_oneof![
        3 => induction(),
        2 => (1..20_u32).prop_map(|imm| 0x1100_0063 | imm << 10),
        2 => (0..14_u32, 0..3_u32).prop_map(|(cond, d)| 0x9a83_0000 | cond << 12 | d),
    ];
    (accesses, 0..4_u32, step, prop::bool::weighted(0.3), prop::option::weighted(0.4, other))
        .prop_map(|((first, second, third), size, step, pairs, other)| {
            let one = |(load, (n, offset, moves)): (u32, (u32, i32, bool))| {
                let both = load << 22 | n << 5 | 3;
                let offset = if moves { step } else { offset };
                if pairs {
                    // The offset is in units of a register, of which there are two.
                    let (wide, index) = (size & 1, if moves { 1 } else { 2 });
                    return wide << 31
                        | 0x2800_0000
                        | index << 23
                        | ((2 * offset) as u32 & 0x7f) << 15
                        | 5 << 10
                        | both;
                }
                let imm = ((offset << size) as u32 & 0x1ff) << 12;
                size << 30 | 0x3800_0000 | imm | u32::from(moves) << 10 | both
            };
            [one(first), one(second)].into_iter().chain(third.map(one)).chain(other).collect::<Vec<_>>()
        })
        .prop_flat_map(|words| {
            let end = countdown(words.len());
            (Just(words), end)
        })
        .prop_map(|(words, end)| words.into_iter().chain(end).collect())
}

/// The code of a loop with an access at x1 plus w2, extended, which moves by a small number and wraps soon. x4 counts down.
fn indexed() -> impl Strategy<Value = Vec<u32>> {
    (0..4_u32, 0..2_u32, prop::sample::select(&[2_u32, 6][..]), 1..9_u32, countdown(2)).prop_map(
        |(size, load, option, step, end)| {
            let access = size << 30 | 0x3822_0823 | load << 22 | option << 13; // ldr or str x3, [x1, w2, uxtw or sxtw]
            [access, 0x1100_0042 | step << 10].into_iter().chain(end).collect() // add w2, w2, #step
        },
    )
}

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
        match *register {
            0..=30 => cpu.set_x(*register, *value),
            _ => cpu.sp = *value,
        }
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
    fn plans_are_equal_to_stepping(words in prop_oneof![1 => code(), 2 => streams(), 1 => indexed()], start in pointers()) {
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
