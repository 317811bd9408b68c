//! Random programs, one in each lane: compares registers, stops and all memory with the reference.
//!
//! A test case is a batch of programs, which run at once. A batch that fails shrinks to one short program. Its seed is
//! added to `tests/proptest-regressions/programs.txt`, and the program is written as a test vector. The environment
//! variable `KVRM_PROGRAMS` is the number of programs; `PROPTEST_RNG_SEED` makes a run repeatable.

mod written;

use std::cell::Cell;
use std::collections::BTreeSet;
use std::env;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use kvrm_arm64::decode;
use kvrm_gpu::{ClassSelection, SelectionMode};
use kvrm_machine::vectors::{self, Vector};
use kvrm_machine::{Executor, Factory, Features, Image, PAGE_BYTES, Plan, ReferenceEngine, Region};
use kvrm_models::{Architecture, DispatchNetwork, Weights};
use kvrm_testkit::batches::{Batch, batches};
use kvrm_testkit::program_cases::{ProgramCase, program_cases};
use kvrm_testkit::programs;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{
    Config, FileFailurePersistence, RngSeed, TestCaseError, TestCaseResult, TestError, TestRunner,
};

use crate::class_selection::{NetworkGpu, SPREADS};
use crate::support::{Gpu, Lane, ONE_LANE_WORKGROUPS, STAGES, VOTES, lanes, read};

/// The default number of programs.
pub(crate) const PROGRAMS: u32 = 6144;
/// The number of programs that run at once.
const LANES: u32 = 768;
/// The maximum number of instructions in a program.
const LENGTH: usize = 96;
/// The maximum number of steps of a program.
const STEPS: u64 = 300;

/// The visible state of a lane after its program, including mapped pages that it has not written.
pub(crate) struct ProgramResult {
    pub(crate) lane: Lane,
    pub(crate) mapped: Vec<(u64, Vec<u8>)>,
}

/// Runs programs with the same features on an engine, one in each lane.
fn run_programs(programs: &[Vector], engine: &dyn Factory) -> Vec<ProgramResult> {
    let image = |vector: &Vector| {
        Arc::new(Image::new(&vector.segments(), vector.machine_features()).expect("programs fit"))
    };
    let images: Vec<Arc<Image>> = programs.iter().map(image).collect();
    let plan = Plan { images: &images, lanes: images.len(), frames_max: 16, calls: None, loops: None };
    let mut executor = engine.executor(&plan).expect("the lanes fit");
    for (lane, vector) in programs.iter().enumerate() {
        executor.set_cpu(lane, &vector.cpu()).expect("the engine works");
    }
    let limits: Vec<u64> = programs.iter().map(|vector| vector.steps).collect();
    executor.run(&limits, &mut |_| ControlFlow::Continue(())).expect("the engine works");
    let pages = |image: &Image| -> Vec<u64> {
        let pages = |region: &Region| region.first_page..region.end_page;
        image.regions().iter().flat_map(pages).map(|page| page * PAGE_BYTES as u64).collect()
    };
    let mapped: Vec<Vec<u64>> = images.iter().map(|image| pages(image)).collect();
    let ranges = mapped.iter().enumerate();
    let ranges: Vec<_> =
        ranges.flat_map(|(lane, pages)| pages.iter().map(move |&page| (lane, page, PAGE_BYTES))).collect();
    executor.prefetch(&ranges).expect("the engine works");
    let seen = lanes(&mut *executor);
    let memory = |lane, pages: Vec<u64>, executor: &mut dyn Executor| {
        pages.into_iter().map(|page| (page, read(executor, lane, page, PAGE_BYTES))).collect()
    };
    let seen = seen.into_iter().zip(mapped).enumerate();
    seen.map(|(number, (lane, pages))| ProgramResult { lane, mapped: memory(number, pages, &mut *executor) })
        .collect()
}

/// Describes the first difference between two results, or returns `None`.
fn difference(gpu: &ProgramResult, reference: &ProgramResult) -> Option<String> {
    let (a, b) = (&gpu.lane, &reference.lane);
    if a.stop != b.stop {
        return Some(format!("stop: {:?} on the GPU, {:?} on the reference", a.stop, b.stop));
    }
    if a.cpu != b.cpu {
        let monitors = (a.cpu.monitor, b.cpu.monitor);
        return Some(format!("on the GPU\n{:?}on the reference\n{:?}monitors {monitors:?}", a.cpu, b.cpu));
    }
    if a.private_pages != b.private_pages {
        return Some(format!(
            "pages written: {:x?} on the GPU, {:x?} on the reference",
            a.private_pages, b.private_pages
        ));
    }
    for ((page, gpu), (_, reference)) in gpu.mapped.iter().zip(&reference.mapped) {
        if let Some(at) = (0..gpu.len()).find(|&at| gpu[at] != reference[at]) {
            let (address, gpu, reference) = (page + at as u64, gpu[at], reference[at]);
            return Some(format!("{address:#x}: {gpu:#04x} on the GPU, {reference:#04x} on the reference"));
        }
    }
    (a != b).then(|| "memory".to_owned())
}

