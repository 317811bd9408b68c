//! Tests of runs with an observer.

use std::ops::ControlFlow;

use kvrm_arm64::asm::{X0, X1};
use kvrm_machine::{Machine, RunProgress, Stop};
use kvrm_testkit::guests::guest;

use crate::support::{Lane, lane, raw};

/// Returns a machine in which lane 0 counts X0 down and halts, and all other lanes halt at once. More lanes make slices
/// shorter.
fn counter(count: u64) -> Machine {
    let program = raw(|a| {
        let (again, end) = (a.label(), a.label());
        a.cbz(X0, end);
        a.bind(again);
        a.add(X1, X1, X0).subs(X0, X0, 1).b_cond("ne", again);
        a.bind(end);
        a.hlt(0);
    });
    let prepare = move |lane: &mut kvrm_machine::LaneSetup<'_>| {
        lane.set_x(0, if lane.number() == 0 { count } else { 0 });
    };
    Machine::builder(program).lanes(10_000).prepare(prepare).build().unwrap()
}

#[test]
fn an_observer_that_only_watches_changes_nothing() {
    let (mut plain, mut watched) = (counter(50_000), counter(50_000));
    let expected = plain.run(u64::MAX).unwrap();
    let mut seen: Vec<RunProgress> = Vec::new();
    let report = watched
        .run_with(u64::MAX, |progress| {
            seen.push(*progress);
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(lane(&mut watched, 0), lane(&mut plain, 0), "lane 0");
    assert_eq!((report.steps, &report.stops), (expected.steps, &expected.stops), "the report");
    assert!(seen.len() > 3, "the observer was called several times, {} in all", seen.len());
    assert!(seen.is_sorted_by(|a, b| a.steps < b.steps), "the steps increase");
    assert!(seen.iter().all(|progress| progress.steps <= report.steps && progress.running == 1), "{seen:?}");
}

#[test]
fn lanes_continue_to_the_same_end_after_an_observer_breaks() {
    let mut plain = counter(50_000);
    plain.run(u64::MAX).unwrap();
    let end: Lane = lane(&mut plain, 0);
    let mut machine = counter(50_000);
    let mut breaks = 0;
    loop {
        let before = machine.cpu(0).unwrap().steps;
        let mut last = 0;
        let report = machine
            .run_with(u64::MAX, |progress| {
                last = progress.steps;
                ControlFlow::Break(())
            })
            .unwrap();
        if last == 0 {
            break;
        }
        breaks += 1;
        assert_eq!(machine.stop(0).unwrap(), Some(Stop::Budget), "lane 0 could run on");
        assert_eq!(report.stops.get("budget"), Some(&1), "the report counts the stop");
        assert_eq!(report.steps, last, "steps in that run");
        assert!(machine.cpu(0).unwrap().steps > before, "every run retires steps");
    }
    assert!(breaks > 3, "the observer broke {breaks} times");
    assert_eq!(lane(&mut machine, 0), end, "the end is the same");
}

#[test]
fn a_budget_holds_under_observation() {
    for budget in [0, 1, 9_999, 10_000, 10_001, 123_456] {
        let mut machine = counter(1 << 40);
        machine.run_with(budget, |_| ControlFlow::Continue(())).unwrap();
        assert_eq!(machine.stop(0).unwrap(), Some(Stop::Budget), "a budget of {budget}");
        assert_eq!(machine.cpu(0).unwrap().steps, budget, "the whole budget was used");
    }
}

#[test]
fn runs_of_guests_that_call_services_can_be_observed_and_broken() {
    let builder = || Machine::builder(guest("vm")).arguments(|_| vec!["3".to_owned()]);
    let mut plain = builder().build().unwrap();
    plain.run(u64::MAX).unwrap();
    let mut machine = builder().build().unwrap();
    let mut breaks = 0;
    while !matches!(machine.stop(0).unwrap(), Some(Stop::Exit { .. })) {
        machine
            .run_with(u64::MAX, |_| {
                breaks += 1;
                ControlFlow::Break(())
            })
            .unwrap();
        assert!(breaks < 1000, "every run retires steps");
    }
    assert!(breaks > 0, "an observer is called between services");
    assert_eq!(lane(&mut machine, 0), lane(&mut plain, 0), "the end is the same");
}
