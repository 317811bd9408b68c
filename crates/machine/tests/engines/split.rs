//! Tests of lanes that are divided among several engines: everything is as on one engine.

use std::mem;
use std::num::NonZeroU32;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kvrm_arm64::asm::{X0, X1};
use kvrm_machine::{
    AddressSpace, Builder, Cpu, Error, Executor, Factory, Fork, Hooks, Interpreter, Machine, Plan, Reference,
    ReferenceEngine, Register, Report, Runner, SplitEngine, Stop, Stream,
};
use kvrm_testkit::calls::{self, GETRANDOM, RESULTS, TEXT};
use kvrm_testkit::executor_calls;
use kvrm_testkit::guests::guest;
use kvrm_testkit::images::busy;
use kvrm_testkit::lanes::{self, LaneWithOutputs};
use kvrm_testkit::random::Random;
use proptest::prelude::*;

use crate::support::{CODE, RecordingEngine, raw};

fn weight(weight: u32) -> NonZeroU32 {
    NonZeroU32::new(weight).expect("weights are positive")
}

/// Returns an engine that divides lanes among several references.
fn split(weights: &[u32]) -> SplitEngine {
    let (first, others) = weights.split_first().expect("there is an engine");
    let first = SplitEngine::new(ReferenceEngine, weight(*first));
    others.iter().fold(first, |engine, other| engine.and(ReferenceEngine, weight(*other)))
}

/// Returns an engine of two engines that record their calls, with as many lanes each.
fn recording() -> (SplitEngine, [RecordingEngine; 2]) {
    let engines = [RecordingEngine::default(), RecordingEngine::default()];
    let [first, second] = engines.clone();
    (SplitEngine::new(first, weight(1)).and(second, weight(1)), engines)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn all_calls_have_the_results_of_one_engine(
        weights in prop::collection::vec(1..5_u32, 1..5),
        lanes in 1..12_usize,
        seed in any::<u64>(),
    ) {
        executor_calls::check(&split(&weights), lanes, 40, &mut Random::new(seed));
    }
}

/// The report of a run without its time, the lanes after it, and what a console of the caller was given.
type Seen = (Report, Vec<LaneWithOutputs>, Vec<(usize, Stream, Vec<u8>)>);

