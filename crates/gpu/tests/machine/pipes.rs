//! Pipes that the device reads and writes without the host.

use kvrm_gpu::Bounds;
use kvrm_machine::{Builder, Machine, ReferenceEngine, Stop, Stream};
use kvrm_testkit::calls::{self, Call, DATA, END, RESULTS, TEXT, WRITE};
use kvrm_testkit::guests::linux_guest;
use kvrm_testkit::random::Random;

use crate::support::{
    BoundedGpu, Gpu, LOOP_LIMIT, ONE_LANE_WORKGROUPS, PAGE, assert_same_machines, cuts_off_loops,
};

const READ: u64 = 63;
const PIPE2: u64 = 59;
/// The descriptors of the first pipe of a process.
const ENDS: [u64; 2] = [3, 4];

/// Returns a builder of the guest `pipes`. Each lane has another seed.
fn pipes(lanes: usize, numbers: &'static str) -> Builder<'static> {
    let arguments = |lane: usize| {
        std::iter::once(format!("{}", lane + 1)).chain(numbers.split(' ').map(str::to_owned)).collect()
    };
    Machine::builder(linux_guest("pipes")).lanes(lanes).arguments(arguments)
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn random_transfers_have_the_results_of_the_reference() {
    // Pipes of up to 12,000 bytes, and pipes that get full.
    for (numbers, quantum) in [("80 20 5 12000", 20_000), ("60 8 5 65536", 700)] {
        let build = |builder: Builder<'static>| {
            let schedule = |lane: usize| (lane > 2).then_some(lane as u64);
            builder.quantum(quantum).schedule(schedule).build().expect("the guest fits")
        };
        let mut gpu = build(pipes(5, numbers).engine(Gpu));
        let mut reference = build(pipes(5, numbers));
        let expected = reference.run(u64::MAX).expect("the reference works");
        let report = gpu.run(u64::MAX).expect("the GPU works");
        assert_eq!((report.steps, &report.stops), (expected.steps, &expected.stops), "with {numbers}");
        assert_eq!(
            (report.services, report.frames, &report.unknown_calls),
            (expected.services, expected.frames, &expected.unknown_calls),
            "with {numbers}"
        );
        let lanes = assert_same_machines(&mut gpu, &mut reference, numbers);
        assert!(lanes.iter().all(|(lane, _)| lane.stop == Some(Stop::Exit { code: 0 })), "all lanes end");
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn pipes_are_part_of_snapshots() {
    let build = |builder: Builder<'static>| builder.quantum(2000).build().expect("the guest fits");
    let numbers = "150 8 10 30000";
    let mut machines = [build(pipes(4, numbers).engine(Gpu)), build(pipes(4, numbers))];
    for machine in &mut machines {
        for (steps, lanes) in [(20_000, &[0, 2][..]), (50_000, &[1, 2, 3]), (70_111, &[0, 3])] {
            machine.run(steps).expect("the engine works");
            machine.snapshot().expect("the engine works");
            machine.run(steps / 2).expect("the engine works");
            machine.reset(lanes).expect("the machine has a snapshot");
            machine.run(steps / 3).expect("the engine works");
            machine.reset(..).expect("the machine has a snapshot");
            machine.run(steps / 3 + 77).expect("the engine works");
        }
    }
    let [gpu, reference] = &mut machines;
    assert_same_machines(gpu, reference, "after resets");
    machines.iter_mut().for_each(|machine| drop(machine.run(u64::MAX).expect("the engine works")));
    let [gpu, reference] = &mut machines;
    assert_same_machines(gpu, reference, "at the end");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn pipes_go_on_on_another_engine() {
    let numbers = "150 8 10 30000";
    let mut reference = pipes(3, numbers).build().expect("the guest fits");
    reference.run(u64::MAX).expect("the reference works");
    let mut machine = pipes(3, numbers).engine(Gpu).build().expect("the guest fits");
    let mut has_left_bytes = false;
    for steps in [20_000, 20_001, 60_007] {
        machine.run(steps).expect("the GPU works");
        let mut saved = Vec::new();
        machine.save(&mut saved).expect("the machine can be saved");
        let mut copy = Machine::load(&saved[..], ReferenceEngine, None).expect("it is a saved machine");
        copy.run(u64::MAX).expect("the reference works");
        assert_same_machines(&mut copy, &mut reference, "from a saved machine");
        let mut fork = machine.fork(1, 2).expect("the GPU works");
        fork.run(u64::MAX).expect("the GPU works");
        let output =
            |machine: &Machine, lane| machine.output(lane, Stream::Output).expect("it exists").to_vec();
        let (all, before) = (output(&reference, 1), output(&machine, 1));
        assert_eq!([&before[..], &output(&fork, 1)].concat(), all, "the output of a fork");
        has_left_bytes |= before.len() < all.len();
    }
    assert!(has_left_bytes, "the guest had not ended");
    machine.run(u64::MAX).expect("the GPU works");
    assert_same_machines(&mut machine, &mut reference, "after it was saved");
}

/// Builds a machine whose lanes make the calls of their tables, and runs it.
fn run_calls(builder: Builder<'_>, all: &[Vec<Call>]) -> (Machine, kvrm_machine::Report) {
    let mut machine = builder.lanes(all.len()).build().expect("the program fits");
    for (lane, calls) in all.iter().enumerate() {
        calls::prepare(&mut machine, lane, calls, 0).expect("the engine works");
    }
    let report = machine.run(u64::MAX).expect("the engine works");
    (machine, report)
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn transfers_take_few_dispatches() {
    let [reader, writer] = ENDS;
    let mut all = vec![(PIPE2, [DATA + 3 * PAGE + 0x800, 0, 0])];
    for at in 0..150 {
        all.push((WRITE, [writer, TEXT + at, 64]));
        all.push((READ, [reader, TEXT + 0x1000 + at, 100]));
    }
    for engine in [Gpu.into_bounded(), ONE_LANE_WORKGROUPS] {
        let (mut gpu, report) =
            run_calls(Machine::builder(calls::caller()).engine(engine), &vec![all.clone(); 3]);
        assert_eq!(report.services, 3 * (all.len() as u64 + 1), "all calls are counted, and the exit");
        // The host serves the first transfers. The other calls do not end a dispatch.
        let most = if cuts_off_loops() { 60 } else { 25 };
        assert!(report.dispatches < most, "{} dispatches", report.dispatches);
        let (mut reference, _) = run_calls(Machine::builder(calls::caller()), &vec![all.clone(); 3]);
        assert_same_machines(&mut gpu, &mut reference, "after short transfers");
    }
}

impl Gpu {
    /// Returns the engine in the type of engines with bounds.
    const fn into_bounded(self) -> BoundedGpu {
        BoundedGpu(Bounds::NONE)
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn buffers_at_the_ends_of_memory_and_frames() {
    let [reader, writer] = ENDS;
    let mut random = Random::new(5);
    let mut calls_of = || {
        let mut all = vec![(PIPE2, [RESULTS + 0x1800, 0, 0])];
        for _ in 0..110 {
            let size = [1, 7, 8, 9, 63, 300, 1024, 1025, 4095, 4096, 4097][random.below(11) as usize];
            let place = match random.below(4) {
                0 => END - random.below(200),
                1 => END - PAGE - random.below(100),
                _ => TEXT + random.below(1500),
            };
            let descriptor = [reader, writer, writer, reader, 77][random.below(5) as usize];
            // An empty pipe would be waited for.
            let number = if descriptor == reader { READ } else { WRITE };
            all.push((number, [descriptor, place, size]));
        }
        // Another end, so that reads of an empty pipe fail.
        all.insert(1, (25, [reader, 4, 0o4000]));
        all.insert(2, (25, [writer, 4, 0o4000]));
        all
    };
    let all: Vec<Vec<Call>> = (0..24).map(|_| calls_of()).collect();
    // With few frames, some lanes stop before a read that would write another page.
    let few_iterations = BoundedGpu(Bounds { slice_steps: Some(40), loop_limit: LOOP_LIMIT, ..Bounds::NONE });
    for (frames, engines) in [
        (64, &[Gpu.into_bounded(), ONE_LANE_WORKGROUPS, few_iterations][..]),
        (5, &[Gpu.into_bounded()]),
        (4, &[ONE_LANE_WORKGROUPS]),
    ] {
        let build = || Machine::builder(calls::caller()).frames_max(frames);
        let (mut reference, expected) = run_calls(build(), &all);
        for engine in engines.iter().cloned() {
            let (mut gpu, report) = run_calls(build().engine(engine), &all);
            assert_eq!((&report.stops, report.services), (&expected.stops, expected.services), "{frames}");
            assert_same_machines(&mut gpu, &mut reference, &format!("with {frames} frames"));
        }
    }
}
