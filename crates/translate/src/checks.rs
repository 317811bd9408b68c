//! Where translated code compares its budget, and with how many steps.

use crate::region::Region;

/// The checks of the budget of a region.
///
/// A check is at the beginning of each entry and of each head of a loop. It has to make sure that the budget suffices
/// for the longest path to the next check, so that no block between needs one. Lanes for which it does not suffice
/// leave the region before the block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checks {
    /// For each block with a check the number of steps of the longest path to the next one.
    pub steps: Vec<Option<u32>>,
}

impl Checks {
    /// Returns the checks of a region.
    #[must_use]
    pub fn of(region: &Region) -> Self {
        let count = region.blocks.len();
        let mut has_check: Vec<bool> = region.blocks.iter().map(|block| block.is_entry).collect();
        for (number, block) in region.blocks.iter().enumerate() {
            for head in block.successors().filter(|to| *to <= number) {
                has_check[head] = true;
            }
        }
        // The targets of all edges that go back have checks, so the others are later blocks.
        let mut longest = vec![0; count];
        for number in (0..count).rev() {
            let block = &region.blocks[number];
            let behind = block.successors().filter(|to| !has_check[*to]).map(|to| longest[to]).max();
            longest[number] = block.ops.len() as u32 + behind.unwrap_or(0);
        }
        Self { steps: has_check.into_iter().zip(longest).map(|(has, steps)| has.then_some(steps)).collect() }
    }
}
