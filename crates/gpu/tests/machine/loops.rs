//! Loops whose iterations are executed at once.

use std::ops::ControlFlow;
use std::slice::from_ref;
use std::sync::Arc;

use kvrm_gpu::GpuEngine;
use kvrm_gpu::loop_advice::{LoopMode, NetworkAdvisor};
use kvrm_learn::Learning;
use kvrm_machine::{Cpu, Factory as _, Loops, Machine, Plan, Program, ReferenceEngine, Register};
use kvrm_testkit::loops::memory::{image, lane};
use kvrm_testkit::loops::{any_loop, passes};
use proptest::strategy::{BoxedStrategy, Strategy, ValueTree as _};
use proptest::test_runner::TestRunner;

use crate::support::{EnginePair, Gpu};

/// The number of random loops, and the number of lanes that begin with different registers.
const LOOPS: usize = 60;
const LANES: usize = 12;

fn sample<S: Strategy>(strategy: &S, runner: &mut TestRunner) -> S::Value {
    strategy.new_tree(runner).expect("no value is rejected").current()
}

/// Runs random loops in lanes with different registers, and compares them with the reference. Returns the numbers of attempts to
/// execute iterations at once and of those that did.
fn compare(any_loop: &BoxedStrategy<Vec<u32>>, number: usize, loops: impl Fn() -> Loops) -> (u64, u64) {
    let mut runner = TestRunner::deterministic();
    let any_lane = lane().boxed();
    let (mut attempts, mut commits) = (0, 0);
    for number in 0..number {
        let words = sample(any_loop, &mut runner);
        let image = image(&words);
        let loops = loops();
        let frames_max = [100, 100, 4][number % 3];
        let plan = Plan { images: from_ref(&image), lanes: LANES, frames_max, calls: None, loops: None };
        let reference = ReferenceEngine.executor(&plan).expect("the lanes fit");
        let gpu = Gpu.executor(&Plan { loops: Some(&loops), ..plan }).expect("the lanes fit");
        let mut pair = EnginePair { gpu, reference };
        let starts: Vec<Cpu> = (0..LANES).map(|_| sample(&any_lane, &mut runner)).collect();
        for (lane, start) in starts.iter().enumerate() {
            pair.change_registers(lane, |cpu| cpu.clone_from(start));
        }
        for budget in [1_500, 3_000, 7_001, 20_000] {
            pair.run(budget);
            pair.assert_same(&format!("loop {number}, {budget} more steps"));
        }
        let violations = pair.gpu.audit().expect("the GPU works");
        assert!(violations.is_empty(), "{violations:?}");
        let report = loops.report();
        attempts += report.attempts;
        commits += report.commits;
    }
    (attempts, commits)
}

#[test]
fn random_loops_end_as_on_the_reference() {
    let (attempts, commits) = compare(&any_loop().boxed(), LOOPS, Loops::checker);
    assert!(commits > 50, "only {commits} of {attempts} attempts");
}

#[test]
fn random_passes_end_as_on_the_reference() {
    let (attempts, commits) = compare(&passes().boxed(), LOOPS / 2, Loops::checker);
    assert!(commits > 30, "only {commits} of {attempts} attempts");
}

#[test]
fn no_result_depends_on_what_networks_say() {
    let device = GpuEngine::open(None).expect("there is a GPU").device().clone();
    let builtin = || NetworkAdvisor::builtin().expect("the weights are there").asked_after(0);
    let advisors = [
        ("networks", LOOPS / 5, builtin().with_device(&device)),
        ("random", LOOPS / 5, NetworkAdvisor::random(1).expect("the weights are small").asked_after(0)),
        // Few loops that the networks do not propose can be executed at once.
        ("adversarial", LOOPS, builtin().adversarial()),
    ];
    for (mode, number, advisor) in advisors {
        let advisor = Arc::new(advisor);
        let loops = || Loops::advised_at_once("test", Arc::clone(&advisor));
        let (attempts, commits) = compare(&any_loop().boxed(), number, loops);
        assert!(commits > 0, "{mode}: none of {attempts} attempts");
    }
    // In the background, lanes go on until there is advice.
    let advisor = Arc::new(builtin());
    compare(&any_loop().boxed(), LOOPS / 10, || Loops::advised("test", Arc::clone(&advisor)));
}

