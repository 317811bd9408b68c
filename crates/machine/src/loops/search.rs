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
    /// Returns the innermost loop around an address. `read` reads bytes of code, and returns whether the lane may execute all of them.
    pub(super) fn around(
        pc: u64,
        features: Features,
        mut read: impl FnMut(u64, &mut [u8]) -> bool,
    ) -> Option<Self> {
        // The next page may have no code.
        let in_page = (PAGE_BYTES - pc as usize % PAGE_BYTES) / 4;
        let words = words_at(&mut read, pc, INSTRUCTIONS_MAX).or_else(|| words_at(&mut read, pc, in_page))?;
        // It leads back to `pc` or before it.
        let (end, head) = backward_branches(pc, &words, features)
            .find(|(end, head)| end.wrapping_sub(*head) >= end.wrapping_sub(pc))?;
        let words = words_at(&mut read, head, (end - head) as usize / 4 + 1)?;
        Some(Self { head, words })
    }

    /// Returns the innermost loop around this one.
    pub(super) fn enclosing(
        &self,
        features: Features,
        mut read: impl FnMut(u64, &mut [u8]) -> bool,
    ) -> Option<Self> {
        let behind = self.end() + 4;
        let count = INSTRUCTIONS_MAX.checked_sub(self.words.len())?;
        let in_page = (PAGE_BYTES - behind as usize % PAGE_BYTES) / 4;
        let words =
            [count, count.min(in_page)].into_iter().find_map(|count| words_at(&mut read, behind, count))?;
        let (end, head) = backward_branches(behind, &words, features).find(|(_, head)| *head <= self.head)?;
        let count = (end.wrapping_sub(head) / 4 + 1) as usize;
        let words = (count <= INSTRUCTIONS_MAX).then(|| words_at(&mut read, head, count)).flatten()?;
        Some(Self { head, words })
    }

    /// Returns whether the memory of a lane has the words of the loop.
    pub(super) fn is_in(&self, memory: &AddressSpace) -> bool {
        words_at(&mut code_of(memory), self.head, self.words.len()).is_some_and(|words| words == self.words)
    }

    /// Returns the address of the branch back.
    pub(super) const fn end(&self) -> u64 {
        self.head + 4 * (self.words.len() as u64 - 1)
    }
}

/// Returns a function that reads bytes of code of a lane, and returns whether it may execute all of them.
pub(super) fn code_of(memory: &AddressSpace) -> impl FnMut(u64, &mut [u8]) -> bool {
    |pc, bytes| memory.read_bytes(pc, bytes, Some(Access::Execute)).is_ok()
}

/// Returns words of code, if the lane may execute them.
fn words_at(read: &mut impl FnMut(u64, &mut [u8]) -> bool, pc: u64, count: usize) -> Option<Vec<u32>> {
    let mut bytes = vec![0; 4 * count];
    let is_read = read(pc, &mut bytes);
    is_read.then(|| bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect())
}

/// Returns the branches of `words`, which begin at `pc`, that lead back by fewer than [`INSTRUCTIONS_MAX`] instructions: their own
/// addresses and their targets.
fn backward_branches(pc: u64, words: &[u32], features: Features) -> impl Iterator<Item = (u64, u64)> {
    (0..).zip(words).filter_map(move |(place, word)| {
        let op = lower(*word, features);
        let is_branch = op.handler() == Handler::BRANCH as u32 || op.handler() == Handler::TEST_BRANCH as u32;
        let (at, distance) = (pc.wrapping_add(4 * place), op.imm.wrapping_neg());
        let is_back = is_branch && distance < 4 * INSTRUCTIONS_MAX as u64;
        is_back.then_some((at, at.wrapping_sub(distance)))
    })
}
