//! Passes of a bubble sort whose iterations are executed at once.

use kvrm_arm64::lowering::lower;
use kvrm_arm64::micro_op::{REGISTERS, SINK, ZERO};
use kvrm_arm64::{Cpu, Features, Stop, run};
use kvrm_loops::{Pass, registers, set_register};
use kvrm_testkit::loops::passes;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;

use crate::code::{Code, DATA, HEAD, cpu, number};

/// The number of bytes of the data: more than three blocks of iterations.
const BYTES: usize = 1 << 14;

/// Returns the pass with iterations that begin at the instruction with this number.
fn pass(words: &[u32], first: usize) -> Option<Pass> {
    let fetch = |pc: u64| Some(lower(*words.get(pc.checked_sub(HEAD)? as usize / 4)?, Features::BASE));
    Pass::find(HEAD + 4 * (words.len() as u64 - 1), Some(HEAD + 4 * first as u64), fetch)
}

/// Registers of which x0 is an address in the data, and x4 is the number of iterations, or less than 1.
fn start() -> impl Strategy<Value = Cpu> {
    let count = prop_oneof![3 => -2..400_i64, 1 => 0..17_000_i64];
    (cpu(), 0..BYTES as u64 / 2, number(), count).prop_map(|(mut cpu, place, value, count)| {
        cpu.set_x(0, DATA + place);
        cpu.set_x(2, value);
        cpu.set_x(4, count as u64);
        cpu
    })
}

/// Bytes that are in order, in reverse order, or in none.
fn data() -> impl Strategy<Value = Vec<u8>> {
    (0..4_usize, 1..250_usize).prop_map(|(kind, factor)| {
        let byte = |place: usize| match kind {
            0 => (place / 64) as u8,
            1 => (255 - place / 64) as u8,
            2 => (place * factor % 251) as u8,
            _ => (place * place * factor % 7) as u8,
        };
        (0..BYTES).map(byte).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    /// Iterations at once and the one behind them give what stepping gives: registers, flags, memory and steps.
    #[test]
    fn passes_are_equal_to_stepping(
        words in passes(),
        first in prop_oneof![3 => Just(0), 2 => 0..12_usize],
        mut start in start(),
        data in data(),
    ) {
        let first = first % words.len();
        let Some(pass) = pass(&words, first) else { return Ok(()) };
        let entry = HEAD + 4 * first as u64;
        start.pc = entry;
        let [mut memory, mut memory_stepped] = [0, 1].map(|_| Code { words: &words, data: data.clone() });
        let [_, longest] = pass.lengths();
        let within = |most: u64| {
            let plan = pass.plan(&registers(&start), (most + 1) * longest).ok()?;
            let within = plan.neighbours.iterations_within(DATA, DATA + BYTES as u64);
            if within < plan.most { pass.plan(&registers(&start), within * longest).ok() } else { Some(plan) }
        };
        let Some(plan) = within(20_000) else { return Ok(()) };
        let [mut at_once, mut stepped] = [start.clone(), start];
        let mut after = registers(&at_once);
        let done = pass.execute(&plan, &mut after, &mut memory);
        for register in (0..REGISTERS).filter(|register| ![ZERO, SINK].contains(register)) {
            set_register(&mut at_once, register, after[register as usize]);
        }
        at_once.steps += done.steps;
        prop_assert_eq!(run(&mut stepped, &mut memory_stepped, done.steps), Stop::Budget);
        prop_assert_eq!(stepped.pc, entry);
        prop_assert!(memory.data == memory_stepped.data, "memory after {} iterations", done.iterations);
        let mut steps = 0;
        while steps == 0 || stepped.pc != entry {
            prop_assert_eq!(run(&mut stepped, &mut memory_stepped, 1), Stop::Budget);
            steps += 1;
        }
        prop_assert_eq!(run(&mut at_once, &mut memory, steps), Stop::Budget);
        prop_assert_eq!(at_once, stepped, "{} iterations", done.iterations);
    }
}

#[test]
fn most_random_passes_that_exchange_are_found() {
    let mut runner = TestRunner::deterministic();
    let all = passes();
    let (mut from_first, mut from_others) = (0, 0);
    for _ in 0..1_000 {
        let words = all.new_tree(&mut runner).expect("none is rejected").current();
        from_first += usize::from(pass(&words, 0).is_some());
        from_others += (1..words.len()).filter(|first| pass(&words, *first).is_some()).count();
    }
    assert!((250..900).contains(&from_first), "{from_first} of 1,000");
    assert!(from_others > 2 * from_first, "{from_others} begin behind the exchange");
}
