//! The iterations that are certain, and the registers in them.

use kvrm_arm64::{Cpu, Stop, run};
use kvrm_loops::{Motion, certain_iterations, registers};
use kvrm_testkit::loops::{code, counted};
use proptest::prelude::*;

use crate::code::{Code, HEAD, ITERATIONS_MAX, body, cpu, number};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    /// None of the iterations that are certain leaves the loop, and registers have the values of their motions.
    #[test]
    fn certain_iterations_stay_in_the_loop(words in prop_oneof![1 => code(), 4 => counted()], start in cpu()) {
        let Some(body) = body(&words) else { return Ok(()) };
        let before = registers(&start);
        let certain = certain_iterations(&body, &before);
        let mut entries = body.body().atoms.clone();
        let progressions: Vec<_> = (0..5)
            .map(|register| body.progression(&entries.entry(register), &before, true))
            .collect();
        let mut cpu = start;
        for iteration in 1..=certain.min(ITERATIONS_MAX) {
            let stop = run(&mut cpu, &mut Code::new(&words), words.len() as u64);
            prop_assert_eq!((stop, cpu.pc), (Stop::Budget, HEAD), "iteration {} of {}", iteration, certain);
            for (register, progression) in progressions.iter().enumerate() {
                let Some(progression) = progression.filter(|of| iteration < of.length) else { continue };
                let expected = progression.start.wrapping_add(progression.step.wrapping_mul(iteration));
                prop_assert_eq!(cpu.x(register as u32), expected, "x{} after {}", register, iteration);
            }
        }
    }

    /// An iteration gives temporaries the same values, whatever they had before.
    #[test]
    fn temporaries_do_not_matter(words in code(), start in cpu(), other in number()) {
        let Some(body) = body(&words) else { return Ok(()) };
        let mut changed = start.clone();
        for register in (0..5).filter(|register| *body.motion(*register) == Motion::Temporary) {
            changed.set_x(register, other);
        }
        let [mut one, mut two] = [start, changed];
        // The flags at the beginning may matter, but they are the same.
        for cpu in [&mut one, &mut two] {
            run(cpu, &mut Code::new(&words), words.len() as u64);
        }
        if (one.pc, two.pc) == (HEAD, HEAD) {
            prop_assert_eq!(one, two);
        } else {
            prop_assert_eq!(one.pc, two.pc, "both leave");
        }
    }
}

/// Loops whose number of iterations is known exactly: x0 moves by a step and is compared with x1, or with zero.
#[test]
fn certain_iterations_are_all_but_the_last() {
    for wide in [false, true] {
        let sf = u32::from(wide) << 31;
        for step in [1_i64, 2, 3, 7, -1, -2, -5] {
            let change = if step > 0 { 0x1100_0000 } else { 0x5100_0000 };
            let add = sf | change | (step.unsigned_abs() as u32) << 10; // add or sub x0, x0, #step
            let compare = sf | 0x6b01_001f; // cmp x0, x1
            for cond in (0..14).filter(|cond| ![6, 7].contains(cond)) {
                let words = [add, compare, 0x5400_0000 | 0x7_fffe << 5 | cond];
                let body = body(&words).expect("the loop is simple");
                for (from, to) in [(0_u64, 90_u64), (90, 0), (10, 10), (1000, 997), (84, 0), (0, 84)] {
                    let mut cpu = Cpu::new(HEAD, 0);
                    cpu.set_x(0, from);
                    cpu.set_x(1, to);
                    let certain = certain_iterations(&body, &registers(&cpu));
                    let mut stayed = 0;
                    while stayed < ITERATIONS_MAX {
                        run(&mut cpu, &mut Code::new(&words), words.len() as u64);
                        if cpu.pc != HEAD {
                            break;
                        }
                        stayed += 1;
                    }
                    let what = format!(
                        "{certain} of {stayed}: {from} by {step} to {to}, condition {cond}, wide: {wide}"
                    );
                    // Where numbers become negative, unsigned ones wrap, and fewer iterations are certain.
                    if from as i64 + step * (stayed as i64 + 1) >= 0 {
                        assert_eq!(certain.min(ITERATIONS_MAX), stayed, "{what}");
                    } else {
                        assert!(certain <= stayed || stayed == ITERATIONS_MAX, "{what}");
                    }
                }
            }
        }
    }
}
