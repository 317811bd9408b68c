//! Compares what the analysis says about random loops with the reference, which steps through them.

use kvrm_arm64::lowering::lower;
use kvrm_arm64::micro_op::{REGISTERS, SP};
use kvrm_arm64::{Access, Cpu, Fault, FaultKind, Features, Instruction, Memory, Stop, run};
use kvrm_loops::{Body, Motion, Motions, certain_iterations};
use proptest::prelude::*;

/// The address of the first instruction.
const HEAD: u64 = 0x1000;
/// The largest number of iterations that are stepped.
const ITERATIONS_MAX: u64 = 200;

/// The loop, and nothing else.
struct Code<'a>(&'a [u32]);

fn fault(access: Access, address: u64) -> Stop {
    Stop::Fault(Fault { kind: FaultKind::Translation, access, address })
}

impl Memory for Code<'_> {
    fn fetch(&mut self, pc: u64) -> Result<Instruction, Stop> {
        let word = self.0.get(pc.wrapping_sub(HEAD) as usize / 4).ok_or(fault(Access::Execute, pc))?;
        Ok(Instruction::new(*word, Features::BASE))
    }
    fn read<const N: usize>(&mut self, address: u64) -> Result<[u8; N], Stop> {
        Err(fault(Access::Read, address))
    }
    fn write<const N: usize>(&mut self, address: u64, _: [u8; N]) -> Result<(), Stop> {
        Err(fault(Access::Write, address))
    }
    fn check_write(&mut self, address: u64, _: u64) -> Result<(), Stop> {
        Err(fault(Access::Write, address))
    }
}

fn body(words: &[u32]) -> Option<Body> {
    let fetch = |pc: u64| Some(lower(*words.get(pc.checked_sub(HEAD)? as usize / 4)?, Features::BASE));
    Body::find(HEAD + 4 * (words.len() as u64 - 1), fetch).ok()
}

/// The registers of micro-ops.
fn registers(cpu: &Cpu) -> Vec<u64> {
    (0..REGISTERS)
        .map(|register| match register {
            0..=30 => cpu.x(register),
            SP => cpu.sp,
            _ => 0,
        })
        .collect()
}

/// A few registers, so that instructions depend on each other.
fn register() -> impl Strategy<Value = u32> {
    prop_oneof![8 => 0..5_u32, 1 => Just(31)]
}

/// An instruction without a branch and without memory.
fn instruction() -> impl Strategy<Value = u32> {
    let registers = || (register(), register(), register());
    prop_oneof![
        // ADD, SUB, ADDS, SUBS with an immediate.
        4 => (0..8_u32, 0..2_u32, prop_oneof![0..5_u32, 0..4096_u32], registers()).prop_map(
            |(kind, shift, imm, (d, n, _))| kind << 29 | 0x1100_0000 | shift << 22 | imm << 10 | n << 5 | d
        ),
        // With a shifted register.
        4 => (0..8_u32, 0..3_u32, 0..64_u32, registers()).prop_map(|(kind, shift, amount, (d, n, m))| {
            let amount = if kind < 4 { amount % 32 } else { amount };
            kind << 29 | 0x0b00_0000 | shift << 22 | m << 16 | (amount % 5) << 10 | n << 5 | d
        }),
        // With an extended register.
        2 => (0..8_u32, 0..8_u32, 0..5_u32, registers()).prop_map(|(kind, option, amount, (d, n, m))| {
            kind << 29 | 0x0b20_0000 | m << 16 | option << 13 | amount << 10 | n << 5 | d
        }),
        // Logical instructions with a shifted register, MOV among them.
        2 => (0..8_u32, 0..8_u32, registers()).prop_map(|(kind, shift, (d, n, m))| {
            kind << 29 | 0x0a00_0000 | shift << 21 | m << 16 | n << 5 | d
        }),
        // UBFM and SBFM.
        2 => (any::<bool>(), any::<bool>(), 0..64_u32, 0..64_u32, registers()).prop_map(
            |(wide, unsigned, r, s, (d, n, _))| {
                let [r, s] = [r, s].map(|number| if wide { number } else { number % 32 });
                u32::from(wide) << 31 | u32::from(wide) << 22 | u32::from(unsigned) << 30
                    | 0x1300_0000 | r << 16 | s << 10 | n << 5 | d
            }
        ),
        // MADD and MSUB, MOVZ, CSEL.
        1 => (any::<bool>(), 0..2_u32, registers(), register()).prop_map(|(wide, sub, (d, n, m), a)| {
            u32::from(wide) << 31 | 0x1b00_0000 | m << 16 | sub << 15 | a << 10 | n << 5 | d
        }),
        1 => (any::<bool>(), 0..0x1_0000_u32, register()).prop_map(|(wide, imm, d)| {
            u32::from(wide) << 31 | 0x5280_0000 | imm << 5 | d
        }),
        1 => (any::<bool>(), 0..16_u32, registers()).prop_map(|(wide, cond, (d, n, m))| {
            u32::from(wide) << 31 | 0x1a80_0000 | m << 16 | cond << 12 | n << 5 | d
        }),
    ]
}

