//! The search for the loop that a lane is in.

use kvrm_arm64::lowering::lower;
use kvrm_arm64::{Access, Features};
use kvrm_loops::{INSTRUCTIONS_MAX, branch_target};

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
        read: impl FnMut(u64, &mut [u8]) -> bool,
    ) -> Option<Self> {
        let leads_back = |head: u64, end: u64| end.wrapping_sub(head) >= end.wrapping_sub(pc);
        Self::from((pc, INSTRUCTIONS_MAX), features, read, leads_back)
    }

    /// Returns the innermost loop around this one.
    pub(super) fn enclosing(
        &self,
        features: Features,
        read: impl FnMut(u64, &mut [u8]) -> bool,
    ) -> Option<Self> {
        let count = INSTRUCTIONS_MAX.checked_sub(self.words.len())?;
        Self::from((self.end() + 4, count), features, read, |head, _| head <= self.head)
    }

    /// Returns the loop of the first backward branch, among so many words from an address on, for whose target and own address a
    /// condition holds.
    fn from(
        (pc, count): (u64, usize),
        features: Features,
        mut read: impl FnMut(u64, &mut [u8]) -> bool,
        is_it: impl Fn(u64, u64) -> bool,
    ) -> Option<Self> {
        // The next page may have no code.
        let in_page = (PAGE_BYTES - pc as usize % PAGE_BYTES) / 4;
        let words = words_at(&mut read, pc, count).or_else(|| words_at(&mut read, pc, count.min(in_page)))?;
        let (head, end) = backward_branches(pc, &words, features).find(|(head, end)| is_it(*head, *end))?;
        let words = words_at(&mut read, head, end.wrapping_sub(head) as usize / 4 + 1)?;
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

/// Returns the branches of `words`, which begin at `pc`, that lead back by fewer than [`INSTRUCTIONS_MAX`] instructions: their targets
/// and their own addresses.
fn backward_branches(pc: u64, words: &[u32], features: Features) -> impl Iterator<Item = (u64, u64)> {
    (0..).zip(words).filter_map(move |(place, word)| {
        let end = pc.wrapping_add(4 * place);
        let head = branch_target(lower(*word, features), end)?;
        (end.wrapping_sub(head) < 4 * INSTRUCTIONS_MAX as u64).then_some((head, end))
    })
}
