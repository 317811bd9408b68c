//! Lanes that are divided among engines of which some are GPUs: everything is as on the reference.

use std::num::NonZeroU32;
use std::ops::ControlFlow;

use kvrm_gpu::{Bounds, ClassSelection, Device, GpusEngine, RecoveringExecutor, SelectionMode};
use kvrm_jit::JitEngine;
use kvrm_machine::{
    Builder, Executor, Factory, Fork, Machine, Plan, ReferenceEngine, Register, Report, SplitEngine,
};
use kvrm_testkit::calls::{self, BRK, GETPID, GETRANDOM, RESULTS, TEXT};
use kvrm_testkit::executor_calls;
use kvrm_testkit::guests::{guest, linux_guest};
use kvrm_testkit::images::busy;
use kvrm_testkit::random::Random;

use crate::support::{
    BoundedGpu, CODE, Gpu, LaneAndOutput, PAGE, assert_kept, assert_same_machines, device, lanes,
    lock_device, machine_lanes, raw,
};

const ONE: NonZeroU32 = NonZeroU32::MIN;
/// Bounds with slices so short that every run has several.
const SLICES: Bounds = Bounds { slice_steps: Some(64), ..Bounds::NONE };

/// A GPU engine on a device of its own, which recovers from its loss.
#[derive(Clone, Debug)]
struct OwnGpu {
    device: Device,
    slice_steps: u32,
}

impl OwnGpu {
    fn open(slice_steps: u32) -> Self {
        Self { device: Device::open(None).expect("the host has an adapter"), slice_steps }
    }
}

impl Factory for OwnGpu {
    fn executor(&self, plan: &Plan<'_>) -> Result<Box<dyn Executor>, kvrm_machine::Error> {
        let bounds = Bounds { slice_steps: Some(self.slice_steps), ..Bounds::NONE };
        Ok(Box::new(RecoveringExecutor::new(&self.device, plan, &ClassSelection::TABLE, bounds)?))
    }
}

