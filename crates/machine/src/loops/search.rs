//! The search for the loop that a lane is in.

use kvrm_arm64::lowering::lower;
use kvrm_arm64::micro_op::Handler;
use kvrm_arm64::{Access, Features};
use kvrm_loops::INSTRUCTIONS_MAX;

use crate::address_space::AddressSpace;
use crate::pages::PAGE_BYTES;

/// A loop in memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Place {
    /// The address of the first instruction.
    pub(super) head: u64,
    /// The words from there to the branch back. There is at least one.
    pub(super) words: Vec<u32>,
}

impl Place {
    /// Returns the innermost loop around an address.
    pub(super) fn around(pc: u64, memory: &AddressSpace) -> Option<Self> {
        let features = memory.image().features();
        let (head, end) = branch_back(pc, &words_at(memory, pc, INSTRUCTIONS_MAX), features)?;
        let count = (end - head) as usize / 4 + 1;
        let words = words_at(memory, head, count);
        (words.len() == count).then_some(Self { head, words })
    }

    /// Returns whether memory has these words here.
    pub(super) fn is_in(&self, memory: &AddressSpace) -> bool {
        words_at(memory, self.head, self.words.len()) == self.words
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

/// Returns `count` words of code, or as many of them as are in the first page.
fn words_at(memory: &AddressSpace, pc: u64, count: usize) -> Vec<u32> {
    let mut bytes = vec![0; 4 * count];
    if memory.read_bytes(pc, &mut bytes, Some(Access::Execute)).is_err() {
        bytes.truncate(PAGE_BYTES - pc as usize % PAGE_BYTES);
        if memory.read_bytes(pc, &mut bytes, Some(Access::Execute)).is_err() {
            return Vec::new();
        }
    }
    bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
}
