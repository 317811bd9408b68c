//! The check of page tables, entry by entry.

use kvrm_machine::{Damage, PAGE_BYTES, PageMap, Region, Violation};
use kvrm_shaders::layout::{
    ENTRY_EXECUTE, ENTRY_FRAME, ENTRY_MAPPED, ENTRY_OWNED, ENTRY_PRIVATE, ENTRY_READ, ENTRY_WRITE,
    INFO_PAGE_HIGH, LEVEL_BITS, PIPE_BYTES, PIPE_WINDOWS,
};

use super::chains::Chains;
use super::copy::{Memory, State, VIOLATIONS_MAX};
use crate::machine::engine::words::{halves, word};
use crate::machine::pages::{LEVELS_MAX, Root, flags, uniform_node};

/// The flags of an entry that say how its page is mapped.
const MAPPING_FLAGS: u32 = ENTRY_READ | ENTRY_WRITE | ENTRY_EXECUTE | ENTRY_MAPPED;
/// The flags that an entry that leads to a node may have.
const NODE_FLAGS: u32 = ENTRY_MAPPED | ENTRY_OWNED;
/// The flags that an entry that leads to a page may have.
const PAGE_FLAGS: u32 = MAPPING_FLAGS | ENTRY_OWNED | ENTRY_PRIVATE;

/// The facts that both page tables of a lane, the current one and that of the snapshot, are checked against.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tree<'a> {
    pub(super) memory: &'a Memory,
    pub(super) chains: &'a Chains,
    pub(super) lane: usize,
    /// The page table of the lane's image.
    pub(super) root: Root,
    /// The page map of the lane's image.
    pub(super) image: &'a PageMap,
    /// The number of frames of the lane's chain that the snapshot uses.
    pub(super) shared: u32,
    /// The number of frames of the lane's chain that the lane uses.
    pub(super) used: u32,
}

/// An entry of a page table and its place in the tree.
#[derive(Clone, Copy, Debug)]
struct Entry {
    entry: u32,
    /// The entry of the image at the same place; at a level that the image does not have, the image's root if the entry
    /// is on the path to it.
    image: u32,
    /// The level of the page or node that the entry leads to. Pages are at level 0.
    level: u32,
    /// The first page that the entry covers.
    page: u64,
    /// Whether all entries above this one are marked as owned by the lane.
    is_owned: bool,
    /// Whether it leads to a frame of the pipe windows, all of which are marked as nodes.
    is_of_pipes: bool,
}

/// The state of a walk over a page table.
struct Walk<'a> {
    tree: Tree<'a>,
    map: &'a PageMap,
    /// Whether the lane maps the same pages as its image.
    is_mapped_as_image: bool,
    in_snapshot: bool,
    /// Whether the walk has come to each frame of the chain, by its place.
    seen: Vec<bool>,
    /// The number of pages that are marked as written.
    written: u32,
    violations: Vec<Violation>,
}

impl Tree<'_> {
    /// Checks a page table, the mapping of its pages, and the number of written pages. `allowed` is the limit of
    /// written pages in the lane's state and the limit in the host's record.
    pub(super) fn check(
        &self,
        state: &State,
        map: &PageMap,
        in_snapshot: bool,
        allowed: (u32, u32),
    ) -> Vec<Violation> {
        let (entry, levels) = halves(state.root);
        let Root { entry: image, levels: image_levels, window: image_window, .. } = self.root;
        let here = |damage| Violation::new(damage).of_lane(self.lane).in_snapshot(in_snapshot);
        // Pages that the image's page table does not cover get levels above its root.
        if !(image_levels..=LEVELS_MAX).contains(&levels) || state.window != image_window {
            let damage = Damage::Window { levels, window: state.window, image_levels, image_window };
            return vec![here(damage)];
        }
        let mut walk = Walk {
            tree: *self,
            map,
            is_mapped_as_image: map == self.image,
            in_snapshot,
            seen: vec![false; self.used as usize + 1],
            written: 0,
            violations: Vec::new(),
        };
        let top =
            Entry { entry, image, level: levels, page: state.window, is_owned: true, is_of_pipes: false };
        walk.visit(top);
        walk.visit_pipes(halves(state.base).1);
        let Walk { seen, written, mut violations, .. } = walk;
        let (_, noted) = halves(state.tail);
        let (allowed, max) = allowed;
        if written != noted || allowed != max {
            violations.push(here(Damage::WrittenCount { counted: written, noted, allowed, max }));
        }
        // Frames that only an older snapshot used may be in no tree any more.
        if !in_snapshot {
            let orphans = (self.shared + 1..=self.used).filter(|place| !seen[*place as usize]);
            violations.extend(orphans.map(|place| here(Damage::Orphan { place })));
        }
        violations
    }
}

