//! All guests.

use kvrm_jit::JitEngine;
use kvrm_machine::{Builder, Machine, Stop};
use kvrm_testkit::guests::{FP_GUESTS, GUESTS, LINUX_GUESTS, features, guest, linux_guest};

use crate::support::{assert_same_machines, compare_machines};

/// Returns the engines: with the settings of users, and with small regions from the first step on.
fn engines() -> [JitEngine; 2] {
    [JitEngine::default(), JitEngine::eager(12)]
}

#[test]
fn every_guest_ends_as_on_the_reference() {
    for (name, size) in GUESTS.into_iter().chain(FP_GUESTS) {
        let builder = || -> Builder<'static> {
            let arguments = move |lane: usize| match lane {
                0 => vec![size.to_owned()],
                1 => vec!["3".to_owned(), "7".to_owned()],
                _ => vec!["x".to_owned()],
            };
            Machine::builder(guest(name)).features(features(name)).lanes(3).arguments(arguments)
        };
        for engine in engines() {
            let lanes = compare_machines(&builder, engine, name);
            let stops: Vec<_> = lanes.iter().map(|(lane, _)| lane.stop).collect();
            let exit = |code| Some(Stop::Exit { code });
            assert_eq!(stops, [exit(0), exit(0), exit(2)], "{name} finds its results correct");
        }
    }
}

#[test]
fn every_linux_guest_ends_as_on_the_reference() {
    for (name, arguments) in LINUX_GUESTS {
        let builder = || -> Builder<'static> {
            Machine::builder(linux_guest(name))
                .lanes(3)
                .arguments(|_| arguments.iter().map(|&word| word.to_owned()).collect())
                .environment(|lane| vec![format!("KVRM_LANE={}", lane.min(1))])
                .input(|lane| b"some input ".repeat(lane))
        };
        for engine in engines() {
            compare_machines(&builder, engine, name);
        }
    }
}

#[test]
fn a_guest_runs_again_after_a_reset_in_the_middle() {
    let builder = || Machine::builder(guest("quicksort")).arguments(|_| vec!["300".to_owned()]);
    for engine in engines() {
        let mut jit = builder().engine(engine).build().expect("the guest fits");
        let mut reference = builder().build().expect("the guest fits");
        for machine in [&mut jit, &mut reference] {
            machine.run(5_001).expect("the engine works");
            machine.snapshot().expect("the engine works");
            for budget in [10_007, u64::MAX] {
                machine.run(budget).expect("the engine works");
                machine.reset(&[0]).expect("the machine has a snapshot");
            }
            machine.run(20_011).expect("the engine works");
        }
        assert_same_machines(&mut jit, &mut reference, "after two resets");
    }
}