/// Runs lanes that make random system calls, each another number of them, from the start and once more after a reset of every
/// other lane.
fn run_callers(engine: SplitEngine, lanes: usize, has_console: bool, seed: u64) -> [Seen; 2] {
    let console = Arc::new(Mutex::new(Vec::new()));
    let mut builder = Machine::builder(calls::caller()).engine(engine).lanes(lanes);
    if has_console {
        let console = Arc::clone(&console);
        builder = builder.console(move |lane, stream, bytes| {
            console.lock().unwrap().push((lane, stream, bytes.to_vec()));
        });
    }
    let mut machine = builder.build().expect("the lanes fit");
    let (heap, mut random) = (machine.layout().heap.clone(), Random::new(seed));
    for lane in 0..lanes {
        let count = random.below(12);
        let calls: Vec<_> = (0..count).map(|_| calls::random(&mut random, &heap)).collect();
        calls::prepare(&mut machine, lane, &calls, random.below(256)).expect("the engine works");
    }
    machine.set_hooks(Hooks::new().system_call(calls::PRCTL as u32)).expect("the engine works");
    machine.snapshot().expect("the engine works");
    [1, 2].map(|step| {
        let reset: Vec<usize> = (0..lanes).step_by(step).collect();
        machine.reset(&reset).expect("there is a snapshot");
        let mut report = machine.run(u64::MAX).expect("the engine works");
        // Lanes that a filter has stopped before a call make it.
        while machine.resume_hooked().expect("the engine works") > 0 {
            machine.run(u64::MAX).expect("the engine works");
        }
        report.wall = Duration::ZERO;
        let seen = lanes::of_machine(&mut machine).expect("the engine works");
        (report, seen, mem::take(&mut *console.lock().unwrap()))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    /// Parts go through their rounds independently, unless the caller has a console.
    #[test]
    fn system_calls_have_the_results_of_one_engine(
        weights in prop::collection::vec(1..5_u32, 2..5),
        lanes in 1..12_usize,
        has_console in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let seen = run_callers(split(&weights), lanes, has_console, seed);
        let [first, again] = &seen;
        prop_assert_eq!(&first.1, &again.1, "lanes that were reset end as before");
        prop_assert_eq!(seen, run_callers(split(&[1]), lanes, has_console, seed));
    }
}

#[test]
fn guests_and_their_reports_are_the_same() {
    let builder = || -> Builder<'static> {
        let arguments = |lane: usize| vec!["20".to_owned(), lane.to_string()];
        Machine::builder(guest("quicksort")).lanes(7).arguments(arguments)
    };
    let mut one = builder().build().expect("the guest fits");
    let mut several = builder().engine(split(&[2, 1, 1])).build().expect("the guest fits");
    let expected = one.run(u64::MAX).expect("the engine works");
    let mut report = several.run(u64::MAX).expect("the engine works");
    report.wall = expected.wall;
    assert_eq!(report, expected, "the reports");
    let [seen, expected] =
        [&mut several, &mut one].map(|machine| lanes::of_machine(machine).expect("the engine works"));
    assert_eq!(seen, expected, "the lanes and their output");
}

#[test]
fn a_fork_of_a_single_lane_uses_all_engines() {
    let (engine, engines) = recording();
    let program = raw(busy);
    let mut machine = Machine::builder(program).engine(engine).build().expect("the lane fits");
    assert_eq!(machine.lanes(), 1, "a single lane");
    let mut fork = machine.fork_with(0, Fork::new(6)).expect("the lanes fit");
    engines.iter().for_each(|engine| engine.log().prefetched.clear());
    fork.read_all(CODE, 4).expect("the memory is mapped");
    fork.private_pages(5).expect("the engine works");
    let error = {
        engines[1].log().fails_after = Some(0);
        fork.private_pages(5).expect_err("the second engine has the last lane")
    };
    assert!(matches!(error, Error::Engine(_)), "{error}");
    fork.private_pages(0).expect("the first engine has the first lane");
}

#[test]
fn random_numbers_follow_from_the_number_of_the_lane() {
    // An engine that serves such calls itself derives the numbers from the numbers of its lanes, counted from `first_lane`.
    struct FirstLanes(Mutex<Vec<u64>>);
    impl Factory for &'static FirstLanes {
        fn executor(&self, plan: &Plan<'_>) -> Result<Box<dyn Executor>, Error> {
            self.0.lock().unwrap().push(plan.calls.expect("it is a Linux program").first_lane);
            ReferenceEngine.executor(plan)
        }
    }
    let engine: &'static FirstLanes = Box::leak(Box::new(FirstLanes(Mutex::default())));
    let split = SplitEngine::new(engine, weight(1)).and(engine, weight(2));
    let engines: [Box<dyn Factory>; 2] = [Box::new(ReferenceEngine), Box::new(split)];
    let mut results = engines.map(|engine| {
        let mut machine = Machine::builder(calls::caller()).lanes(6).engine(engine).build().expect("it fits");
        for lane in 0..6 {
            calls::prepare(&mut machine, lane, &[(GETRANDOM, [TEXT, 8, 0])], 0).expect("the engine works");
        }
        machine.run(u64::MAX).expect("the engine works");
        assert_eq!(
            machine.read_all(RESULTS, 8).expect("it is mapped"),
            8_u64.to_le_bytes().repeat(6),
            "bytes"
        );
        machine.read_all(TEXT, 8).expect("it is mapped")
    });
    assert_eq!(results[0], results[1], "the random numbers");
    results[0].truncate(16);
    assert_ne!(results[0][..8], results[0][8..], "lanes have different numbers");
    let mut first_lanes = engine.0.lock().unwrap().clone();
    first_lanes.sort_unstable();
    assert_eq!(first_lanes, [0, 2], "the parts know their first lanes");
}

/// The interpreter, with an observer that is called every 10,000 steps of a lane.
#[derive(Clone, Copy, Debug)]
struct ShortTurns;

impl Runner for ShortTurns {
    const ENGINE: &str = "reference";
    const OBSERVED_STEPS: u64 = 1;

