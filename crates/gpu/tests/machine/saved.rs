//! Saved machines: what was saved on a GPU goes on on the reference, and the other way round.

use kvrm_machine::{Factory, Hooks, Machine, ReferenceEngine, Stop};
use kvrm_testkit::guests::{LINUX_GUESTS, guest, linux_guest};
use kvrm_testkit::linux_programs;
use kvrm_testkit::random::Random;
use kvrm_testkit::saved;

use crate::support::Gpu;

/// Saves a machine on one of the engines, and loads it on the other, or saves and loads it on the GPU.
fn check(make: impl Fn(Box<dyn Factory>) -> Machine, seed: u64, steps: [u64; 2]) -> Machine {
    let random = &mut Random::new(seed);
    let mut machine = make(if seed.is_multiple_of(3) { Box::new(ReferenceEngine) } else { Box::new(Gpu) });
    if seed % 3 == 1 {
        saved::check(&mut machine, steps, ReferenceEngine, random);
    } else {
        saved::check(&mut machine, steps, Gpu, random);
    }
    machine
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn random_linux_programs_go_on_after_they_were_loaded() {
    for seed in 0..6 {
        let case = linux_programs::random(seed);
        let mut hooks = Hooks::new();
        if seed % 2 == 0 {
            hooks = hooks.all_system_calls().breakpoint(case.program.entry + 4 * seed);
        }
        let make = |engine: Box<dyn Factory>| {
            let builder = Machine::builder(case.program.clone()).features(case.features).hooks(hooks.clone());
            let mut machine = builder.lanes(2).seed(seed).engine(engine).build().expect("the program fits");
            case.start(&mut machine, seed).expect("the engine works");
            machine
        };
        check(make, seed, [150, 500]);
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn guests_go_on_after_they_were_loaded() {
    for (seed, (name, size)) in [("lz", "300"), ("vm", "4"), ("strings", "2")].into_iter().enumerate() {
        let make = |engine: Box<dyn Factory>| {
            let arguments = move |lane: usize| vec![size.to_owned(), (lane + 1).to_string()];
            Machine::builder(guest(name))
                .lanes(2)
                .arguments(arguments)
                .engine(engine)
                .build()
                .expect("it fits")
        };
        let mut machine = check(make, seed as u64, [20_000, u64::MAX]);
        let stop = machine.stop(1).expect("the engine works");
        assert_eq!(stop, Some(Stop::Exit { code: 0 }), "{name} ends");
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn linux_guests_go_on_after_they_were_loaded() {
    for (seed, (name, arguments)) in LINUX_GUESTS.iter().enumerate() {
        let make = |engine: Box<dyn Factory>| {
            let arguments = |_| arguments.iter().map(|&word| word.to_owned()).collect();
            let builder = Machine::builder(linux_guest(name)).lanes(3).arguments(arguments).seed(7);
            builder.input(|lane| vec![lane as u8; 9]).engine(engine).build().expect("the guest fits")
        };
        check(make, seed as u64, [3000, u64::MAX]);
    }
}