/// A branch by `words` instructions: B.cond, CBZ, CBNZ, TBZ or TBNZ.
fn branch(words: i32) -> impl Strategy<Value = u32> {
    prop_oneof![
        6 => (0..16_u32).prop_map(move |cond| 0x5400_0000 | (words as u32 & 0x7_ffff) << 5 | cond),
        2 => (0..2_u32, 0..2_u32, register()).prop_map(move |(wide, not, t)| {
            wide << 31 | 0x3400_0000 | not << 24 | (words as u32 & 0x7_ffff) << 5 | t
        }),
        1 => (0..32_u32, 0..2_u32, register()).prop_map(move |(bit, not, t)| {
            0x3600_0000 | not << 24 | bit << 19 | (words as u32 & 0x3fff) << 5 | t
        }),
    ]
}

/// The code of a loop whose last instruction branches to the first, perhaps with another exit.
fn code() -> impl Strategy<Value = Vec<u32>> {
    let body = (prop::collection::vec(instruction(), 1..6), prop::option::of((0..6_usize, branch(1000))));
    body.prop_flat_map(|(mut words, exit)| {
        if let Some((place, exit)) = exit {
            words.insert(place.min(words.len()), exit);
        }
        let back = branch(-(words.len() as i32));
        (Just(words), back)
    })
    .prop_map(|(mut words, back)| {
        words.push(back);
        words
    })
}

/// ADD or SUB of a small number to a register, 32 or 64 bits wide.
fn induction() -> impl Strategy<Value = u32> {
    (0..2_u32, 0..2_u32, 1..20_u32, 0..3_u32)
        .prop_map(|(wide, sub, imm, r)| wide << 31 | sub << 30 | 0x1100_0000 | imm << 10 | r << 5 | r)
}

/// A compare: SUBS of two registers, the second perhaps extended, or of a register and an immediate.
fn compare() -> impl Strategy<Value = u32> {
    prop_oneof![
        (0..2_u32, register(), register())
            .prop_map(|(wide, n, m)| wide << 31 | 0x6b00_001f | m << 16 | n << 5),
        (0..2_u32, register(), register(), 0..8_u32, 0..5_u32).prop_map(|(wide, n, m, option, amount)| {
            wide << 31 | 0x6b20_001f | m << 16 | option << 13 | amount << 10 | n << 5
        }),
        (0..2_u32, register(), 0..500_u32)
            .prop_map(|(wide, n, imm)| wide << 31 | 0x7100_001f | imm << 10 | n << 5),
    ]
}

/// The code of a loop as programs have it: inductions, a compare and other instructions in any order, and a branch.
fn counted() -> impl Strategy<Value = Vec<u32>> {
    let others = prop::collection::vec(prop_oneof![2 => induction(), 1 => instruction()], 0..3);
    (induction(), others, prop::option::of(compare()))
        .prop_map(|(induction, others, compare)| {
            [induction].into_iter().chain(others).chain(compare).collect::<Vec<_>>()
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

/// Numbers at whose neighbours something wraps, and others.
fn number() -> impl Strategy<Value = u64> {
    const EDGES: &[u64] = &[0, 1 << 31, 1 << 32, 1 << 63, 0x1_8000_0000];
    prop_oneof![
        4 => (prop::sample::select(EDGES), -60..60_i64).prop_map(|(edge, near)| edge.wrapping_add(near as u64)),
        1 => any::<u64>(),
    ]
}

fn cpu() -> impl Strategy<Value = Cpu> {
    (prop::array::uniform5(number()), 0..16_u32).prop_map(|(numbers, nzcv)| {
        let mut cpu = Cpu::new(HEAD, 0x8000);
        for (register, number) in numbers.into_iter().enumerate() {
            cpu.set_x(register as u32, number);
        }
        cpu.nzcv = nzcv;
        cpu
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    /// None of the iterations that are certain leaves the loop, and registers have the values of their motions.
    #[test]
    fn certain_iterations_stay_in_the_loop(words in prop_oneof![1 => code(), 4 => counted()], start in cpu()) {
        let Some(body) = body(&words) else { return Ok(()) };
        let motions = Motions::of(&body);
        let before = registers(&start);
        let certain = certain_iterations(&motions, &body, &before);
        let mut entries = body.atoms.clone();
        let progressions: Vec<_> = (0..5)
            .map(|register| motions.progression(&entries.entry(register), &before, true))
            .collect();
        let mut cpu = start;
        for iteration in 1..=certain.min(ITERATIONS_MAX) {
            let stop = run(&mut cpu, &mut Code(&words), words.len() as u64);
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
        let motions = Motions::of(&body);
        let mut changed = start.clone();
        for register in (0..5).filter(|register| *motions.motion(*register) == Motion::Temporary) {
            changed.set_x(register, other);
        }
        let [mut one, mut two] = [start, changed];
        // The flags at the beginning may matter, but they are the same.
        for cpu in [&mut one, &mut two] {
            run(cpu, &mut Code(&words), words.len() as u64);
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
                let motions = Motions::of(&body);
                for (from, to) in [(0_u64, 90_u64), (90, 0), (10, 10), (1000, 997), (84, 0), (0, 84)] {
                    let mut cpu = Cpu::new(HEAD, 0);
                    cpu.set_x(0, from);
                    cpu.set_x(1, to);
                    let certain = certain_iterations(&motions, &body, &registers(&cpu));
                    let mut stayed = 0;
                    while stayed < ITERATIONS_MAX {
                        run(&mut cpu, &mut Code(&words), words.len() as u64);
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
