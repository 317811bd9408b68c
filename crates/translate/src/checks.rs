//! Where translated code compares its budget, and with how many steps.

use crate::block::Block;
use crate::region::Region;

/// The checks of the budget of a region.
///
/// A check is at the beginning of each entry, so of each head of a loop, too. It has to make sure that the budget
/// suffices for the longest path to the next check, so that no block between needs one. Lanes for which it does not
/// suffice leave the region before the block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checks {
    /// For each block with a check the number of steps of the longest path to the next one.
    pub steps: Vec<Option<u32>>,
}

impl Checks {
    /// Returns the checks of a region.
    #[must_use]
    pub fn of(region: &Region) -> Self {
        let mut longest = vec![0; region.blocks.len()];
        // The targets of all edges that go back are entries, so the others are later blocks.
        for (number, block) in region.blocks.iter().enumerate().rev() {
            let behind =
                block.successors().filter(|to| !region.blocks[*to].is_entry).map(|to| longest[to]).max();
            longest[number] = block.ops.len() as u32 + behind.unwrap_or(0);
        }
        let check = |(block, steps): (&Block, u32)| block.is_entry.then_some(steps);
        Self { steps: region.blocks.iter().zip(longest).map(check).collect() }
    }
}