/// Countdowns that begin with 2^17 and what x4 adds, and each with 7,919 more than the one before, up to x2.
const COUNTDOWNS: &str = "
    mov x1, #0x20000
    add x1, x1, x4
again:
    mov x0, x1
inner:
    subs x0, x0, #1
    b.ne inner
    mov x3, #7919
    add x1, x1, x3
    cmp x1, x2
    b.lo again
    hlt #0
";

/// Runs countdowns in lanes with different numbers, and returns the steps and the values of x1.
fn count_down(loops: Option<Loops>) -> [Vec<u64>; 2] {
    let program = Program::assemble(0x1000, COUNTDOWNS).expect("it has an entry");
    let mut machine = Machine::builder(program).engine(Gpu).lanes(8).loops(loops).build().expect("they fit");
    let numbers = |number: fn(u64) -> u64| -> Vec<u64> { (0..8).map(number).collect() };
    machine.set_registers(.., Register::X(4), &numbers(|lane| 513 * lane)).expect("the lanes exist");
    let limits = numbers(|lane| 0x20000 + (8 + lane) * 7_919);
    machine.set_registers(.., Register::X(2), &limits).expect("the lanes exist");
    machine.run(u64::MAX).expect("the GPU works");
    [Register::Steps, Register::X(1)].map(|register| machine.registers(register).expect("the lanes exist"))
}

#[test]
fn what_the_iteration_predictor_learns_changes_no_result() {
    let device = GpuEngine::open(None).expect("there is a GPU").device().clone();
    let learning = Learning::new(3);
    let advisor = || NetworkAdvisor::builtin().expect("the weights are there").asked_after(0);
    let networks = |advisor| Some(LoopMode::Networks.advised_by(advisor, Some(&device)));
    let expected = count_down(None);
    assert_eq!(count_down(networks(advisor())), expected, "without learning");
    let loops = networks(advisor().with_learning(&learning));
    assert_eq!(count_down(loops.clone()), expected, "with learning");
    let report = loops.expect("it was made").report();
    assert!(report.credited_steps > 0, "iterations are executed at once: {report}");
    let learned = learning.iterations().expect("the engine has begun with the predictor");
    assert!(learned.heard > 32 && learned.rounds > 0, "the learner hears of the countdowns: {learned}");
    let weights = learning.weights().expect("weights of a network");
    assert_eq!(weights.len(), 1, "of the iteration predictor");
    let again = advisor().with_weights(&weights[0]).expect("weights of the predictor");
    assert_eq!(count_down(networks(again)), expected, "with the weights that were learned");
    // No other machine learns from the same learning.
    let other = networks(advisor().with_learning(&learning));
    assert_eq!((count_down(other), learning.iterations()), (expected, Some(learned)), "a second one");
}

/// ldur w3, [sp, #-16]; cbz w3 to it: the loop has no end, so its observer has to be able to end it.
#[test]
fn an_endless_loop_asks_its_observer_again_and_again() {
    let program = Program::from_code(0x1000, &[0xb85f_03e3, 0x34ff_ffe3]).expect("it has an entry");
    let machine = Machine::builder(program).engine(Gpu).loops(Loops::checker());
    let mut machine = machine.build().expect("the lane fits");
    let mut asked = 0;
    let report = machine.run_with(u64::MAX, |_| {
        asked += 1;
        if asked < 5 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    let report = report.expect("the GPU works");
    assert_eq!(asked, 5, "the loop goes on");
    assert!(report.steps > 1 << 32, "{} steps are not executed at once", report.steps);
}
