//! The blocks of a region and the edges between them.

use kvrm_arm64::micro_op::MicroOp;

/// The mask of the offset of an address in its page.
pub(crate) const PAGE: u64 = 0xfff;

/// The limits of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The largest number of instructions.
    pub instructions: usize,
    /// The largest number of pages that these are in.
    pub pages: usize,
    /// The largest number of edges between an entry, or a hot block, and another block.
    pub distance: usize,
}

/// Instructions of which either all are executed, or those before one that ends the execution of the region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The address of the first instruction.
    pub pc: u64,
    /// The micro-ops of the instructions, which are in one page. There is at least one.
    pub ops: Vec<MicroOp>,
    /// Where execution goes on.
    pub end: End,
    /// Whether lanes may enter the region here: at an address that was asked for, at one to which a call returns, at the
    /// head of a loop, so that a lane that had to leave comes back soon, or where another page leads to.
    pub is_entry: bool,
}

/// Where execution goes on after a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// At one place: the block ends with a branch or a call, or because another block begins there, or the region ends.
    Always(Edge),
    /// At one of two places, which the last micro-op of the block decides.
    Either {
        /// If the branch is taken.
        taken: Edge,
        /// If not.
        next: Edge,
    },
    /// At the address in the register `a` of the last micro-op. These blocks are candidates; other addresses leave the
    /// region.
    Register(Vec<usize>),
}

/// A place where execution goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The address.
    pub pc: u64,
    /// The block at the address, or `None` if it is outside the region.
    pub block: Option<usize>,
    /// Whether the address is in another page than the block. Which code that page has depends on the lane.
    pub leaves_page: bool,
}

impl Block {
    /// Returns the address of the last instruction.
    #[must_use]
    pub fn last_pc(&self) -> u64 {
        self.pc.wrapping_add(4 * (self.ops.len() as u64 - 1))
    }

    /// Returns the blocks in which execution may go on.
    pub fn successors(&self) -> impl Iterator<Item = usize> {
        let (edges, candidates): ([Option<Edge>; 2], &[usize]) = match &self.end {
            End::Always(edge) => ([Some(*edge), None], &[]),
            End::Either { taken, next } => ([Some(*taken), Some(*next)], &[]),
            End::Register(blocks) => ([None, None], blocks),
        };
        edges.into_iter().flatten().filter_map(|edge| edge.block).chain(candidates.iter().copied())
    }
}
