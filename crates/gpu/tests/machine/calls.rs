//! System calls that are served without the host: they are what the host would have made of them, call by call.

use kvrm_machine::{Builder, Machine, Report, Stop};
use kvrm_testkit::calls::{
    self, BRK, CLOCK_GETTIME, Call, DATA, GET_ROBUST_LIST, GETPID, GETRANDOM, PRCTL, PRLIMIT64,
    SET_ROBUST_LIST, TEXT, WRITE,
};
use kvrm_testkit::random::Random;

use crate::support::{ALONE, Bounded, CODE, Gpu, PAGE, same_machines};

/// Makes the calls of its table.
fn caller() -> Builder<'static> {
    Machine::builder(calls::caller())
}

/// A machine on each of the engines that serve calls, and on the reference.
fn machines(lanes: usize) -> [Machine; 3] {
    let build = |builder: Builder<'_>| builder.lanes(lanes).build().expect("the program fits");
    [build(caller().engine(Gpu)), build(caller().engine(ALONE)), build(caller())]
}

/// Has each lane make its calls, in runs of `budget` steps; gives the last report.
fn make(machine: &mut Machine, calls: &[Vec<Call>], budget: u64) -> Report {
    for (lane, calls) in calls.iter().enumerate() {
        calls::prepare(machine, lane, calls, lane as u64 + 0x300).expect("the engine works");
    }
    loop {
        let report = machine.run(budget).expect("the engine works");
        if !report.stops.contains_key("budget") {
            return report;
        }
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn random_calls_are_served_as_on_the_host() {
    const LANES: usize = 32;
    for (seed, budget) in [(1, u64::MAX), (2, 301)] {
        let mut machines = machines(LANES);
        let heap = machines[0].layout().heap.clone();
        let mut random = Random::new(seed);
        let mut calls = || (0..90).map(|_| calls::random(&mut random, &heap)).collect();
        let calls: Vec<Vec<Call>> = (0..LANES).map(|_| calls()).collect();
        let [gpu, alone, reference] = &mut machines;
        let expected = make(reference, &calls, budget);
        assert!(expected.stops["exit"] > LANES / 2, "most lanes come to their end: {:?}", expected.stops);
        for machine in [gpu, alone] {
            let report = make(machine, &calls, budget);
            assert_eq!(
                (&report.stops, report.frames, &report.unknown_calls),
                (&expected.stops, expected.frames, &expected.unknown_calls),
                "with seed {seed}"
            );
            if budget == u64::MAX {
                assert_eq!(report.services, expected.services, "services with seed {seed}");
            }
            same_machines(machine, reference, "after random calls");
            assert_eq!(machine.stop(3).expect("the engine works"), Some(Stop::Exit { code: 3 }), "of lane 3");
        }
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn frequent_calls_take_few_dispatches() {
    let [mut gpu, ..] = machines(3);
    let heap = gpu.layout().heap.start;
    let round = [
        (GETPID, [0; 3]),
        (BRK, [0; 3]),
        (CLOCK_GETTIME, [0, TEXT, 0]),
        (WRITE, [1, TEXT + 100, 40]),
        (SET_ROBUST_LIST, [TEXT, 24, 0]),
        (293, [0; 3]),
        (PRLIMIT64, [0, 3, 0]),
        (PRCTL, [16, TEXT + 8, 0]),
        (GETRANDOM, [TEXT, 8, 1]),
    ];
    let mut calls = round.repeat(40);
    calls.extend((1..20).map(|pages| (BRK, [heap + pages * PAGE, 0, 0])));
    let report = make(&mut gpu, &vec![calls.clone(); 3], u64::MAX);
    assert_eq!(report.services, 3 * (calls.len() as u64 + 1), "all calls are counted, and the exit");
    // Code to lower, and a buffer that is full: 380 calls of a lane do not stop it.
    assert!(report.dispatches < 20, "{} dispatches", report.dispatches);
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn what_lanes_changed_by_themselves_is_reset() {
    let [mut gpu, _, mut reference] = machines(4);
    let heap = gpu.layout().heap.start;
    let calls = vec![(BRK, [heap + 3 * PAGE, 0, 0]), (SET_ROBUST_LIST, [DATA, 24, 0]), (WRITE, [1, TEXT, 5])];
    let more =
        vec![(BRK, [heap + PAGE, 0, 0]), (BRK, [heap + 9 * PAGE, 0, 0]), (GET_ROBUST_LIST, [0, TEXT, TEXT])];
    for machine in [&mut gpu, &mut reference] {
        machine.snapshot().expect("the engine works");
        make(machine, &vec![calls.clone(); 4], u64::MAX);
        let last = machine.write_memory(1, heap + 2 * PAGE, b"there").expect("the engine works");
        last.expect("the heap is mapped");
        machine.reset(&[1, 2]).expect("there is a snapshot");
        let last = machine.write_memory(1, heap, b"not there").expect("the engine works");
        last.expect_err("the heap is as it was");
        for lane in [0, 3] {
            // They go on from the beginning with what they have.
            let mut cpu = machine.cpu(lane).expect("the engine works");
            cpu.pc = CODE;
            machine.set_cpu(lane, &cpu).expect("the engine works");
            machine.resume(lane).expect("the engine works");
        }
        make(machine, &vec![more.clone(); 4], u64::MAX);
    }
    same_machines(&mut gpu, &mut reference, "after a reset of some lanes");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn a_console_of_few_bytes_is_emptied_by_the_host() {
    let bounds =
        kvrm_gpu::Bounds { console_bytes: Some(24), slice_steps: Some(50), ..kvrm_gpu::Bounds::NONE };
    let mut gpu = caller().lanes(2).engine(Bounded(bounds)).build().expect("the program fits");
    let mut reference = caller().lanes(2).build().expect("the program fits");
    let calls = (0..60).map(|length| (WRITE, [1 + length % 2, TEXT + length, length])).collect::<Vec<_>>();
    for machine in [&mut gpu, &mut reference] {
        make(machine, &[calls.clone(), calls[..30].to_vec()], u64::MAX);
    }
    same_machines(&mut gpu, &mut reference, "of little room");
}
