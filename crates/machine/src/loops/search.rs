//! The search for the loop that a lane is in.

use kvrm_arm64::Features;
use kvrm_arm64::lowering::lower;
use kvrm_arm64::micro_op::Handler;
use kvrm_loops::INSTRUCTIONS_MAX;

/// A loop in memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Place {
    /// The address of the first instruction.
    pub(super) head: u64,
    /// The words from there to the branch back. There is at least one.
    pub(super) words: Vec<u32>,
}

impl Place {
    /// Returns the innermost loop around an address. `words_at` reads words of code: so many from an address on, or fewer.
    pub(super) fn around(
        pc: u64,
        features: Features,
        mut words_at: impl FnMut(u64, usize) -> Vec<u32>,
    ) -> Option<Self> {
        let (head, end) = branch_back(pc, &words_at(pc, INSTRUCTIONS_MAX), features)?;
        let count = (end - head) as usize / 4 + 1;
        let words = words_at(head, count);
        (words.len() == count).then_some(Self { head, words })
    }

    /// Returns the address of the branch back.
    pub(super) const fn end(&self) -> u64 {
        self.head + 4 * (self.words.len() as u64 - 1)
    }
}

/// Returns the first branch of `words`, which begin at `pc`, that leads back to `pc` or before it: its target and its own
/// address.
fn branch_back(pc: u64, words: &[u32], features: Features) -> Option<(u64, u64)> {
    words.iter().enumerate().find_map(|(place, word)| {
        let op = lower(*word, features);
        let is_branch = op.handler() == Handler::BRANCH as u32 || op.handler() == Handler::TEST_BRANCH as u32;
        let (behind, distance) = (4 * place as u64, op.imm.wrapping_neg());
        let is_back = is_branch && (behind..4 * INSTRUCTIONS_MAX as u64).contains(&distance);
        let end = pc.wrapping_add(behind);
        is_back.then_some((end.wrapping_sub(distance), end))
    })
}
