//! Random programs, one in each lane.
//!
//! A batch that fails shrinks to one short program.

use kvrm_jit::JitEngine;
use kvrm_machine::Features;
use kvrm_machine::vectors::Vector;
use kvrm_testkit::batches::{Batch, batches};
use kvrm_testkit::program_cases::{ProgramCase, program_cases};
use proptest::prelude::*;

use crate::support::{Pair, SIZES};

/// The number of programs that run at once.
const LANES: usize = 128;

fn compare(batch: Batch<ProgramCase>, engine: JitEngine) {
    let programs: Vec<Vector> = batch.0.into_iter().map(|ProgramCase(vector)| vector).collect();
    let limits: Vec<u64> = programs.iter().map(|vector| vector.steps).collect();
    let mut pair = Pair::of_programs(&programs, &engine);
    pair.run(&limits);
    pair.assert_same(&|lane| programs[lane].name.clone());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2, max_shrink_iters: 4096, ..ProptestConfig::default() })]

    #[test]
    fn random_programs_end_as_on_the_reference(
        all in batches(LANES, program_cases(Features::ALL, 96, 300)),
        base in batches(LANES, program_cases(Features::ARMV8_0, 96, 300)),
        general in batches(LANES, program_cases(Features::GENERAL, 96, 300)),
    ) {
        for size in SIZES {
            compare(all.clone(), JitEngine::eager(size));
            compare(base.clone(), JitEngine::eager(size));
            compare(general.clone(), JitEngine::eager(size));
        }
    }
}