/// Runs programs on an engine and on the reference, and describes the difference of each program.
fn differences(programs: &[Vector], engine: &dyn Factory) -> Vec<Option<String>> {
    differences_from(&run_programs(programs, engine), programs)
}

fn differences_from(gpu: &[ProgramResult], programs: &[Vector]) -> Vec<Option<String>> {
    let reference = run_programs(programs, &ReferenceEngine);
    gpu.iter().zip(&reference).map(|(gpu, reference)| difference(gpu, reference)).collect()
}

/// Returns the number of programs to test.
pub(crate) fn programs_to_test() -> u32 {
    let parse = |text: String| {
        text.parse().unwrap_or_else(|_| panic!("KVRM_PROGRAMS is {text:?}; expected a number"))
    };
    env::var("KVRM_PROGRAMS").map_or(PROGRAMS, parse)
}

/// Returns the strategy for programs on a machine with `features`.
fn cases(features: Features) -> impl Strategy<Value = ProgramCase> {
    program_cases(features, LENGTH, STEPS)
}

/// Returns the settings for `count` batches of random programs.
fn config(count: u32) -> Config {
    Config {
        cases: count,
        source_file: Some(file!()),
        // A program has about 200 parts, each with a few alternatives.
        max_shrink_iters: 4096,
        ..Config::default()
    }
}

/// Runs batches of `lanes` programs and returns the report on the failure that is left after shrinking, if one failed.
/// `differ` returns the difference of each program from the reference.
fn report(
    config: Config,
    features: Features,
    lanes: u32,
    differ: impl Fn(&[Vector]) -> Vec<Option<String>>,
) -> Option<String> {
    let failed_at_first = Cell::new(0);
    let test = |Batch(programs): Batch<ProgramCase>| -> TestCaseResult {
        let programs: Vec<Vector> = programs.into_iter().map(|ProgramCase(vector)| vector).collect();
        let differences = differ(&programs);
        let failed = differences.iter().flatten().count();
        failed_at_first.set(failed_at_first.get().max(failed));
        differences.into_iter().flatten().next().map_or(Ok(()), |first| Err(TestCaseError::fail(first)))
    };
    let found = TestRunner::new(config).run(&batches(lanes as usize, cases(features)), test);
    let (difference, batch) = match found {
        Ok(()) => return None,
        Err(TestError::Fail(difference, batch)) => (difference, batch),
        Err(TestError::Abort(reason)) => panic!("{reason}"),
    };
    let path = match &batch.0[..] {
        [ProgramCase(vector)] => format!("written to {}", written::as_vector(vector).display()),
        _ => "no program is written".to_owned(),
    };
    let failed = failed_at_first.get();
    Some(format!("{failed} of {lanes} programs differ; one of them, shrunk:\n{batch:?}{difference}\n{path}"))
}

