//! Regions that are selected from samples have the hot code, once.

use std::collections::BTreeSet;

use kvrm_arm64::Features;
use kvrm_arm64::lowering::lower;
use kvrm_arm64::micro_op::MicroOp;
use kvrm_testkit::programs;
use kvrm_testkit::random::Random;
use kvrm_testkit::regions::{
    Program, check_execution, check_lengths, check_liveness, check_selection, check_structure,
};
use kvrm_translate::{End, Limits, Samples};
use proptest::prelude::*;

/// The limits of the regions.
const LIMITS: Limits = Limits { instructions: 200, pages: 2, distance: 3 };

/// Returns the micro-op at an address of code that begins at `base`.
fn fetch(base: u64, words: &[u32], pc: u64) -> Option<MicroOp> {
    let word = words.get(usize::try_from(pc.checked_sub(base)? / 4).ok()?)?;
    Some(lower(*word, Features::BASE))
}

proptest! {
    #[test]
    fn regions_have_all_hot_code_once(seed: u64, every in 1_usize..5) {
        let random = &mut Random::new(seed);
        let program = Program::random(random);
        for region in check_selection(&program, every, &LIMITS) {
            check_execution(&program, &region);
            check_liveness(&program, &region, random);
            check_structure(&region, random);
        }
    }

    #[test]
    fn the_limits_are_those_of_all_regions_together(seed: u64, instructions in 1_usize..20, pages in 1_usize..3) {
        let program = Program::random(&mut Random::new(seed));
        let limits = Limits { instructions, pages, distance: 3 };
        for region in check_selection(&program, 1, &limits) {
            check_lengths(&region);
        }
    }

    #[test]
    fn a_sample_in_a_loop_stands_for_its_block(at in 0_u64..3) {
        // add; subs; b.ne to the add, 40 instructions behind the beginning of the code.
        let words = [0x8b00_0021, 0xf100_0400, 0x54ff_ffc1];
        let base = 0x1_0000 + 4 * 40;
        let fetch = |pc: u64| fetch(base, &words, pc);
        let mut samples = Samples::default();
        samples.add(base + 4 * at);
        let regions = samples.regions(&LIMITS, fetch);
        prop_assert_eq!(regions.len(), 1);
        prop_assert_eq!(regions[0].blocks.len(), 1, "one block: {:?}", regions);
        prop_assert_eq!(regions[0].blocks[0].pc, base);
    }
}

#[test]
fn a_branch_to_a_register_has_the_hot_cases_as_candidates() {
    let words = programs::loop_with_cases();
    let fetch = |pc: u64| fetch(0x1_0000, &words, pc);
    let mut samples = Samples::default();
    // The second case was not seen.
    for at in [0, 5, 10, 12, 13] {
        samples.add(0x1_0000 + 4 * at);
    }
    let regions = samples.regions(&LIMITS, fetch);
    assert_eq!(regions.len(), 1, "{regions:?}");
    let end = &regions[0].blocks[regions[0].block_at(0x1_0000).expect("the loop begins there")].end;
    let End::Register(candidates) = end else { panic!("{end:?}") };
    let pcs: BTreeSet<u64> = candidates.iter().map(|block| regions[0].blocks[*block].pc).collect();
    assert_eq!(pcs, [5, 9, 11].map(|at| 0x1_0000 + 4 * at).into());
}
