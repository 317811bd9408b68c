//! System calls that the device serves without the host: each has the result that the host would give.

use kvrm_machine::{Builder, Machine, Report, Stop, Stream};
use kvrm_testkit::calls::{
    self, BRK, CLOCK_GETTIME, Call, DATA, EXECVE, GET_ROBUST_LIST, GETPID, GETRANDOM, PRCTL, PRLIMIT64,
    SET_ROBUST_LIST, TEXT, WRITE,
};
use kvrm_testkit::guests;
use kvrm_testkit::random::Random;

use crate::support::{
    BoundedGpu, CODE, Gpu, ONE_LANE_WORKGROUPS, PAGE, assert_same_machines, cuts_off_loops,
};

/// Builds a machine whose lanes make the calls of their tables. They are not the first lanes of all, which changes their random
/// numbers.
fn caller() -> Builder<'static> {
    Machine::builder(calls::caller()).first_lane(0x1_2345_6789)
}

/// Returns a machine on each of the two GPU engines that serve calls, and one on the reference.
fn machines(lanes: usize) -> [Machine; 3] {
    let build = |builder: Builder<'_>| builder.lanes(lanes).build().expect("the program fits");
    [build(caller().engine(Gpu)), build(caller().engine(ONE_LANE_WORKGROUPS)), build(caller())]
}

/// Makes each lane execute its calls, in runs of `budget` steps. Returns the last report.
fn run_calls(machine: &mut Machine, calls: &[Vec<Call>], budget: u64) -> Report {
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
        let expected = run_calls(reference, &calls, budget);
        assert!(expected.stops["exit"] > LANES / 2, "most lanes exit: {:?}", expected.stops);
        for machine in [gpu, alone] {
            let report = run_calls(machine, &calls, budget);
            assert_eq!(
                (&report.stops, report.frames, &report.unknown_calls, &report.refused_calls),
                (&expected.stops, expected.frames, &expected.unknown_calls, &expected.refused_calls),
                "with seed {seed}"
            );
            if budget == u64::MAX {
                assert_eq!(report.services, expected.services, "services with seed {seed}");
            }
            assert_same_machines(machine, reference, "after random calls");
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
    let report = run_calls(&mut gpu, &vec![calls.clone(); 3], u64::MAX);
    assert_eq!(report.services, 3 * (calls.len() as u64 + 1), "all calls are counted, and the exit");
    // Dispatches end for code to lower and full buffers, but not for each of the 380 calls of a lane. On drivers that cut off
    // loops, slices are shorter.
    let most = if cuts_off_loops() { 40 } else { 20 };
    assert!(report.dispatches < most, "{} dispatches", report.dispatches);
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn programs_that_are_executed_move_the_end_of_their_own_heap() {
    let guests = guests::folder().join("../linux/bin");
    let build = |builder: Builder<'_>| builder.mount(&guests, "/guests").build().expect("the program fits");
    let [mut gpu, mut reference] = [caller().engine(Gpu), caller()].map(build);
    let calls = vec![vec![(BRK, [0; 3]), (EXECVE, [TEXT + PAGE, 0, 0])]];
    let [report, expected] = [&mut gpu, &mut reference].map(|machine| {
        machine.write(0, TEXT + PAGE, b"/guests/memory.elf").expect("the memory is mapped");
        run_calls(machine, &calls, u64::MAX)
    });
    let output = reference.output(0, Stream::Output).expect("the lane exists");
    assert!(output.starts_with(b"more=20580\n"), "the program makes its heap larger");
    assert_eq!((report.steps, report.services), (expected.steps, expected.services), "steps and services");
    assert_same_machines(&mut gpu, &mut reference, "after a program was executed");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn refused_calls_are_counted_as_on_the_host() {
    // socket of the family 0, setxattr, rseq, getpid, io_uring_setup
    let calls = [198, 5, 293, GETPID, 5, 425].map(|number| (number, [0; 3])).to_vec();
    for mut machine in machines(3) {
        let report = run_calls(&mut machine, &vec![calls.clone(); 3], u64::MAX);
        assert_eq!(report.refused_calls, [(198, 3)].into(), "{report}");
        assert_eq!(report.unknown_calls, [(425, 3)].into(), "{report}");
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn a_reset_restores_state_changed_by_calls() {
    let [mut gpu, _, mut reference] = machines(4);
    let heap = gpu.layout().heap.start;
    let calls = vec![(BRK, [heap + 3 * PAGE, 0, 0]), (SET_ROBUST_LIST, [DATA, 24, 0]), (WRITE, [1, TEXT, 5])];
    let more =
        vec![(BRK, [heap + PAGE, 0, 0]), (BRK, [heap + 9 * PAGE, 0, 0]), (GET_ROBUST_LIST, [0, TEXT, TEXT])];
    for machine in [&mut gpu, &mut reference] {
        machine.snapshot().expect("the engine works");
        run_calls(machine, &vec![calls.clone(); 4], u64::MAX);
        machine.write(1, heap + 2 * PAGE, b"there").expect("the heap is mapped");
        machine.reset(&[1, 2]).expect("the machine has a snapshot");
        machine.write(1, heap, b"not there").expect_err("the heap is empty again");
        for lane in [0, 3] {
            // These lanes run again from the beginning, with the state that they have.
            let mut cpu = machine.cpu(lane).expect("the engine works");
            cpu.pc = CODE;
            machine.set_cpu(lane, &cpu).expect("the engine works");
            machine.resume(lane).expect("the engine works");
        }
        run_calls(machine, &vec![more.clone(); 4], u64::MAX);
    }
    assert_same_machines(&mut gpu, &mut reference, "after a reset of some lanes");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn a_console_of_few_bytes_is_emptied_by_the_host() {
    let bounds =
        kvrm_gpu::Bounds { console_bytes: Some(24), slice_steps: Some(50), ..kvrm_gpu::Bounds::NONE };
    let mut gpu = caller().lanes(2).engine(BoundedGpu(bounds)).build().expect("the program fits");
    let mut reference = caller().lanes(2).build().expect("the program fits");
    let calls = (0..60).map(|length| (WRITE, [1 + length % 2, TEXT + length, length])).collect::<Vec<_>>();
    for machine in [&mut gpu, &mut reference] {
        run_calls(machine, &[calls.clone(), calls[..30].to_vec()], u64::MAX);
    }
    assert_same_machines(&mut gpu, &mut reference, "with a small console buffer");
}
