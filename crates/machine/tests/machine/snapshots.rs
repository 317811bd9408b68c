//! Tests of snapshots and resets.

use kvrm_machine::{Machine, Stop};
use kvrm_testkit::guests::{FP_GUESTS, GUESTS, features, guest};
use proptest::prelude::*;

use crate::support::{CODE, Lane, lane, raw};

/// Returns the guests, each with its size for a short run.
fn guests() -> impl Iterator<Item = (&'static str, &'static str)> {
    GUESTS.into_iter().chain(FP_GUESTS)
}

/// Returns a machine that runs a guest in lanes with different seeds.
fn machine(name: &str, lanes: usize) -> Machine {
    let (name, size) = guests().find(|(guest, _)| *guest == name).unwrap();
    let arguments = move |lane: usize| vec![size.to_owned(), (lane + 1).to_string()];
    let builder = Machine::builder(guest(name)).features(features(name));
    builder.lanes(lanes).arguments(arguments).build().unwrap()
}

fn lanes(machine: &mut Machine) -> Vec<Lane> {
    (0..machine.lanes()).map(|number| lane(machine, number)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_run_after_a_reset_repeats_the_run_after_the_snapshot(
        index in 0..GUESTS.len() + FP_GUESTS.len(),
        before in 0..30_000u64,
        after in prop::collection::vec(0..30_000u64, 1..4),
    ) {
        let (name, _) = guests().nth(index).unwrap();
        let mut machine = machine(name, 2);
        machine.run(before).unwrap();
        let there = lanes(&mut machine);
        machine.snapshot().unwrap();
        machine.run(u64::MAX).unwrap();
        let end = lanes(&mut machine);
        for steps in after {
            machine.reset(&[0, 1]).unwrap();
            prop_assert_eq!(&lanes(&mut machine), &there, "the reset restores registers, memory, stops and output");
            machine.run(steps).unwrap();
            // Reset from the middle of the second run, then from its end.
            machine.reset(&[1]).unwrap();
            prop_assert_eq!(&lane(&mut machine, 1), &there[1], "the reset restores lane 1");
            machine.run(u64::MAX).unwrap();
            prop_assert_eq!(&lanes(&mut machine), &end, "the end is the same");
        }
    }
}

#[test]
fn a_reset_changes_only_the_lanes_it_names() {
    let mut machine = machine("sieve", 4);
    machine.run(5000).unwrap();
    machine.snapshot().unwrap();
    let there = lanes(&mut machine);
    machine.run(u64::MAX).unwrap();
    let end = lanes(&mut machine);
    machine.reset(&[2, 0, 2]).unwrap();
    let now = lanes(&mut machine);
    assert!(now[0] == there[0] && now[2] == there[2], "lanes 0 and 2 are reset");
    assert!(now[1] == end[1] && now[3] == end[3], "lanes 1 and 3 are not");
    machine.reset(&[]).unwrap();
    assert!(lanes(&mut machine) == now, "a reset of no lanes changes nothing");
}

#[test]
fn a_reset_frees_the_pages_written_since() {
    let mut machine = machine("sieve", 1);
    machine.run(1000).unwrap();
    let before = machine.private_pages(0).unwrap();
    machine.snapshot().unwrap();
    let report = machine.run(u64::MAX).unwrap();
    let after = machine.private_pages(0).unwrap();
    assert_eq!(report.frames, after.len(), "the report counts the pages");
    let are_kept = before.iter().all(|page| after.contains(page));
    assert!(after.len() > before.len() && are_kept, "{before:x?}, then {after:x?}");
    machine.reset(&[0]).unwrap();
    assert_eq!(machine.private_pages(0).unwrap(), before, "only the pages of the snapshot are left");
    assert_eq!(machine.run(0).unwrap().frames, before.len(), "the report counts the pages of the snapshot");
}

#[test]
fn a_later_snapshot_replaces_an_earlier_one() {
    let mut machine = machine("mix", 1);
    for steps in [100, 7000, 0, 9000] {
        machine.run(steps).unwrap();
        machine.snapshot().unwrap();
        let there = lane(&mut machine, 0);
        machine.run(1000).unwrap();
        assert!(lane(&mut machine, 0) != there, "the lane has run on");
        machine.reset(&[0]).unwrap();
        assert!(lane(&mut machine, 0) == there, "back to the latest snapshot");
    }
}

#[test]
fn console_input_is_read_again_after_a_reset() {
    // The program echoes its input byte by byte with SYS_READC and SYS_WRITEC.
    let program = raw(|a| {
        use kvrm_arm64::asm::{X0, X1, at};
        let again = a.label();
        a.mov(X1, (CODE + 0x100) as i64);
        a.bind(again);
        a.mov(X0, 7).hlt(0xf000).str(X0, at(X1, 0)).mov(X0, 3).hlt(0xf000).b(again);
    });
    let mut machine = Machine::builder(program).input(|_| b"abcdefgh".to_vec()).build().unwrap();
    // One step at the start, then six steps per round.
    machine.run(1 + 3 * 6).unwrap();
    assert_eq!(lane(&mut machine, 0).output, "abc", "three rounds");
    machine.snapshot().unwrap();
    machine.run(4 * 6).unwrap();
    assert_eq!(lane(&mut machine, 0).output, "abcdefg", "four more rounds");
    machine.reset(&[0]).unwrap();
    assert_eq!(lane(&mut machine, 0).output, "abc", "the reset restores the output of three rounds");
    machine.run(4 * 6).unwrap();
    assert_eq!(lane(&mut machine, 0).output, "abcdefg", "the same four rounds again");
}

#[test]
fn a_reset_restores_the_stop() {
    let program = raw(|a| {
        a.nop().brk(1);
    });
    let mut machine = Machine::builder(program).build().unwrap();
    machine.snapshot().unwrap();
    machine.run(10).unwrap();
    assert_eq!(machine.stop(0).unwrap(), Some(Stop::Breakpoint { imm: 1 }), "the lane has stopped");
    machine.reset(&[0]).unwrap();
    assert_eq!(machine.stop(0).unwrap(), None, "the lane had no stop in the snapshot");
    machine.run(1).unwrap();
    machine.snapshot().unwrap();
    machine.run(10).unwrap();
    machine.reset(&[0]).unwrap();
    assert_eq!(machine.stop(0).unwrap(), Some(Stop::Budget), "the stop of the snapshot");
}
