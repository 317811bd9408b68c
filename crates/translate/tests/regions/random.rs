//! Regions of random programs, with random entries and limits.

use kvrm_testkit::random::Random;
use kvrm_testkit::regions::{
    Program, check_execution, check_form, check_lengths, check_liveness, check_structure,
};
use proptest::prelude::*;

proptest! {
    #[test]
    fn an_execution_is_a_path(seed: u64) {
        let random = &mut Random::new(seed);
        let program = Program::random(random);
        let region = program.random_region(random);
        check_form(&program, &region);
        check_execution(&program, &region);
    }

    #[test]
    fn a_check_says_the_length_of_a_path(seed: u64) {
        let random = &mut Random::new(seed);
        check_lengths(&Program::random(random).random_region(random));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn nobody_sees_what_is_not_live(seed: u64) {
        let random = &mut Random::new(seed);
        let program = Program::random(random);
        let region = program.random_region(random);
        check_liveness(&program, &region, random);
    }

    #[test]
    fn a_structure_executes_the_blocks_of_its_region(seed: u64) {
        let random = &mut Random::new(seed);
        check_structure(&Program::random(random).random_region(random), random);
    }
}
