//! What regions and their checks are, whatever is executed.

use std::collections::HashSet;

use kvrm_translate::{Block, Checks, End, Flow, Region};

use super::program::Program;

/// Checks the form of a region of a program: its blocks have the instructions of the program, end where these branch,
/// and can all be reached.
///
/// # Panics
///
/// The region has another form.
pub fn check_form(program: &Program, region: &Region) {
    let predecessors = region.predecessors();
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
        let comes_from_before = predecessors[number].iter().any(|from| *from < number);
        assert!(block.is_entry || comes_from_before, "block {number} is behind another or an entry");
    }
}

/// Checks that each check of the budget is the length of a path, and that entries and heads of loops have one.
///
/// # Panics
///
/// A check is not the length of a path, or is missing.
pub fn check_lengths(region: &Region) {
    let checks = Checks::of(region);
    for (block, steps) in checks.steps.iter().enumerate() {
        if let Some(steps) = steps {
            let found = has_path(region, &checks, (block, *steps as usize), &mut HashSet::new());
            assert!(found, "no path from block {block} has {steps} steps");
        } else {
            let needs_check = region.is_loop_head(block) || region.blocks[block].is_entry;
            assert!(!needs_check, "block {block} has no check");
        }
    }
}

/// Whether a path of exactly so many instructions leads from the beginning of a block to a check or out of the region.
/// `seen` has the places from which none does.
fn has_path(
    region: &Region,
    checks: &Checks,
    (block, steps): (usize, usize),
    seen: &mut HashSet<(usize, usize)>,
) -> bool {
    let Some(left) = steps.checked_sub(region.blocks[block].ops.len()) else { return false };
    let mut successors = region.blocks[block].successors();
    if left == 0 {
        return leaves(&region.blocks[block]) || successors.any(|to| checks.steps[to].is_some());
    }
    if !seen.insert((block, steps)) {
        return false;
    }
    successors.any(|to| checks.steps[to].is_none() && has_path(region, checks, (to, left), seen))
}

/// Whether a lane may leave the region at the end of a block.
fn leaves(block: &Block) -> bool {
    match &block.end {
        End::Always(edge) => edge.block.is_none(),
        End::Either { taken, next } => taken.block.is_none() || next.block.is_none(),
        End::Register(_) => true,
    }
}
