//! Random programs, one in each lane, which loop, branch to anywhere and change their own code. The environment
//! variable `KVRM_PROGRAMS` is their number.

use std::env;
use std::sync::Arc;

use kvrm_arm64::{Features, disassemble};
use kvrm_jit::JitEngine;
use kvrm_machine::vectors::Vector;
use kvrm_machine::{AddressSpace, Factory, Interpreter};
use kvrm_testkit::programs;
use kvrm_testkit::random::Random;

use crate::support::{Pair, SIZES, image};

/// The number of programs that run at once.
const LANES: usize = 48;

/// Compares programs at the end of their budgets.
pub(crate) fn compare(programs: &[Vector], engine: JitEngine) {
    let limits: Vec<u64> = programs.iter().map(|vector| vector.steps).collect();
    let mut pair = Pair::of_programs(programs, &engine);
    pair.run(&limits);
    pair.assert_same(&|lane| blame(&programs[lane], &engine));
}

/// Finds the first step after which a program differs, and describes its last instructions.
fn blame(program: &Vector, engine: &dyn Factory) -> String {
    let differs = |budget: &u64| {
        let mut pair = Pair::of_programs(std::slice::from_ref(program), engine);
        pair.run(&[*budget]);
        pair.difference(0)
    };
    let Some(first) = (0..=program.steps).find(|budget| differs(budget).is_some()) else {
        return format!("{}, not alone", program.name);
    };
    let mut memory = AddressSpace::new(Arc::clone(&image(program)), 16);
    let (mut cpu, mut text) = (program.cpu(), Vec::new());
    while cpu.steps < first {
        let mut word = [0; 4];
        let read = memory.read_bytes(cpu.pc, &mut word, None).is_ok();
        let word = u32::from_le_bytes(word);
        text.push(format!("{:x} {read} {}", cpu.pc, disassemble(word, cpu.pc)));
        if Interpreter::step(&mut cpu, &mut memory).is_err() {
            break;
        }
    }
    let last = text[text.len().saturating_sub(12)..].join("\n");
    format!("{} differs after {first} steps, {}:\n{last}", program.name, differs(&first).unwrap_or_default())
}

#[test]
fn random_programs_end_as_on_the_reference() {
    let rounds = env::var("KVRM_PROGRAMS").map_or(4, |text| {
        let programs: usize =
            text.parse().unwrap_or_else(|_| panic!("KVRM_PROGRAMS is {text:?}; expected a number"));
        programs.div_ceil(LANES)
    });
    let random = &mut Random::new(1);
    let features = [Features::ALL, Features::ARMV8_0, Features::GENERAL, Features::ALL];
    for features in features.into_iter().cycle().take(rounds) {
        let programs: Vec<Vector> = (0..LANES)
            .map(|lane| programs::with_features(&format!("{lane}"), features, 96, 300, random))
            .collect();
        for size in SIZES {
            compare(&programs, JitEngine::eager(size));
        }
    }
}