/// Compares about `count` programs on machines with `features` with the reference.
fn compare_with_reference(count: u32, lanes: u32, features: Features, engine: &dyn Factory) {
    let batches = config(count.div_ceil(lanes));
    if let Some(report) = report(batches, features, lanes, |programs| differences(programs, engine)) {
        panic!("{report}");
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn random_programs_end_as_on_the_reference() {
    // Half of the programs are for machines with all features, whose instruction set is the largest.
    let count = programs_to_test() / 8;
    for engine in [&Gpu as &dyn Factory, &ONE_LANE_WORKGROUPS] {
        compare_with_reference(count, LANES, Features::ARMV8_0, engine);
        compare_with_reference(count, LANES, Features::GENERAL, engine);
        compare_with_reference(2 * count, LANES, Features::ALL, engine);
    }
    for engine in [&STAGES, &VOTES] {
        compare_with_reference(count, LANES, Features::GENERAL, engine);
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn random_programs_end_as_on_the_reference_with_networks() {
    // A network of zeros gives every word the class ARITHMETIC.
    let zeros = vec![0.0; DispatchNetwork::PARAMETERS];
    let zeros = Weights::from_flat(Architecture::Dispatch, zeros).expect("the number of weights is right");
    let zeros = |mode| {
        ClassSelection::with_weights(mode, zeros.clone()).expect("the weights are for class selection")
    };
    let [shared, _, alone] = SPREADS;
    let (count, lanes) = (programs_to_test() / 96, LANES / 6);
    for (selection, bounds) in [
        (ClassSelection::new(SelectionMode::Network), shared.clone()),
        (ClassSelection::new(SelectionMode::Network), alone.clone()),
        (ClassSelection::new(SelectionMode::MemoWord), shared.clone()),
        (zeros(SelectionMode::Network), shared.clone()),
        (zeros(SelectionMode::Network), alone.clone()),
        (zeros(SelectionMode::MemoDomain), shared.clone()),
    ] {
        let engine = NetworkGpu { selection, bounds };
        compare_with_reference(count, lanes, Features::ARMV8_0, &engine);
        compare_with_reference(count, lanes, Features::GENERAL, &engine);
    }
    // Software drivers take long to compile the kernels with SIMD registers, so only one of these is tested.
    let asking = NetworkGpu { selection: zeros(SelectionMode::Network), bounds: shared };
    compare_with_reference(2 * count, 2 * lanes, Features::ALL, &asking);
}

#[test]
fn failing_programs_are_shrunk_written_and_tested_again() {
    // Simulates an engine on which EOR does nothing.
    let is_broken = |word: u32| decode(word).is_some_and(|op| op.encoding().mnemonic == "eor");
    let broken = |programs: &[Vector]| {
        let mut others = programs.to_vec();
        for word in others.iter_mut().flat_map(|vector| &mut vector.code).filter(|word| is_broken(word.0)) {
            word.0 = programs::nop();
        }
        differences_from(&run_programs(&others, &ReferenceEngine), programs)
    };
    let folder = tempfile::tempdir().expect("the temporary folder is writable");
    let seeds = folder.path().join("seeds.txt").display().to_string();
    let report = |cases| {
        // Proptest wants a path that lives as long as the program.
        let seeds = FileFailurePersistence::Direct(Box::leak(seeds.clone().into_boxed_str()));
        let config = Config {
            failure_persistence: Some(Box::new(seeds)),
            rng_seed: RngSeed::Fixed(1),
            ..config(cases)
        };
        report(config, Features::GENERAL, 64, broken)
    };
    assert_eq!(report(0), None, "no seed is known");
    let first = report(1).expect("one in two programs has EOR");
    let path = first.lines().last().and_then(|line| line.strip_prefix("written to "));
    let written =
        vectors::open(Path::new(path.expect("the report has a path"))).expect("the file has vectors");
    assert_eq!(written.len(), 1, "one vector");
    let Vector { code, init, steps, .. } = &written[0];
    let kept: Vec<_> = code.iter().filter(|word| word.0 != programs::nop()).collect();
    assert!(kept.iter().any(|word| is_broken(word.0)), "the failing instruction remains:\n{first}");
    assert!(first.contains("  eor "), "the report shows the disassembly:\n{first}");
    assert!(code.len() <= 4 && *steps <= 4, "most other instructions are removed:\n{first}");
    assert!(init.x.len() <= 2 && init.mem.is_empty(), "most registers and all memory are removed:\n{first}");
    assert!(written[0].run().is_empty(), "the vector has the results of the reference:\n{first}");
    assert_eq!(report(0), Some(first), "the seed is known, and the same program fails");
}

#[test]
fn most_random_programs_take_many_steps_and_write_memory() {
    // Otherwise `random_programs_end_as_on_the_reference` would test little.
    let mut runner = TestRunner::deterministic();
    let mut sample = |count, features| {
        let batch = batches(count, cases(features)).new_tree(&mut runner).expect("nothing is rejected");
        batch.current().0.into_iter().map(|ProgramCase(vector)| vector).collect::<Vec<Vector>>()
    };
    let programs =
        [sample(128, Features::ARMV8_0), sample(128, Features::GENERAL), sample(256, Features::ALL)];
    let programs = programs.concat();
    let outcomes: Vec<ProgramResult> = run_programs(&programs, &ReferenceEngine);
    let count =
        |test: &dyn Fn(&ProgramResult) -> bool| outcomes.iter().filter(|outcome| test(outcome)).count();
    let long = count(&|outcome| outcome.lane.cpu.steps >= 20);
    let writing = count(&|outcome| outcome.lane.private_pages.len() > 1);
    let own_code = (0..programs.len())
        .filter(|&n| outcomes[n].lane.private_pages.contains(&(programs[n].pc.0 & !(PAGE_BYTES as u64 - 1))))
        .count();
    let kinds: BTreeSet<&str> =
        outcomes.iter().filter_map(|outcome| outcome.lane.stop).map(|stop| stop.name()).collect();
    let expected = ["breakpoint", "budget", "fault", "halt", "syscall", "undefined"];
    assert_eq!(Vec::from_iter(kinds), expected, "the kinds of stops");
    assert!(
        long > 256 && writing > 128 && own_code > 32,
        "{long} programs are long, {writing} write memory, {own_code} write their own code"
    );
}
