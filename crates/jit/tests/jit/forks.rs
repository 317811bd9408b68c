//! Forks of translated lanes.

use kvrm_jit::JitEngine;
use kvrm_machine::Machine;
use kvrm_testkit::forks;
use kvrm_testkit::guests::{GUESTS, guest};
use kvrm_testkit::random::Random;

#[test]
fn a_fork_of_translated_lanes_is_translated_and_does_the_same() {
    for (index, (name, size)) in GUESTS.into_iter().enumerate() {
        let random = &mut Random::new(index as u64);
        // The fork is made for another engine, or for that of the machine.
        let engine = (index % 2 == 0).then(JitEngine::default);
        let arguments = move |lane: usize| vec![size.to_owned(), (lane + 1).to_string()];
        let builder = Machine::builder(guest(name)).arguments(arguments).lanes(2);
        let mut machine = builder.engine(JitEngine::eager(12)).build().expect("the guest fits");
        forks::check(&mut machine, 1, [20_000, u64::MAX], engine, random);
        let fork = machine.fork(0, 2).expect("the lanes fit");
        assert_eq!(fork.engine(), "jit", "of a fork of {name}");
    }
}