impl Walk<'_> {
    fn report(&mut self, at: &Entry, damage: Damage) {
        if self.violations.len() < VIOLATIONS_MAX {
            let violation = Violation::new(damage).of_lane(self.tree.lane).in_snapshot(self.in_snapshot);
            let violation = violation.at(at.page * PAGE_BYTES as u64);
            let frame = at.entry >> ENTRY_FRAME;
            self.violations.push(if frame == 0 { violation } else { violation.of_frame(frame) });
        }
    }

    /// Checks an entry and the tree below it.
    fn visit(&mut self, at: Entry) {
        if at.level == 0 {
            self.visit_page(at);
        } else if at.entry == at.image && at.level <= self.tree.root.levels {
            // The tree below belongs to the image, whose frames are compared elsewhere.
            if !self.is_mapped_as_image {
                let image = self.tree.image;
                self.check_map(&at, |page| stretch(image, page));
            }
        } else if at.entry == 0 {
            self.check_map(&at, |_| (None, u64::MAX));
        } else if let Some((level, flags)) = uniform_node(at.entry >> ENTRY_FRAME) {
            if level != at.level || at.entry & ENTRY_OWNED != 0 {
                self.report(&at, Damage::EntryFlags { entry: at.entry, level: at.level });
            }
            self.check_map(&at, |_| (Some((0, flags)), u64::MAX));
        } else if at.entry & ((1 << ENTRY_FRAME) - 1) & !NODE_FLAGS != 0 {
            self.report(&at, Damage::EntryFlags { entry: at.entry, level: at.level });
        } else if let Some(is_owned) = self.check_frame(&at) {
            self.visit_node(&at, is_owned);
        }
    }

    fn visit_node(&mut self, at: &Entry, is_owned: bool) {
        let memory = self.tree.memory;
        let Some(node) = memory.node(at.entry >> ENTRY_FRAME) else { return };
        let image_node = memory.image.words.get((at.image >> ENTRY_FRAME) as usize);
        let level = at.level - 1;
        for index in 0..1 << LEVEL_BITS {
            let entry_of = |node: &[u64]| (node[index / 2] >> (32 * (index % 2))) as u32;
            let image = if at.image == 0 {
                0
            } else if at.level > self.tree.root.levels {
                if index == 0 { at.image } else { 0 }
            } else {
                image_node.map_or(0, |node| entry_of(node))
            };
            let page = at.page + ((index as u64) << (LEVEL_BITS * level));
            self.visit(Entry { entry: entry_of(node), image, level, page, is_owned, ..*at });
        }
    }

    fn visit_page(&mut self, at: Entry) {
        if self.is_mapped_as_image && at.entry == at.image {
            return;
        }
        let page = self.map.page(at.page);
        let expected = page.map_or(0, |page| flags(page.permissions));
        let is = at.entry & MAPPING_FLAGS;
        if at.entry & ((1 << ENTRY_FRAME) - 1) & !PAGE_FLAGS != 0 {
            return self.report(&at, Damage::EntryFlags { entry: at.entry, level: 0 });
        }
        if is != expected {
            self.report(&at, Damage::Mapping { is, expected });
        }
        let (frame, is_marked) = (at.entry >> ENTRY_FRAME, at.entry & ENTRY_OWNED != 0);
        if at.entry & ENTRY_PRIVATE == 0 {
            let frame_there = page.map_or(0, |page| self.tree.root.frame_of(page.frame));
            if is_marked {
                self.report(&at, Damage::EntryFlags { entry: at.entry, level: 0 });
            } else if frame != frame_there {
                let expected = frame_there << ENTRY_FRAME | expected;
                self.report(&at, Damage::EntryImage { entry: at.entry, level: 0, expected });
            }
            return;
        }
        self.written += 1;
        // A page that is also in the snapshot and was mapped again since is zero and has no frame.
        if frame != 0 {
            self.check_frame(&at);
        } else if is_marked {
            self.report(&at, Damage::EntryFlags { entry: at.entry, level: 0 });
        }
    }

    /// Checks the node of the pipe windows, to which `entry` leads, and their pages.
    fn visit_pipes(&mut self, entry: u32) {
        if entry == 0 {
            return;
        }
        let top = Entry { entry, image: 0, level: 1, page: 0, is_owned: true, is_of_pipes: true };
        let Some(is_owned) = self.check_frame(&top) else { return };
        let Some(node) = self.tree.memory.node(entry >> ENTRY_FRAME) else { return };
        for index in 0..1 << LEVEL_BITS {
            let entry = (node[index / 2] >> (32 * (index % 2))) as u32;
            let at = Entry { entry, level: 0, page: index as u64, is_owned, ..top };
            let is_possible = index < (PIPE_WINDOWS * PIPE_BYTES) as usize / PAGE_BYTES;
            if entry & ((1 << ENTRY_FRAME) - 1) & !ENTRY_OWNED != 0 || !is_possible && entry != 0 {
                self.report(&at, Damage::EntryFlags { entry, level: 0 });
            } else if entry != 0 {
                self.check_frame(&at);
            }
        }
    }

    /// Checks that an entry leads to a frame of the lane for this page and level, and that the frame is marked as owned
    /// exactly if the snapshot does not use it. Returns whether it is marked, or `None` if the tree below cannot be
    /// checked.
    fn check_frame(&mut self, at: &Entry) -> Option<bool> {
        let Tree { memory, chains, lane, root, shared, used, .. } = self.tree;
        let &Entry { entry, image, level, page, is_owned, is_of_pipes } = at;
        let window = if is_of_pipes { 0 } else { root.window };
        let frame = entry >> ENTRY_FRAME;
        let mut wrong = |damage| {
            self.report(at, damage);
            None
        };
        if frame >= memory.used {
            return wrong(Damage::EntryFrame { entry, level, used: memory.used });
        }
        if frame < memory.shared() {
            return wrong(Damage::EntryImage { entry, level, expected: image });
        }
        match chains.owner(frame) {
            Some(owner) if owner == lane => {}
            Some(owner) => return wrong(Damage::EntryForeign { entry, level, owner }),
            // The frame is in no chain, which is reported already.
            None => return None,
        }
        if memory.is_node(frame) != (level > 0 || is_of_pipes) {
            return wrong(Damage::EntryKind { entry, level });
        }
        let [low, high, ..] = memory.info[frame as usize];
        let taken_for = word(low, high & INFO_PAGE_HIGH);
        if taken_for.wrapping_sub(window) >> (LEVEL_BITS * level) != (page - window) >> (LEVEL_BITS * level) {
            return wrong(Damage::EntryPage { entry, level, page: taken_for });
        }
        let place = chains.place(frame);
        let owned = is_owned && entry & ENTRY_OWNED != 0;
        let fits = if owned { shared < place && place <= used } else { place <= shared };
        if !fits || (owned && self.in_snapshot) {
            self.report(at, Damage::EntryOwner { entry, level, owned, place, shared, used });
        }
        if let Some(seen) = self.seen.get_mut(place as usize)
            && std::mem::replace(seen, true)
        {
            self.report(at, Damage::EntryTwice { entry, level });
            return None;
        }
        Some(owned)
    }

    /// Checks that the pages below an entry, which belong to the image or are uniform, are mapped so in the host's page map.
    /// `entry_of` returns the frame and flags of a page, and the first page for which they may be others.
    fn check_map(&mut self, at: &Entry, entry_of: impl Fn(u64) -> (Option<(u32, u32)>, u64)) {
        let end = at.page + (1 << (LEVEL_BITS * at.level));
        let mut page = at.page;
        while page < end {
            let (is, is_end) = entry_of(page);
            let (expected, expected_end) = stretch(self.map, page);
            if is != expected {
                let of = |page: Option<(u32, u32)>| page.map_or(0, |(_, flags)| flags);
                let damage = Damage::Mapping { is: of(is), expected: of(expected) };
                return self.report(&Entry { page, ..*at }, damage);
            }
            page = is_end.min(expected_end);
        }
    }
}

/// Returns the frame and the flags of a page, or `None` if it is not mapped, and the first page after the stretch or gap
/// that it is in. Frames are consecutive within a stretch.
fn stretch(map: &PageMap, page: u64) -> (Option<(u32, u32)>, u64) {
    match map.stretch(page) {
        Some(Region { end_page, permissions, first_frame, .. }) => {
            (Some((first_frame.unwrap_or(0), flags(permissions))), end_page)
        }
        None => {
            let next = map.regions().partition_point(|region| region.first_page <= page);
            (None, map.regions().get(next).map_or(u64::MAX, |region| region.first_page))
        }
    }
}
