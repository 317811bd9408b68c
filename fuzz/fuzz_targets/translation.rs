//! Checks that translated code does what the reference does.
//!
//! The input makes a small program, the way in which regions of it are found, and budgets. Checked are:
//!
//! - the regions: form, paths, checks of the budget, liveness and structure (`kvrm_testkit::regions`);
//! - their text in WGSL: it links with the modules of the interpreter, and naga accepts it;
//! - the JIT with all code translated: after each budget it has the registers, flags, steps, stop and memory of the
//!   reference.
//!
//! No GPU takes part, because compiling a shader for one takes seconds. `cargo test -p kvrm-gpu --test machine translation`
//! runs random programs in translated regions on a GPU.

#![no_main]

use std::collections::BTreeSet;

use kvrm_arm64::Features;
use kvrm_arm64::micro_op::MicroOp;
use kvrm_jit::JitEngine;
use kvrm_machine::vectors::{Hex, Number, Vector};
use kvrm_shaders::link_source;
use kvrm_testkit::languages;
use kvrm_testkit::pair::{Pair, blame};
use kvrm_testkit::programs::{self, Source};
use kvrm_testkit::random::Random;
use kvrm_testkit::regions::{
    Program, check_execution, check_form, check_lengths, check_liveness, check_selection, check_structure,
};
use kvrm_translate::{Limits, Region, is_translatable, to_wgsl};
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;

/// The largest number of parts of a program.
const PARTS_MAX: usize = 96;

/// What is done with a program.
#[derive(Arbitrary, Debug)]
struct Plan {
    /// The seed of the registers and the memory with which the program begins.
    state: u64,
    /// The seed of the choices of the checks: paths, exits, values of registers that are not live.
    choices: u64,
    features: u8,
    /// Regions have only instructions that are translated to WGSL, and are translated.
    is_translated: bool,
    /// Regions are selected from samples of every so many steps, or found from entries if this is 0.
    every: u8,
    /// The numbers of instructions at which a region begins.
    entries: [u8; 3],
    /// The limits of regions.
    instructions: u8,
    pages: u8,
    distance: u8,
    /// The largest number of instructions that the JIT translates at once.
    size: u8,
    /// The steps that the lane takes in each run.
    budgets: [u8; 4],
}

/// Returns the program of a plan. Each part of eight bytes is an instruction or a register: most instructions follow from
/// a seed, and others are any word.
fn program(plan: &Plan, parts: &[u8]) -> Vector {
    let features = [Features::ALL, Features::GENERAL, Features::ARMV8_0][usize::from(plan.features % 3)];
    let mut sources = Vec::new();
    let mut registers = Vec::new();
    for part in parts.as_chunks::<8>().0.iter().take(PARTS_MAX) {
        let [kind, number, shift, _, value @ ..] = *part;
        let value = u32::from_le_bytes(value);
        match kind {
            0..32 => sources.push(Source::Word(value)),
            32..48 => registers.push((Number(u32::from(number % 31)), Hex(u64::from(value) << (shift % 33)))),
            _ => sources.push(Source::Seed(u64::from_le_bytes(*part))),
        }
    }
    let steps = plan.budgets.map(u64::from).iter().sum();
    let mut vector = programs::of_sources("input", features, &sources, steps, &mut Random::new(plan.state));
    vector.init.x.extend(registers);
    vector.steps = steps;
    vector
}

/// Returns the regions of a program, which have the form that they have to have.
fn regions(program: &Program, plan: &Plan) -> Vec<Region> {
    let limits = Limits {
        instructions: plan.instructions.into(),
        pages: usize::from(plan.pages % 4),
        distance: usize::from(plan.distance % 32),
    };
    if plan.every > 0 {
        return check_selection(program, plan.every.into(), &limits);
    }
    let count = program.instructions() as u64;
    let entries: BTreeSet<u64> = plan.entries.iter().map(|entry| u64::from(*entry) % count).collect();
    let region = program.region(&entries.into_iter().collect::<Vec<_>>(), &limits);
    check_form(program, &region);
    vec![region]
}

/// Translates regions, links the text, and validates it.
fn validate(regions: &[Region]) {
    let text = to_wgsl(regions).text;
    let linked = link_source("fuzz::regions", &text, &[]).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let _ = languages::validate(&text, &linked.source);
}

/// Runs a program on the JIT, which translates all code that is reached, and compares it after each budget.
fn run(program: &Vector, plan: &Plan) {
    let engine = JitEngine::eager(1 + usize::from(plan.size));
    let mut pair = Pair::of_programs(std::slice::from_ref(program), &engine);
    let mut limit = 0;
    for budget in plan.budgets {
        limit += u64::from(budget);
        pair.run(&[limit]);
        pair.assert_same(&|_| format!("after {limit} steps; {}", blame(program, &engine)));
    }
}

fuzz_target!(|input: (Plan, &[u8])| {
    let (plan, parts) = input;
    let vector = program(&plan, parts);
    let is_wanted: fn(MicroOp) -> bool = if plan.is_translated { is_translatable } else { |_| true };
    let program = Program::new(&vector, is_wanted);
    let regions = regions(&program, &plan);
    let random = &mut Random::new(plan.choices);
    for region in &regions {
        check_execution(&program, region);
        check_lengths(region);
        check_liveness(&program, region, random);
        check_structure(region, random);
    }
    if plan.is_translated {
        validate(&regions);
    }
    run(&vector, &plan);
});
