//! Regions that are selected from samples have the hot code, once.

use std::collections::BTreeSet;

use kvrm_arm64::Features;
use kvrm_arm64::lowering::lower;
use kvrm_arm64::micro_op::MicroOp;
use kvrm_testkit::programs;
use kvrm_testkit::random::Random;
use kvrm_translate::{End, Flow, Limits, Samples};
use proptest::prelude::*;

use crate::guest::Program;

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
        let (program, cpu) = Program::random(&mut Random::new(seed));
        let mut lane = program.lane(cpu);
        let mut samples = Samples::default();
        let mut pcs = Vec::new();
        for step in 0..1000 {
            if step % every == 0 {
                samples.add(lane.cpu.pc);
                pcs.push(lane.cpu.pc);
            }
            if !lane.step() {
                break;
            }
        }
        let regions = samples.regions(&LIMITS, |pc| program.fetch(pc));
        let mut covered = BTreeSet::new();
        for region in &regions {
            prop_assert!(region.instructions() <= LIMITS.instructions && region.pages().len() <= LIMITS.pages);
            for pc in region.addresses() {
                prop_assert!(covered.insert(pc), "{:#x} is in two regions", pc);
            }
            prop_assert!(region.addresses().any(|pc| pcs.contains(&pc)), "a region has a sample");
        }
        // With at most a thousand samples, all sampled code is hot.
        for pc in pcs {
            let can_translate = program.fetch(pc).is_some_and(|op| Flow::of(pc, op) != Flow::Stop);
            prop_assert!(pc % 4 != 0 || covered.contains(&pc) == can_translate, "the code at {:#x}", pc);
        }
        for region in &regions {
            for (number, block) in region.blocks.iter().enumerate() {
                let is_reached = region.predecessors()[number].iter().any(|from| *from < number);
                prop_assert!(is_reached || block.is_entry, "{:#x} can be reached", block.pc);
            }
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
