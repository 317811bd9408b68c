//! Loops whose iterations are executed at once.

use std::slice::from_ref;

use kvrm_machine::{Cpu, Factory as _, Loops, Plan, ReferenceEngine};
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

#[test]
fn random_loops_end_as_on_the_reference() {
    end_as_on_the_reference(&any_loop().boxed(), LOOPS);
}

#[test]
fn random_passes_end_as_on_the_reference() {
    end_as_on_the_reference(&passes().boxed(), LOOPS / 2);
}

fn end_as_on_the_reference(any_loop: &BoxedStrategy<Vec<u32>>, loops: usize) {
    let mut runner = TestRunner::deterministic();
    let any_lane = lane().boxed();
    let (mut attempts, mut commits) = (0, 0);
    for number in 0..loops {
        let words = sample(any_loop, &mut runner);
        let image = image(&words);
        let loops = Loops::checker();
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
    assert!(commits > loops as u64, "only {commits} of {attempts} attempts");
}
