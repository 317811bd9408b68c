//! Random programs, one in each lane: compares registers, stops and all memory with the reference.
//!
//! The environment variable `KVRM_PROGRAMS` is the number of programs, `KVRM_SEED` the seed of the first one. A program
//! that fails is shrunk and written as a test vector.

mod shrink;

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use kvrm_arm64::decode;
use kvrm_gpu::{ClassSelection, SelectionMode};
use kvrm_machine::vectors::{self, Vector};
use kvrm_machine::{Executor, Factory, Image, PAGE_BYTES, Plan, ReferenceEngine, Region};
use kvrm_models::{Architecture, DispatchNetwork, Weights};
use kvrm_testkit::programs;
use kvrm_testkit::random::Random;

use crate::class_selection::{NetworkGpu, SPREADS};
use crate::support::{Gpu, Lane, ONE_LANE_WORKGROUPS, lanes, read};

/// The default number of programs.
const PROGRAMS: u64 = 12_288;
/// The maximum number of programs that run at once.
const LANES: usize = 1024;
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
    let plan = Plan { images: &images, lanes: images.len(), frames_max: 16, calls: None };
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
    if a.dirty != b.dirty {
        return Some(format!("pages written: {:x?} on the GPU, {:x?} on the reference", a.dirty, b.dirty));
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

fn env_number(name: &str, default: u64) -> u64 {
    let parse =
        |text: String| text.parse().unwrap_or_else(|_| panic!("{name} is {text:?}; expected a number"));
    env::var(name).map_or(default, parse)
}

/// Returns the random program of a seed.
fn program(seed: u64) -> Vector {
    programs::random(&format!("program {seed}"), LENGTH, STEPS, &mut Random::new(seed))
}

/// Returns whether a program uses SIMD registers.
fn has_simd(program: &Vector) -> bool {
    program.machine_features().fp
}

/// Compares the wanted ones of `count` programs with the reference. Batches take turns on the engines.
fn compare_with_reference(count: u64, engines: &[&dyn Factory], is_wanted: fn(&Vector) -> bool) {
    let first = env_number("KVRM_SEED", 0);
    let mut by_features: BTreeMap<Vec<String>, Vec<Vector>> = BTreeMap::new();
    for program in (first..first + count).map(program).filter(is_wanted) {
        by_features.entry(program.features.clone()).or_default().push(program);
    }
    for programs in by_features.into_values() {
        for (programs, engine) in programs.chunks(LANES).zip(engines.iter().cycle()) {
            let differences = |programs: &[Vector]| differences(programs, *engine);
            let found = differences(programs);
            let failed = found.iter().flatten().count();
            if let Some(index) = found.iter().position(Option::is_some) {
                let first = shrink::report(&programs[index], &differences);
                panic!("{failed} of {} programs differ; the first one:\n{first}", programs.len());
            }
        }
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn random_programs_end_as_on_the_reference() {
    compare_with_reference(env_number("KVRM_PROGRAMS", PROGRAMS), &[&Gpu, &ONE_LANE_WORKGROUPS], |_| true);
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
    for (selection, bounds) in [
        (ClassSelection::new(SelectionMode::Network), shared),
        (ClassSelection::new(SelectionMode::Network), alone),
        (ClassSelection::new(SelectionMode::MemoWord), shared),
        (zeros(SelectionMode::Network), shared),
        (zeros(SelectionMode::Network), alone),
        (zeros(SelectionMode::MemoDomain), shared),
    ] {
        let count = env_number("KVRM_PROGRAMS", PROGRAMS) / 24;
        compare_with_reference(count, &[&NetworkGpu { selection, bounds }], |program| !has_simd(program));
    }
    // Software drivers take long to compile the kernels with SIMD registers, so only one of these is tested.
    let asking = NetworkGpu { selection: zeros(SelectionMode::Network), bounds: shared };
    compare_with_reference(env_number("KVRM_PROGRAMS", PROGRAMS) / 24, &[&asking], has_simd);
}

#[test]
fn failing_programs_are_shrunk_and_written_as_vectors() {
    // Simulates an engine on which EOR does nothing.
    let is_broken = |word: u32| decode(word).is_some_and(|op| op.encoding().mnemonic == "eor");
    let broken = |programs: &[Vector]| {
        let mut others = programs.to_vec();
        for word in others.iter_mut().flat_map(|vector| &mut vector.code).filter(|word| is_broken(word.0)) {
            word.0 = programs::nop();
        }
        differences_from(&run_programs(&others, &ReferenceEngine), programs)
    };
    let programs: Vec<Vector> = (0..64).map(program).filter(|vector| !vector.features.is_empty()).collect();
    let failing = broken(&programs).iter().position(Option::is_some).expect("one in two programs has EOR");
    let (program, report) = (&programs[failing], shrink::report(&programs[failing], &broken));
    let path = report
        .lines()
        .last()
        .and_then(|line| line.strip_prefix("written to "))
        .expect("the report has a path");
    let written = vectors::open(Path::new(path)).expect("the file has vectors");
    assert_eq!(written.len(), 1, "one vector");
    let kept: Vec<_> = written[0].code.iter().filter(|word| word.0 != programs::nop()).collect();
    assert!(kept.iter().any(|word| is_broken(word.0)), "the failing instruction remains:\n{report}");
    assert!(
        kept.len() < 8 && kept.len() < program.code.len(),
        "most other instructions are removed:\n{report}"
    );
    assert!(written[0].run().is_empty(), "the vector has the results of the reference:\n{report}");
}

#[test]
fn most_random_programs_take_many_steps_and_write_memory() {
    // Otherwise `random_programs_end_as_on_the_reference` would test little.
    let programs: Vec<Vector> = (0..512).map(program).collect();
    let outcomes: Vec<ProgramResult> = run_programs(&programs, &ReferenceEngine);
    let count =
        |test: &dyn Fn(&ProgramResult) -> bool| outcomes.iter().filter(|outcome| test(outcome)).count();
    let long = count(&|outcome| outcome.lane.cpu.steps >= 20);
    let writing = count(&|outcome| outcome.lane.dirty.len() > 1);
    let own_code = (0..programs.len())
        .filter(|&n| outcomes[n].lane.dirty.contains(&(programs[n].pc.0 & !(PAGE_BYTES as u64 - 1))))
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
