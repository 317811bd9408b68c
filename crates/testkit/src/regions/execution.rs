//! What the reference executes is a path through the region, and no path is longer than its check says.

use kvrm_translate::{Checks, Edge, End, Region};

use super::program::Program;

/// The number of blocks, and instructions outside the region, that are executed.
const LENGTH: usize = 500;

/// Checks that what a program executes is a path through a region, and no path is longer than its check says.
///
/// # Panics
///
/// The program executes something else, or a check is too short.
pub fn check_execution(program: &Program, region: &Region) {
    let checks = Checks::of(region);
    let mut lane = program.lane();
    let mut place: Option<usize> = None;
    let mut left = 0;
    for _ in 0..LENGTH {
        if place.is_none() {
            place = region.block_at(lane.cpu.pc).filter(|block| region.blocks[*block].is_entry);
        }
        let Some(block) = place else {
            if !lane.step() {
                return;
            }
            continue;
        };
        if let Some(steps) = checks.steps[block] {
            left = steps;
        }
        for index in 0..region.blocks[block].ops.len() {
            assert_eq!(lane.cpu.pc, region.blocks[block].pc + 4 * index as u64, "the next of block {block}");
            if !lane.step() {
                return;
            }
            assert!(left > 0, "the path to block {block} is longer than its check says");
            left -= 1;
        }
        place = follow(region, block, lane.cpu.pc);
    }
}

/// Returns the block in which execution goes on at `pc` behind a block, or `None` if it leaves the region.
///
/// # Panics
///
/// The block has no edge to `pc`.
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