    fn run(&mut self, cpu: &mut Cpu, memory: &mut AddressSpace, budget: u64) -> Stop {
        Interpreter.run(cpu, memory, budget)
    }

    fn another(&self) -> Self {
        Self
    }

    fn for_other_code(&self) -> Self {
        Self
    }
}

impl Factory for ShortTurns {
    fn executor(&self, plan: &Plan<'_>) -> Result<Box<dyn Executor>, Error> {
        Ok(Box::new(Reference::with_runners(plan, || Self)?))
    }
}

#[test]
fn an_observer_that_breaks_ends_the_runs_of_all_engines() {
    let builder = || -> Builder<'static> {
        let program = raw(|a| {
            let again = a.label();
            a.bind(again);
            a.add(X0, X0, X1).eor(X1, X1, X0).b(again);
        });
        Machine::builder(program).lanes(5).prepare(|lane| lane.set_x(0, 1 + lane.number() as u64))
    };
    let engine =
        SplitEngine::new(ShortTurns, weight(1)).and(ShortTurns, weight(1)).and(ShortTurns, weight(1));
    let mut several = builder().engine(engine).build().expect("the lanes fit");
    let mut steps = 0;
    let report = several
        .run_with(u64::MAX, |now| {
            assert!(now.steps >= steps, "{now:?} after {steps} steps");
            assert_eq!(now.running, 5, "no lane ever stops");
            steps = now.steps;
            if steps > 200_000 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .expect("the engine works");
    assert!(report.steps >= steps, "{} steps, of which {steps} were seen", report.steps);
    assert_eq!(report.stops["budget"], 5, "all lanes stop");
    // The lanes go on from there, and end where they end on one engine.
    let retired = several.registers(Register::Steps).expect("the engine works");
    let ends: Vec<u64> = (0..).zip(&retired).map(|(lane, steps)| steps + 1000 * lane).collect();
    let mut one = builder().build().expect("the lanes fit");
    let [seen, expected] = [&mut several, &mut one].map(|machine| {
        machine.run_to(&ends, |_| ControlFlow::Continue(())).expect("the engine works");
        lanes::of_machine(machine).expect("the engine works")
    });
    assert_eq!(seen, expected, "several engines on the left");
}

#[test]
fn an_engine_that_fails_in_a_run_leaves_the_others_as_they_are() {
    let (engine, engines) = recording();
    let program = raw(busy);
    let mut machine = Machine::builder(program).lanes(4).engine(engine).build().expect("the lanes fit");
    machine.run(10).expect("both work");
    let before = machine.cpu(3).expect("both work");
    // A run reads the steps and the stops first, and then clears the stops.
    engines[1].log().fails_after = Some(4);
    let error = machine.run(1000).expect_err("the second engine fails");
    assert!(matches!(error, Error::Engine(_)), "{error}");
    engines[1].log().fails_after = None;
    assert_eq!(machine.cpu(3).expect("both work"), before, "the lanes of the second engine are unchanged");
    machine.run(1000).expect("both work");
    for lane in 0..4 {
        assert_eq!(machine.stop(lane).expect("both work"), Some(Stop::Budget), "lane {lane} goes on");
    }
    let steps = machine.registers(Register::Steps).expect("both work");
    assert!(steps[0] >= steps[3] && steps[3] == 1010, "{steps:?}: no steps are lost");
}

#[test]
fn a_change_of_all_engines_is_made_again_where_it_fails_once() {
    let (engine, engines) = recording();
    let images = [kvrm_testkit::images::raw(busy)];
    let plan = Plan { images: &images, lanes: 4, frames_max: 16, calls: None, loops: None };
    let mut executor = engine.executor(&plan).expect("the lanes fit");
    executor.set_registers(Register::X(0), &[0, 1, 2, 3], &[1; 4]).expect("both work");
    for recovers in [true, false] {
        let mut log = engines[1].log();
        (log.fails_after, log.recovers) = (Some(0), recovers);
        drop(log);
        let snapshot = executor.snapshot();
        assert_eq!(snapshot.is_ok(), recovers, "a failure is an error if it lasts: {snapshot:?}");
    }
    engines[1].log().fails_after = None;
    executor.reset(&[0, 3]).expect("both have a snapshot");
}
