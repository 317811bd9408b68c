//! The structure of a region executes the same blocks as the region.

use kvrm_translate::{Item, Region, Structure};

use crate::random::Random;

/// Executes a structure as code in a language without jumps would do.
struct Walk<'a> {
    region: &'a Region,
    structure: &'a Structure,
    random: Random,
    next: Option<u32>,
    path: Vec<usize>,
}

/// The number of blocks after which a walk ends.
const LENGTH: usize = 200;

/// Returns the block behind a block that a lane takes; `None` if it leaves the region.
fn choose(region: &Region, block: usize, random: &mut Random) -> Option<usize> {
    let successors: Vec<usize> = region.blocks[block].successors().collect();
    let leaves = successors.is_empty() || random.below(8) == 0;
    if leaves { None } else { Some(*random.pick(&successors)) }
}

impl Walk<'_> {
    fn items(&mut self, items: &[Item]) {
        for item in items {
            match item {
                Item::Block(block) if self.next == self.structure.labels[*block] => self.block(*block),
                Item::Block(_) => {}
                Item::Loop { first, last, items } => {
                    while self.next.is_some_and(|next| (*first..=*last).contains(&next)) {
                        self.items(items);
                    }
                }
            }
        }
    }

    fn block(&mut self, block: usize) {
        self.path.push(block);
        self.next = None;
        if self.path.len() == LENGTH {
            return;
        }
        let Some(to) = choose(self.region, block, &mut self.random) else { return };
        match self.structure.labels[to] {
            Some(label) => self.next = Some(label),
            None => self.block(to),
        }
    }
}

/// Returns the labels of items in their order. Checks that those of a loop are the ones that it says.
fn labels(structure: &Structure, items: &[Item]) -> Vec<u32> {
    let mut all = Vec::new();
    for item in items {
        match item {
            Item::Block(block) => all.extend(structure.labels[*block]),
            Item::Loop { first, last, items } => {
                let inner = labels(structure, items);
                assert_eq!((inner.first(), inner.last()), (Some(first), Some(last)), "the labels of a loop");
                all.extend(inner);
            }
        }
    }
    all
}

/// Checks that a walk through the structure of a region takes the same blocks as a walk through the region, with the same
/// random choices, from each entry.
///
/// # Panics
///
/// The walks differ, or labels are not in the order of the items.
pub fn check_structure(region: &Region, random: &mut Random) {
    let structure = Structure::of(region);
    let labels = labels(&structure, &structure.items);
    assert!(labels.iter().copied().eq(0..labels.len() as u32), "in the order of the items: {labels:?}");
    for (entry, block) in region.blocks.iter().enumerate().filter(|(_, block)| block.is_entry) {
        let label = structure.labels[entry];
        assert!(label.is_some(), "the entry at {:#x} has a label", block.pc);
        let choices = Random::new(random.bits());
        let (random, path) = (choices.clone(), Vec::new());
        let mut walk = Walk { region, structure: &structure, random, next: label, path };
        walk.items(&structure.items);
        let mut path = vec![entry];
        let mut random = choices;
        while path.len() < LENGTH
            && let Some(to) = choose(region, path[path.len() - 1], &mut random)
        {
            path.push(to);
        }
        assert_eq!(walk.path, path, "the walks from the entry at {:#x}", block.pc);
    }
}
