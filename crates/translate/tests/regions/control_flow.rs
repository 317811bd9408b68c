//! What the reference executes is a path through the region, and no path is longer than its check says.

use kvrm_testkit::random::Random;
use kvrm_translate::{Checks, Edge, End, Flow, Region};
use proptest::prelude::*;

use crate::guest::Program;

/// Returns the block in which execution goes on at `pc` behind a block, or `None` if it leaves the region.
///
/// # Panics
///
/// Panics if the block has no edge to `pc`.
fn follow(region: &Region, block: usize, pc: u64) -> Option<usize> {
    let of_edge = |edge: &Edge| {
        let leaves_page = pc >> 12 != region.blocks[block].pc >> 12;
        assert_eq!(edge.leaves_page, leaves_page, "the page of {pc:#x}");
        edge.block
    };
    match &region.blocks[block].end {
        End::Always(edge) => {
            assert_eq!(edge.pc, pc, "the only edge");
            of_edge(edge)
        }
        End::Either { taken, next } => {
            assert!(taken.pc == pc || next.pc == pc, "an edge to {pc:#x}");
            of_edge(if taken.pc == pc { taken } else { next })
        }
        End::Register(candidates) => candidates.iter().copied().find(|to| region.blocks[*to].pc == pc),
    }
}

/// Checks what does not depend on an execution.
fn check_form(program: &Program, region: &Region) {
    for (number, block) in region.blocks.iter().enumerate() {
        assert!(!block.ops.is_empty(), "block {number} has an instruction");
        assert_eq!(block.pc >> 12, block.last_pc() >> 12, "block {number} is in one page");
        assert_eq!(region.block_at(block.pc), Some(number), "no other block begins there");
        for (index, op) in block.ops.iter().enumerate() {
            let pc = block.pc + 4 * index as u64;
            assert_eq!(Some(*op), program.fetch(pc), "the instruction at {pc:#x}");
            let flow = Flow::of(pc, *op);
            assert_ne!(flow, Flow::Stop, "nothing that stops is in a region");
            assert!(flow == Flow::Next || index + 1 == block.ops.len(), "a branch ends its block");
            let starts = region.block_at(pc);
            assert!(starts.is_none() || starts == Some(number), "{pc:#x} is in one block");
        }
        let comes_from_before = region.predecessors()[number].iter().any(|from| *from < number);
        assert!(block.is_entry || comes_from_before, "block {number} is behind another or an entry");
    }
}

proptest! {
    #[test]
    fn an_execution_is_a_path(seed: u64) {
        let random = &mut Random::new(seed);
        let (program, cpu) = Program::random(random);
        let region = program.region(random);
        check_form(&program, &region);
        let checks = Checks::of(&region);
        let mut lane = program.lane(cpu);
        let mut place: Option<usize> = None;
        let mut left = 0;
        for _ in 0..500 {
            if place.is_none() {
                place = region.block_at(lane.cpu.pc).filter(|block| region.blocks[*block].is_entry);
            }
            let Some(block) = place else {
                if !lane.step() {
                    break;
                }
                continue;
            };
            if let Some(steps) = checks.steps[block] {
                left = steps;
            }
            let mut retires = true;
            for index in 0..region.blocks[block].ops.len() {
                prop_assert_eq!(lane.cpu.pc, region.blocks[block].pc + 4 * index as u64);
                retires = lane.step();
                if !retires {
                    break;
                }
                prop_assert!(left > 0, "the path is longer than its check says");
                left -= 1;
            }
            if !retires {
                break;
            }
            place = follow(&region, block, lane.cpu.pc);
        }
    }

    #[test]
    fn a_check_says_the_length_of_a_path(seed: u64) {
        let random = &mut Random::new(seed);
        let (program, _) = Program::random(random);
        let region = program.region(random);
        let checks = Checks::of(&region);
        for (block, steps) in checks.steps.iter().enumerate() {
            if let Some(steps) = steps {
                prop_assert!(has_path(&region, &checks, block, *steps as usize), "of block {}", block);
            } else {
                prop_assert!(!region.is_loop_head(block) && !region.blocks[block].is_entry);
            }
        }
    }
}

/// Whether a path of exactly `steps` instructions leads from the beginning of a block to a check or out of the region.
fn has_path(region: &Region, checks: &Checks, block: usize, steps: usize) -> bool {
    let Some(left) = steps.checked_sub(region.blocks[block].ops.len()) else { return false };
    let next = |to: usize| checks.steps[to].is_none() && has_path(region, checks, to, left);
    left == 0 || region.blocks[block].successors().any(next)
}
