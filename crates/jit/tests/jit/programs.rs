//! Random programs, one in each lane, which loop, branch to anywhere and change their own code. The environment
//! variable `KVRM_PROGRAMS` is their number.

use std::env;

use kvrm_arm64::Features;
use kvrm_jit::JitEngine;
use kvrm_machine::vectors::Vector;
use kvrm_testkit::pair::{Pair, blame};
use kvrm_testkit::programs;
use kvrm_testkit::random::Random;

use crate::support::SIZES;

/// The number of programs that run at once.
const LANES: usize = 48;

/// Compares programs at the end of their budgets.
pub(crate) fn compare(programs: &[Vector], engine: JitEngine) {
    let limits: Vec<u64> = programs.iter().map(|vector| vector.steps).collect();
    let mut pair = Pair::of_programs(programs, &engine);
    pair.run(&limits);
    pair.assert_same(&|lane| blame(&programs[lane], &engine));
}

#[test]
fn random_programs_end_as_on_the_reference() {
    let rounds = env::var("KVRM_PROGRAMS").map_or(4, |text| {
        let programs: usize =
            text.parse().unwrap_or_else(|_| panic!("KVRM_PROGRAMS is {text:?}; expected a number"));
        programs.div_ceil(LANES)
    });
    let random = &mut Random::new(1);
    let features = [Features::ALL, Features::ARMV8_0, Features::GENERAL, Features::ALL];
    for features in features.into_iter().cycle().take(rounds) {
        let programs: Vec<Vector> = (0..LANES)
            .map(|lane| programs::with_features(&format!("{lane}"), features, 96, 300, random))
            .collect();
        for size in SIZES {
            compare(&programs, JitEngine::eager(size));
        }
    }
}
