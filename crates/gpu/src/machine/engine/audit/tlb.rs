//! The check of the TLBs that lanes keep from slice to slice.

use kvrm_arm64::Access;
use kvrm_machine::{Damage, PAGE_BYTES, Violation};
use kvrm_shaders::layout::{
    COLUMN_TLB, ENTRY_EXECUTE, ENTRY_FRAME, ENTRY_MAPPED, ENTRY_OWNED, ENTRY_READ, ENTRY_WRITE,
    INFO_CODE_PAGE, INFO_CODE_VALID, LEVEL_BITS, TLB_READ, TLB_WRITE,
};

use super::copy::{Memory, State};
use crate::device::error::Error;
use crate::machine::engine::GpuExecutor;
use crate::machine::engine::words::halves;
use crate::machine::store::tlb::KeptEntry;

/// A copy of the TLBs of all lanes.
#[derive(Debug)]
pub(super) struct Tlbs {
    /// For each lane, whether its TLBs are those of its page table.
    are_kept: Vec<bool>,
    /// The entries for data: rows of one set per lane.
    data: Vec<[KeptEntry; 2]>,
    /// The entries for code.
    code: Vec<[KeptEntry; 2]>,
    /// The frame of each code page.
    code_pages: Vec<u32>,
}

/// What the page table says about a page.
#[derive(Clone, Copy, Debug)]
struct Leaf {
    frame: u32,
    entry: u32,
    /// Whether the lane owns the frame.
    is_owned: bool,
    /// The number of the frame's code page plus one if the code page is up to date, else 0.
    code: u32,
}

impl GpuExecutor {
    pub(super) fn copy_tlbs(&mut self) -> Result<Tlbs, Error> {
        let are_kept = self.store.columns.get(COLUMN_TLB)?.iter().map(|kept| *kept != 0).collect();
        let [data, code] = self.store.kept_entries()?;
        Ok(Tlbs { are_kept, data, code, code_pages: self.store.code_pages().to_vec() })
    }
}

impl Tlbs {
    /// Returns the entries of a lane's TLBs that differ from its page table, or from the code pages of its frames.
    pub(super) fn check(&self, memory: &Memory, lane: usize, state: &State) -> Vec<Violation> {
        let lanes = self.are_kept.len();
        let rows = |sets: &'_ [[KeptEntry; 2]]| {
            let entries = sets.iter().skip(lane).step_by(lanes).flatten().copied();
            entries.filter(|entry| entry.first != 0).collect::<Vec<_>>()
        };
        let mut found = Vec::new();
        if !self.are_kept[lane] {
            return found;
        }
        let mut check = |page: u32, access: Access, entry: u32, expected: Option<u32>| {
            if expected != Some(entry) {
                let violation = Violation::new(Damage::TlbEntry { access, entry, expected });
                found.push(violation.of_lane(lane).at(u64::from(page) * PAGE_BYTES as u64));
            }
        };
        for KeptEntry { first, page, frame } in rows(&self.data) {
            let leaf = leaf_of(memory, state, page.into());
            if first & TLB_READ != 0 {
                let expected = leaf.filter(|leaf| leaf.entry & ENTRY_READ != 0);
                check(
                    page,
                    Access::Read,
                    frame,
                    expected.and_then(|leaf| memory.places[leaf.frame as usize]),
                );
            }
            if first & TLB_WRITE != 0 {
                let is_writable =
                    |leaf: &Leaf| leaf.entry & ENTRY_WRITE != 0 && leaf.is_owned && leaf.code == 0;
                let expected = leaf.filter(is_writable);
                check(
                    page,
                    Access::Write,
                    frame,
                    expected.and_then(|leaf| memory.places[leaf.frame as usize]),
                );
            }
        }
        for KeptEntry { first, page, .. } in rows(&self.code) {
            let is_code = |leaf: &Leaf| leaf.entry & ENTRY_EXECUTE != 0 && leaf.code == first;
            let frame = self.code_pages.get(first as usize - 1).copied().unwrap_or(u32::MAX);
            let expected = leaf_of(memory, state, page.into()).filter(is_code);
            check(page, Access::Execute, frame, expected.map(|leaf| leaf.frame));
        }
        found
    }
}

/// Returns what the page table of a lane says about a page, if the page is mapped.
fn leaf_of(memory: &Memory, state: &State, page: u64) -> Option<Leaf> {
    let (mut entry, levels) = halves(state.root);
    let relative = page.wrapping_sub(state.window);
    if relative >> (LEVEL_BITS * levels) != 0 {
        return None;
    }
    let mut is_owned = entry & ENTRY_OWNED != 0;
    for level in (0..levels).rev() {
        let frame = entry >> ENTRY_FRAME;
        let node = memory.image.words.get(frame as usize).or_else(|| memory.node(frame))?;
        let index = (relative >> (LEVEL_BITS * level)) as usize & ((1 << LEVEL_BITS) - 1);
        entry = (node[index / 2] >> (32 * (index % 2))) as u32;
        is_owned &= entry & ENTRY_OWNED != 0;
    }
    let frame = entry >> ENTRY_FRAME;
    let [.., code] = *memory.info.get(frame as usize)?;
    let code = if code & INFO_CODE_VALID == 0 { 0 } else { code & INFO_CODE_PAGE };
    (entry & ENTRY_MAPPED != 0).then_some(Leaf { frame, entry, is_owned, code })
}
