//! Structured control flow: the blocks of a region as nested loops and conditions, for languages without jumps.
//!
//! A variable, `next`, has the label of the block in which execution goes on. The items of a region are executed in
//! order, and each one only if `next` has its label, or one of its labels:
//!
//! ```text
//! if next == 0 { block; next = 1 or 3 }
//! if next in 1..=2 {
//!     loop {
//!         if next == 1 { block; next = 2 }
//!         if next == 2 { block; next = 1 or 3 }
//!         if next not in 1..=2 { break }
//!     }
//! }
//! if next == 3 { ... }
//! ```
//!
//! A block that follows only one other is part of that one's branch and needs no label. An entry in the middle of a
//! loop, or a loop with several heads, only needs another value of `next`.

use std::collections::BTreeSet;

use crate::block::End;
use crate::region::Region;

/// The largest number of blocks that are nested in each other. Compilers of shaders have limits.
const DEPTH_MAX: usize = 16;

/// The blocks of a region as nested loops.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Structure {
    /// The items in the order in which they are executed.
    pub items: Vec<Item>,
    /// The label of each block, or `None` if the block is nested in its only predecessor.
    pub labels: Vec<Option<u32>>,
}

/// A part of a structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// A block, with those that are nested in it.
    Block(usize),
    /// A loop. It is repeated as long as `next` is one of its labels.
    Loop {
        /// The lowest label.
        first: u32,
        /// The highest label.
        last: u32,
        /// The items, first the head.
        items: Vec<Self>,
    },
}

/// Blocks as nested loops, before it is known which are nested in others.
enum Nest {
    Block(usize),
    Loop(Vec<Self>),
}

impl Structure {
    /// Returns the structure of a region.
    #[must_use]
    pub fn of(region: &Region) -> Self {
        let predecessors = region.predecessors();
        let mut loops =
            Loops { predecessors: &predecessors, innermost: vec![0; predecessors.len()], count: 1 };
        let nests = loops.arrange((0..region.blocks.len()).collect(), 0);
        let is_nested = nested(region, &predecessors, &loops.innermost);
        let mut structure = Self { items: Vec::new(), labels: vec![None; region.blocks.len()] };
        let mut count = 0;
        structure.items = structure.label(&nests, &is_nested, &mut count);
        structure
    }

    /// Gives labels to the blocks that are not nested in others, in their order.
    fn label(&mut self, nests: &[Nest], is_nested: &[bool], count: &mut u32) -> Vec<Item> {
        let mut items = Vec::new();
        for nest in nests {
            match nest {
                Nest::Block(block) if is_nested[*block] => {}
                Nest::Block(block) => {
                    self.labels[*block] = Some(*count);
                    *count += 1;
                    items.push(Item::Block(*block));
                }
                Nest::Loop(nests) => {
                    let first = *count;
                    let inner = self.label(nests, is_nested, count);
                    items.push(Item::Loop { first, last: *count - 1, items: inner });
                }
            }
        }
        items
    }
}

/// Finds the loops of a region.
struct Loops<'a> {
    predecessors: &'a [Vec<usize>],
    /// The number of the innermost loop of each block; 0 outside of loops.
    innermost: Vec<usize>,
    /// The number of loops, and 1.
    count: usize,
}

impl Loops<'_> {
    /// Arranges blocks that are in the loop `of`, in topological order apart from edges to heads of loops.
    ///
    /// In reverse post-order the first block of a set comes before all that it does not repeat with. So the first block
    /// of the set, and the blocks that lead back to it, are either one block or a loop.
    fn arrange(&mut self, mut blocks: BTreeSet<usize>, of: usize) -> Vec<Nest> {
        let mut nests = Vec::new();
        while let Some(head) = blocks.pop_first() {
            let body = self.leading_to(head, &blocks);
            if body.is_empty() && !self.predecessors[head].contains(&head) {
                self.innermost[head] = of;
                nests.push(Nest::Block(head));
                continue;
            }
            let number = self.count;
            self.count += 1;
            self.innermost[head] = number;
            blocks.retain(|block| !body.contains(block));
            let mut inner = vec![Nest::Block(head)];
            inner.extend(self.arrange(body, number));
            nests.push(Nest::Loop(inner));
        }
        nests
    }

    /// Returns the blocks of a set from which execution may come to `head` without leaving the set.
    fn leading_to(&self, head: usize, among: &BTreeSet<usize>) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let mut waiting = vec![head];
        while let Some(block) = waiting.pop() {
            for &from in &self.predecessors[block] {
                if among.contains(&from) && found.insert(from) {
                    waiting.push(from);
                }
            }
        }
        found
    }
}

/// Returns for each block whether it is nested in its predecessor: the only one, by the only edge, in the same loop. A
/// block behind a loop stays outside of it, where the lanes that left the loop meet again.
fn nested(region: &Region, predecessors: &[Vec<usize>], innermost: &[usize]) -> Vec<bool> {
    let mut depths: Vec<Option<usize>> = vec![None; region.blocks.len()];
    for (number, block) in region.blocks.iter().enumerate() {
        let [from] = predecessors[number][..] else { continue };
        let before = &region.blocks[from];
        let depth = depths[from].unwrap_or(0) + 1;
        let is_branch = !matches!(before.end, End::Register(_));
        let is_only_edge = before.successors().filter(|to| *to == number).count() == 1;
        let is_behind = from < number && innermost[from] == innermost[number];
        if !block.is_entry && is_branch && is_only_edge && is_behind && depth <= DEPTH_MAX {
            depths[number] = Some(depth);
        }
    }
    depths.into_iter().map(|depth| depth.is_some()).collect()
}
