//! All Linux guests on both engines.

use kvrm_machine::{Builder, Machine, Stream};
use kvrm_testkit::guests::{LINUX_GUESTS, linux_guest};
use kvrm_testkit::random::Random;
use kvrm_testkit::thread_calls;

use crate::support::{Gpu, assert_same_machines};

/// Builds a machine with three lanes. The last two have another environment than the first, and each lane has its own
/// input.
fn builder(name: &str, arguments: &'static [&'static str]) -> Builder<'static> {
    Machine::builder(linux_guest(name))
        .lanes(3)
        .arguments(|_| arguments.iter().map(|&word| word.to_owned()).collect())
        .environment(|lane| vec![format!("KVRM_LANE={}", lane.min(1))])
        .input(|lane| b"some input ".repeat(lane))
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn every_linux_guest_ends_as_on_the_reference() {
    for (name, arguments) in LINUX_GUESTS {
        let mut gpu = builder(name, arguments).engine(Gpu).build().expect("the guest fits");
        let mut reference = builder(name, arguments).build().expect("the guest fits");
        let expected = reference.run(u64::MAX).expect("the reference works");
        let report = gpu.run(u64::MAX).expect("the GPU works");
        assert_eq!((report.steps, &report.stops), (expected.steps, &expected.stops), "reports of {name}");
        assert_eq!(
            (report.services, report.frames, &report.unknown_calls, &report.refused_calls),
            (expected.services, expected.frames, &expected.unknown_calls, &expected.refused_calls),
            "reports of {name}"
        );
        assert_eq!(report.stops.keys().collect::<Vec<_>>(), [&"exit"], "every lane of {name} exits");
        assert_same_machines(&mut gpu, &mut reference, name);
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn threads_and_processes_take_the_same_turns_in_any_schedule() {
    for (name, quantum) in [("threads", 3000), ("processes", 500), ("race", 60), ("deadlock", 300)] {
        let build = |builder: Builder<'static>| {
            let builder =
                builder.lanes(5).quantum(quantum).schedule(|lane| (lane > 0).then_some(lane as u64));
            builder.build().expect("the guest fits")
        };
        let mut machines = [builder(name, &["execute"]).engine(Gpu), builder(name, &["execute"])].map(build);
        for machine in &mut machines {
            machine.run(1717).expect("the engine works");
            machine.snapshot().expect("the engine works");
            machine.run(5000).expect("the engine works");
            machine.reset(&[0, 2, 3]).expect("the machine has a snapshot");
            machine.run(2500).expect("the engine works");
        }
        let [gpu, reference] = &mut machines;
        assert_same_machines(gpu, reference, &format!("{name}, after a reset"));
        machines.iter_mut().for_each(|machine| drop(machine.run(u64::MAX).expect("the engine works")));
        let [gpu, reference] = &mut machines;
        assert_same_machines(gpu, reference, name);
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn a_linux_guest_runs_again_after_a_reset_in_the_middle() {
    let mut machines = [builder("memory", &[]).engine(Gpu), builder("memory", &[])]
        .map(|builder| builder.build().expect("the guest fits"));
    for machine in &mut machines {
        machine.run(20_000).expect("the engine works");
        machine.snapshot().expect("the engine works");
        machine.run(u64::MAX).expect("the engine works");
        let output = machine.output(1, Stream::Output).expect("the lane exists").to_vec();
        machine.reset(&[1]).expect("the machine has a snapshot");
        machine.run(u64::MAX).expect("the engine works");
        let again = machine.output(1, Stream::Output).expect("the lane exists");
        assert_eq!(again, output, "the same output again");
    }
    let [gpu, reference] = &mut machines;
    assert_same_machines(gpu, reference, "after the reset");
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn random_calls_of_threads_have_the_results_of_the_reference() {
    let random = &mut Random::new(2);
    for round in 0..3 {
        let inputs = thread_calls::inputs(random, 24);
        let mut gpu =
            thread_calls::machine(&inputs, |builder| builder.engine(Gpu)).expect("the engine works");
        let mut reference = thread_calls::machine(&inputs, |builder| builder).expect("the engine works");
        for machine in [&mut gpu, &mut reference] {
            machine.run(700).expect("the engine works");
            machine.snapshot().expect("the engine works");
            machine.run(2000).expect("the engine works");
            machine.reset(&[1, 4, 9, 16]).expect("the machine has a snapshot");
            machine.run(5000).expect("the engine works");
        }
        assert_same_machines(&mut gpu, &mut reference, &format!("in round {round}"));
    }
}
