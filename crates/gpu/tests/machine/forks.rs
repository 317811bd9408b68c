//! Forks: all lanes of a fork on the GPU do what the forked lane does, on the reference or on the GPU.

use kvrm_machine::{Hooks, Machine, ReferenceEngine, Stop};
use kvrm_testkit::forks;
use kvrm_testkit::guests::{LINUX_GUESTS, guest, linux_guest};
use kvrm_testkit::linux_programs;
use kvrm_testkit::random::Random;

use crate::support::Gpu;

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn forks_of_random_linux_programs_do_what_the_lane_does() {
    for seed in 0..8 {
        let random = &mut Random::new(seed);
        let case = linux_programs::random(seed);
        let mut hooks = Hooks::new();
        if seed % 3 == 0 {
            hooks = hooks.all_system_calls().breakpoint(case.program.entry + 4 * random.below(40));
        }
        let builder = Machine::builder(case.program.clone()).features(case.features).hooks(hooks);
        let builder = builder.lanes(2).seed(seed);
        // From the reference to the GPU, from the GPU to the GPU, and back.
        let on_gpu = seed % 4 != 0;
        let builder = if on_gpu { builder.engine(Gpu) } else { builder };
        let mut machine = builder.build().expect("the program fits");
        case.start(&mut machine, seed).expect("the engine works");
        let lane = random.below(2) as usize;
        match seed % 4 {
            1 => forks::check(&mut machine, lane, [150, 500], Some(ReferenceEngine), random),
            2 => forks::check(&mut machine, lane, [150, 500], None::<Gpu>, random),
            _ => forks::check(&mut machine, lane, [150, 500], Some(Gpu), random),
        }
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn forks_of_guests_do_what_the_lane_does() {
    for (index, (name, size)) in [("lz", "300"), ("vm", "4"), ("strings", "2")].into_iter().enumerate() {
        let random = &mut Random::new(index as u64);
        let arguments = move |lane: usize| vec![size.to_owned(), (lane + 1).to_string()];
        let mut machine =
            Machine::builder(guest(name)).lanes(2).arguments(arguments).build().expect("it fits");
        forks::check(&mut machine, 1, [20_000, u64::MAX], Some(Gpu), random);
        let stop = machine.stop(1).expect("the engine works");
        assert_eq!(stop, Some(Stop::Exit { code: 0 }), "{name} ends");
    }
}

#[test]
#[cfg_attr(kvrm_skip_gpu, ignore = "KVRM_GPU=skip")]
fn forks_of_linux_guests_do_what_the_lane_does() {
    for (index, (name, arguments)) in LINUX_GUESTS.iter().enumerate() {
        let random = &mut Random::new(index as u64);
        let arguments = |_| arguments.iter().map(|&word| word.to_owned()).collect();
        let builder = Machine::builder(linux_guest(name)).lanes(3).arguments(arguments).seed(7);
        let builder = builder.input(|lane| vec![lane as u8; 9]);
        let builder = if index % 2 == 0 { builder } else { builder.engine(Gpu) };
        let mut machine = builder.build().expect("the guest fits");
        let lane = random.below(3) as usize;
        forks::check(&mut machine, lane, [3000, u64::MAX], Some(Gpu), random);
    }
}