/// Returns an engine on two GPUs, which are the same device.
fn two_gpus() -> GpusEngine {
    GpusEngine::new([device().clone(), device().clone()]).expect("equal devices are not measured")
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn calls_of_mixed_engines_have_the_results_of_the_reference() {
    let jit = || SplitEngine::new(JitEngine::default(), ONE);
    let two = ONE.saturating_add(1);
    let mixed = jit().and(ReferenceEngine, ONE).and(BoundedGpu(SLICES), two).and(Gpu, ONE);
    let gpus = SplitEngine::new(Gpu, two).and(BoundedGpu(SLICES), ONE);
    for seed in 0..6 {
        executor_calls::check(&mixed, 7, 40, &mut Random::new(seed));
        executor_calls::check(&gpus, 5, 40, &mut Random::new(100 + seed));
    }
}

/// Runs a machine to its end, and returns its report without what depends on the engine.
fn run(machine: &mut Machine) -> Report {
    let mut report = machine.run(u64::MAX).expect("the engine works");
    (report.engine, report.device, report.dispatches) = ("".into(), None, 0);
    (report.translation, report.wall) = (None, std::time::Duration::ZERO);
    report
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn guests_on_two_gpus_end_as_on_the_reference() {
    let quicksort = || -> Builder<'static> {
        let arguments = |lane: usize| vec!["20".to_owned(), lane.to_string()];
        Machine::builder(guest("quicksort")).lanes(5).arguments(arguments)
    };
    let linux = || -> Builder<'static> { Machine::builder(linux_guest("memory")).lanes(3) };
    for (name, builder) in [("quicksort", &quicksort as &dyn Fn() -> Builder<'static>), ("memory", &linux)] {
        let mut gpus = builder().engine(two_gpus()).build().expect("the guest fits");
        let mut reference = builder().build().expect("the guest fits");
        assert_eq!(run(&mut gpus), run(&mut reference), "reports of {name}");
        assert_same_machines(&mut gpus, &mut reference, name);
        let again = gpus.run(u64::MAX).expect("the engine works");
        let expected = format!("2 x {}", device().info());
        assert_eq!((&*again.engine, again.device), ("gpu", Some(expected)), "engine and devices");
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn calls_that_a_gpu_serves_depend_on_the_lane_of_the_machine() {
    let mut machines = [
        Machine::builder(calls::caller()).lanes(5).engine(two_gpus()).build().expect("the program fits"),
        Machine::builder(calls::caller()).lanes(5).build().expect("the program fits"),
    ];
    let heap = machines[0].layout().heap.start;
    let list = [
        (GETRANDOM, [TEXT, 8, 0]),
        (BRK, [heap + PAGE, 0, 0]),
        (GETRANDOM, [TEXT + 8, 8, 0]),
        (GETPID, [0; 3]),
    ];
    let results = machines.each_mut().map(|machine| {
        for lane in 0..5 {
            calls::prepare(machine, lane, &list, lane as u64).expect("the engine works");
        }
        let report = run(machine);
        assert_eq!(report.services, 25, "four calls of each lane, and its exit");
        let read = |machine: &mut Machine, address| machine.read_all(address, 16).expect("it is mapped");
        (report, read(machine, TEXT), read(machine, RESULTS))
    });
    assert_eq!(results[0], results[1], "the GPUs on the left");
    let random: Vec<&[u8]> = results[0].1.chunks(16).collect();
    assert!((1..5).all(|lane| random[lane] != random[0]), "lanes have different numbers: {random:x?}");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn decisions_of_all_gpus_are_counted() {
    let selection = ClassSelection::new(SelectionMode::Hybrid);
    let machine = |engine: GpusEngine| {
        let arguments = |lane: usize| vec!["3".to_owned(), lane.to_string()];
        let builder = Machine::builder(guest("sieve")).lanes(3).arguments(arguments);
        builder.engine(engine.with_class_selection(&selection)).build().expect("the guest fits")
    };
    let one = GpusEngine::new([device().clone()]).expect("there is a device");
    let (mut one, mut two) = (machine(one), machine(two_gpus()));
    let expected = run(&mut one);
    assert_eq!(run(&mut two), expected, "two GPUs on the left");
    assert!(expected.decisions.is_some_and(|decisions| decisions.asked() > 1000), "the network was asked");
    assert_same_machines(&mut two, &mut one, "with a network");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn a_fork_of_one_lane_is_divided_among_all_gpus() {
    let builder = || -> Builder<'static> {
        Machine::builder(guest("sha256")).arguments(|_| vec!["3".to_owned(), "1".to_owned()])
    };
    let forks = [builder().engine(two_gpus()), builder()].map(|builder| {
        let mut start = builder.build().expect("the guest fits");
        start.run(5000).expect("the engine works");
        let mut fork = start.fork_with(0, Fork::new(4)).expect("the lanes fit");
        fork.set_registers(&[1, 3], Register::X(27), &[5, 6]).expect("the engine works");
        fork.run(u64::MAX).expect("the engine works");
        fork
    });
    let [mut gpus, mut reference] = forks;
    assert_same_machines(&mut gpus, &mut reference, "the forks");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn a_gpu_that_is_lost_in_a_run_is_recovered_while_the_others_go_on() {
    let _lock = lock_device();
    let builder = || -> Builder<'static> {
        let arguments = |lane: usize| vec!["3".to_owned(), lane.to_string()];
        Machine::builder(guest("sha256")).lanes(4).arguments(arguments)
    };
    let mut reference = builder().build().expect("the guest fits");
    reference.run(u64::MAX).expect("the reference works");
    let expected: Vec<LaneAndOutput> = machine_lanes(&mut reference);
    let mut losses = 0;
    for call in [1, 3] {
        let (kept, lost) = (OwnGpu::open(5000), OwnGpu::open(5000));
        let engine = SplitEngine::new(kept.clone(), ONE).and(lost.clone(), ONE);
        let mut machine = builder().engine(engine).build().expect("the guest fits");
        let mut left = call;
        let result = machine.run_with(u64::MAX, |_| {
            left -= 1;
            if left == 0 {
                lost.device.raw().destroy();
            }
            ControlFlow::Continue(())
        });
        if let Err(error) = result {
            losses += 1;
            assert_kept(&error);
            kept.device.check("looking for a loss").expect("the other GPU is not lost");
        }
        machine.run(u64::MAX).expect("the device is opened again");
        assert_eq!(machine_lanes(&mut machine), expected, "lost at call {call} of the observer");
    }
    assert_eq!(losses, 2, "the GPU is lost while the guest runs");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn a_loss_between_runs_leaves_no_call_half_done() {
    let _lock = lock_device();
    let images = [raw(busy)];
    let plan = Plan { images: &images, lanes: 4, frames_max: 16, calls: None, loops: None };
    for call in 0..4 {
        let lost = OwnGpu::open(64);
        let split = SplitEngine::new(OwnGpu::open(64), ONE).and(lost.clone(), ONE);
        let engines = [(&split as &dyn Factory, true), (&ReferenceEngine, false)];
        let ended = engines.map(|(engine, loses_a_gpu)| {
            let mut executor = engine.executor(&plan).expect("the lanes fit");
            executor.set_registers(Register::Pc, &[0, 1, 2, 3], &[CODE; 4]).expect("the engine works");
            executor.run(&[200; 4], &mut |_| ControlFlow::Continue(())).expect("the engine works");
            executor.snapshot().expect("the engine works");
            executor.set_stops(&[0, 2, 3], None).expect("the engine works");
            executor.run(&[333; 4], &mut |_| ControlFlow::Continue(())).expect("the engine works");
            // Each of these calls changes lanes of both GPUs, of which one is lost before.
            if loses_a_gpu {
                lost.device.raw().destroy();
            }
            match call {
                0 => executor.reset(&[1, 2]).expect("the call is made again"),
                1 => {
                    executor.set_registers(Register::X(0), &[0, 3], &[8, 9]).expect("the call is made again");
                }
                2 => executor.snapshot().expect("the call is made again"),
                _ => {
                    let rows = [(3, &b"three"[..]), (0, b"zero")];
                    let written = executor.write_memory_of_each(CODE + 3 * PAGE - 2, &rows);
                    written.expect("the call is made again").expect("the memory is mapped");
                }
            }
            // A call that only reads reports the loss, if no call has noticed it yet.
            let _ = executor.read_memory_of_each(CODE, 8, &[0, 1, 2, 3], &mut Vec::new());
            executor.set_stops(&[0, 1, 2, 3], None).expect("the engine works");
            executor.run(&[500; 4], &mut |_| ControlFlow::Continue(())).expect("the engine works");
            executor.reset(&[0, 3]).expect("there is a snapshot");
            lanes(&mut *executor)
        });
        assert_eq!(ended[0], ended[1], "call {call}: the GPUs on the left");
    }
}
