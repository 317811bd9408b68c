//! Tests that several runs with small budgets end in the same state as one run.

use std::collections::BTreeSet;

use kvrm_arm64::encoding::ENCODINGS;
use kvrm_arm64::{Class, Encoding};
use kvrm_machine::{Builder, Features, Machine, Stop};
use kvrm_testkit::guests::{FP_GUESTS, GUESTS, features, guest};
use kvrm_testkit::random::Random;
use kvrm_testkit::words;
use proptest::prelude::*;

use crate::support::{CODE, Lane, lane, raw};

/// Runs with a budget of `slice` until lane 0 has another stop. Returns the steps and services of all reports.
fn run_in_slices(machine: &mut Machine, slice: u64) -> (u64, u64) {
    let (mut steps, mut services) = (0, 0);
    loop {
        let before = machine.cpu(0).unwrap().steps;
        let report = machine.run(slice).unwrap();
        steps += report.steps;
        services += report.services;
        let after = machine.cpu(0).unwrap().steps;
        assert_eq!(report.steps, after - before, "a report counts the steps of its run");
        if machine.stop(0).unwrap() != Some(Stop::Budget) {
            assert!(after - before <= slice, "{} steps of a budget of {slice}", after - before);
            return (steps, services);
        }
        assert_eq!(after - before, slice, "a run that ends for its budget has used all of it");
    }
}

#[test]
fn every_guest_ends_the_same_in_slices_of_any_length() {
    for (name, size) in GUESTS.into_iter().chain(FP_GUESTS) {
        let builder = || -> Builder<'static> {
            let arguments = move |_| vec![size.to_owned(), "7".to_owned()];
            Machine::builder(guest(name)).features(features(name)).arguments(arguments)
        };
        let mut whole = builder().build().unwrap();
        let report = whole.run(u64::MAX).unwrap();
        let expected = lane(&mut whole, 0);
        assert_eq!(expected.stop, Some(Stop::Exit { code: 0 }), "{name} passes its own check");
        assert!(expected.output.ends_with(" ok\n"), "{name} reports success: {}", expected.output);
        assert_eq!(report.steps, expected.cpu.steps, "steps of {name}");
        assert!(report.steps < 200_000, "{name} is short enough to be run step by step");
        for slice in [1, 7, 1000, report.steps - 1, report.steps] {
            let mut sliced = builder().build().unwrap();
            let sums = run_in_slices(&mut sliced, slice);
            assert_eq!(sums, (report.steps, report.services), "steps and calls of {name} by {slice}");
            assert_eq!(lane(&mut sliced, 0), expected, "{name} in slices of {slice}");
        }
    }
}

#[test]
fn a_budget_of_zero_runs_nothing() {
    let mut machine = Machine::builder(raw(|a| {
        a.hlt(0xf000);
    }))
    .build()
    .unwrap();
    for _ in 0..3 {
        let report = machine.run(0).unwrap();
        assert_eq!((report.steps, report.services), (0, 0), "nothing is run or served");
        assert_eq!(machine.stop(0).unwrap(), Some(Stop::Budget), "the lane stops for its budget");
        assert_eq!(machine.cpu(0).unwrap().pc, CODE, "the pc has not changed");
    }
}

/// Returns the encodings for random programs. Branches and stops are rare, so that programs do not end at once.
fn encodings() -> Vec<&'static Encoding> {
    let often = ENCODINGS.iter().filter(|row| !matches!(row.class, Class::Branch | Class::System));
    often.cycle().take(4 * ENCODINGS.len()).chain(ENCODINGS).collect()
}

/// Returns a machine with a random program of 256 words in a loop. Registers often point into its memory.
fn random_machine(seed: u64) -> Machine {
    let mut random = Random::new(seed);
    let encodings = encodings();
    let program = raw(|a| {
        let start = a.label();
        a.bind(start);
        for _ in 0..255 {
            let encoding = random.pick(&encodings);
            let word = words::allocated(encoding, &mut random);
            a.word(word);
        }
        a.b(start);
    });
    let prepare = move |lane: &mut kvrm_machine::LaneSetup<'_>| {
        let mut random = Random::new(!seed);
        for n in 0..31 {
            let pointer = CODE + random.below(0x1_0000);
            lane.set_x(n, if random.below(4) == 0 { random.bits() } else { pointer });
        }
    };
    Machine::builder(program).features(Features::ALL).heap_bytes(0).prepare(prepare).build().unwrap()
}

/// Runs for `total` steps with the budgets that `next` returns, and continues after each stop at the next instruction.
fn run_on(machine: &mut Machine, total: u64, mut next: impl FnMut() -> u64) -> (Vec<Stop>, Lane) {
    let mut stops = Vec::new();
    let mut random = Random::new(0);
    while stops.len() < 1000 {
        let steps = machine.cpu(0).unwrap().steps;
        if steps == total {
            break;
        }
        machine.run(next().min(total - steps)).unwrap();
        let stop = machine.stop(0).unwrap().expect("a run ends in a stop");
        if stop == Stop::Budget {
            continue;
        }
        stops.push(stop);
        let mut cpu = machine.cpu(0).unwrap();
        let next = (cpu.pc & !3).wrapping_add(4);
        cpu.pc = if (CODE..CODE + 1024).contains(&next) { next } else { CODE };
        // Make some registers point to memory again.
        for n in 0..31 {
            if random.below(4) == 0 {
                cpu.set_x(n, CODE + random.below(0x1_0000));
            }
        }
        machine.set_cpu(0, &cpu).unwrap();
        machine.resume(0).unwrap();
    }
    (stops, lane(machine, 0))
}

#[test]
fn most_random_programs_run_for_long_stop_often_and_write_memory() {
    // Otherwise the property test below would check little.
    let runs: Vec<_> = (0..320).map(|seed| run_on(&mut random_machine(seed), 5000, || u64::MAX)).collect();
    assert!(runs.iter().filter(|(_, lane)| lane.cpu.steps > 1000).count() > 160, "steps");
    assert!(runs.iter().filter(|(_, lane)| lane.private_pages.len() > 3).count() > 160, "pages");
    let kinds: BTreeSet<&str> = runs.iter().flat_map(|(stops, _)| stops).map(Stop::name).collect();
    assert_eq!(Vec::from_iter(kinds), ["breakpoint", "fault", "halt", "syscall", "undefined"], "stops");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn random_programs_end_the_same_in_slices_of_any_lengths(seed in any::<u64>(), longest in 1..50u64) {
        let total = 5000;
        let mut random = Random::new(seed);
        let expected = run_on(&mut random_machine(seed), total, || u64::MAX);
        for slice in [1, 7, 1000] {
            prop_assert_eq!(&run_on(&mut random_machine(seed), total, || slice), &expected);
        }
        let irregular = run_on(&mut random_machine(seed), total, || 1 + random.below(longest));
        prop_assert_eq!(irregular, expected);
    }
}
