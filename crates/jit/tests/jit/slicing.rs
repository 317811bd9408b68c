//! Exact budgets of any size, and snapshots in between.

use kvrm_arm64::Features;
use kvrm_jit::JitEngine;
use kvrm_machine::Machine;
use kvrm_machine::vectors::Vector;
use kvrm_testkit::guests::guest;
use kvrm_testkit::pair::Pair;
use kvrm_testkit::programs;
use kvrm_testkit::random::Random;

use crate::support::{SIZES, assert_same_machines};

#[test]
fn a_lane_stops_after_every_budget() {
    for name in ["mix", "strings"] {
        let builder = || Machine::builder(guest(name)).arguments(|_| vec!["5".to_owned()]);
        let mut jit = builder().engine(JitEngine::eager(256)).build().expect("the guest fits");
        let mut reference = builder().build().expect("the guest fits");
        // From a budget of nothing to one of many blocks, each from where the one before ended.
        for budget in 0..120 {
            jit.run(budget).expect("the JIT works");
            reference.run(budget).expect("the reference works");
            assert_same_machines(&mut jit, &mut reference, &format!("{name} after budget {budget}"));
        }
    }
}

#[test]
fn random_programs_in_random_pieces_with_resets_end_as_on_the_reference() {
    let random = &mut Random::new(7);
    for size in SIZES {
        let programs: Vec<Vector> = (0..24)
            .map(|lane| programs::with_features(&format!("{lane}"), Features::ALL, 96, 300, random))
            .collect();
        let mut pair = Pair::of_programs(&programs, &JitEngine::eager(size));
        let mut limits = vec![0; programs.len()];
        for piece in 0..8 {
            limits.iter_mut().for_each(|limit| *limit += random.below(40));
            pair.run(&limits);
            pair.assert_same(&|lane| format!("{lane}, piece {piece}, size {size}"));
            if piece == 3 {
                pair.both(|executor| executor.snapshot().expect("the engine works"));
            }
        }
        let lanes: Vec<usize> = (0..programs.len()).filter(|lane| lane % 3 != 0).collect();
        pair.both(|executor| executor.reset(&lanes).expect("there is a snapshot"));
        pair.run(&limits);
        pair.assert_same(&|lane| format!("{lane}, after the reset, size {size}"));
    }
}
