//! The search for the loop that a lane is in.

use std::collections::HashMap;

use kvrm_arm64::lowering::lower;
use kvrm_arm64::micro_op::Handler;
use kvrm_arm64::{Access, Features};
use kvrm_loops::{INSTRUCTIONS_MAX, Loop};

use crate::address_space::AddressSpace;
use crate::pages::PAGE_BYTES;

/// The largest number of loops that are remembered.
const LOOPS_MAX: usize = 256;

/// The loops of a lane, by the addresses of their branches back.
#[derive(Debug, Default)]
pub(super) struct KnownLoops {
    loops: HashMap<u64, Known>,
}

#[derive(Debug)]
struct Known {
    /// The words of the body. The last one says where the loop begins.
    words: Vec<u32>,
    /// `None` for a loop that is not understood, or never executed at once.
    found: Option<Loop>,
}

impl KnownLoops {
    /// Returns the innermost loop around an address, if it is understood.
    pub(super) fn find(&mut self, pc: u64, memory: &AddressSpace) -> Option<&Loop> {
        let features = memory.image().features();
        let (head, end) = branch_back(pc, &words_at(memory, pc, INSTRUCTIONS_MAX), features)?;
        let words = words_at(memory, head, (end - head) as usize / 4 + 1);
        if self.loops.len() >= LOOPS_MAX && !self.loops.contains_key(&end) {
            self.loops.clear();
        }
        let known = self.loops.entry(end).or_insert_with(|| Known { words: Vec::new(), found: None });
        if known.words != words {
            let fetch = |pc: u64| Some(lower(*words.get(pc.wrapping_sub(head) as usize / 4)?, features));
            let found = Loop::find(end, fetch).ok().filter(Loop::has_closed_form);
            *known = Known { words, found };
        }
        known.found.as_ref()
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
