//! Regions: micro-ops as a graph of basic blocks.
//!
//! A region is found from the addresses at which lanes enter it, by following branches, calls and returns until the
//! code ends or a limit is reached. Its blocks are in reverse post-order, so an edge to the same block or an earlier
//! one goes back, and its target is the head of a loop.

use std::collections::BTreeMap;

use kvrm_arm64::micro_op::MicroOp;

use crate::block::{Block, Edge, End, Limits, PAGE};
use crate::discovery::Leaders;
use crate::effects::Flow;
use crate::order::{self, components};

/// Micro-ops as a graph of basic blocks.
///
/// ```
/// use kvrm_arm64::Features;
/// use kvrm_arm64::lowering::lower;
/// use kvrm_translate::{Limits, Region};
///
/// // A loop that counts x0 down, and the instruction behind it.
/// let words = [0xf100_0400, 0x54ff_ffe1, 0xd503_201f, 0xd400_0001]; // subs, b.ne, nop, svc
/// let fetch = |pc: u64| Some(lower(*words.get(pc as usize / 4)?, Features::BASE));
/// let limits = Limits { instructions: 100, pages: 1, distance: 8 };
/// let region = Region::find(&[0], &limits, fetch);
/// assert_eq!(region.blocks.len(), 2, "the call of the host is not part of it");
/// assert!(region.is_loop_head(0));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Region {
    /// The blocks, in reverse post-order.
    pub blocks: Vec<Block>,
}

impl Region {
    /// Finds the region that begins at `entries`. `fetch` returns the micro-op at an address, or `None` if there is no
    /// code or the caller does not want it in a region. Instructions that stop a lane or call the host are never in a
    /// region.
    ///
    /// The region contains what is closest to the entries. It is empty if no entry can be fetched.
    pub fn find(entries: &[u64], limits: &Limits, fetch: impl Fn(u64) -> Option<MicroOp>) -> Self {
        let leaders = Leaders::find(entries, limits, |_| false, fetch);
        Self::of_blocks(Self::linked(&leaders))
    }

    /// Finds the regions around addresses at which lanes have been seen, first of all the first. `limits` are for all regions
    /// together. Blocks with an instruction that is hot have distance 0.
    pub(crate) fn find_around(
        seen: &[u64],
        limits: &Limits,
        is_hot: impl Fn(u64) -> bool,
        fetch: impl Fn(u64) -> Option<MicroOp>,
    ) -> Vec<Self> {
        let leaders = Leaders::find_around(seen, limits, is_hot, fetch);
        components(Self::linked(&leaders)).into_iter().map(Self::of_blocks).collect()
    }

    /// Returns the region with blocks whose edges are set.
    fn of_blocks(mut blocks: Vec<Block>) -> Self {
        order::add_entries(&mut blocks);
        let mut region = Self { blocks: order::reverse_postorder(blocks) };
        for head in 0..region.blocks.len() {
            region.blocks[head].is_entry |= region.is_loop_head(head);
        }
        for (_, target) in region.edges_to_other_pages() {
            region.blocks[target].is_entry = true;
        }
        region
    }

    /// Returns the blocks of the instructions, with their edges.
    fn linked(leaders: &Leaders) -> Vec<Block> {
        let mut blocks = Self::divide(leaders);
        Self::link(&mut blocks, leaders);
        blocks
    }

    /// Divides the instructions into blocks.
    fn divide(leaders: &Leaders) -> Vec<Block> {
        let mut blocks: Vec<Block> = Vec::new();
        let mut follows = None;
        for (&pc, &op) in &leaders.ops {
            match blocks.last_mut().filter(|_| follows == Some(pc) && !leaders.starts.contains(&pc)) {
                Some(block) => block.ops.push(op),
                None => blocks.push(Block {
                    pc,
                    ops: vec![op],
                    end: End::Register(Vec::new()),
                    is_entry: leaders.entries.contains(&pc),
                }),
            }
            let next = pc.wrapping_add(4);
            follows = (Flow::of(pc, op) == Flow::Next && next & !PAGE == pc & !PAGE).then_some(next);
        }
        blocks
    }

    /// Sets the ends of the blocks.
    fn link(blocks: &mut [Block], leaders: &Leaders) {
        let numbers: BTreeMap<u64, usize> =
            blocks.iter().enumerate().map(|(n, block)| (block.pc, n)).collect();
        let returns = leaders.returns();
        let indirect: Vec<usize> =
            leaders.indirect_targets().iter().filter_map(|pc| numbers.get(pc).copied()).collect();
        for block in blocks {
            let last = block.last_pc();
            let next = last.wrapping_add(4);
            let edge = |pc: u64| Edge {
                pc,
                block: numbers.get(&pc).copied(),
                leaves_page: pc & !PAGE != last & !PAGE,
            };
            block.end = match Flow::of(last, block.ops[block.ops.len() - 1]) {
                Flow::Next => End::Always(edge(next)),
                Flow::Always(target) | Flow::Call(target) => End::Always(edge(target)),
                Flow::Either(target) => End::Either { taken: edge(target), next: edge(next) },
                Flow::Return => {
                    let sites = returns.get(&last).into_iter().flatten();
                    End::Register(sites.filter_map(|pc| numbers.get(pc).copied()).collect())
                }
                Flow::Register | Flow::RegisterCall => End::Register(indirect.clone()),
                Flow::Stop => End::Register(Vec::new()),
            };
        }
    }

    /// Returns the edges between blocks in different pages: from which block to which.
    fn edges_to_other_pages(&self) -> Vec<(usize, usize)> {
        let page = |block: usize| self.blocks[block].pc & !PAGE;
        let edges =
            (0..self.blocks.len()).flat_map(|from| self.blocks[from].successors().map(move |to| (from, to)));
        edges.filter(|(from, to)| page(*from) != page(*to)).collect()
    }

    /// Returns the addresses of the instructions, block by block.
    pub fn addresses(&self) -> impl Iterator<Item = u64> {
        self.blocks.iter().flat_map(|block| (0..block.ops.len() as u64).map(|n| block.pc.wrapping_add(4 * n)))
    }

    /// Returns the number of instructions.
    #[must_use]
    pub fn instructions(&self) -> usize {
        self.blocks.iter().map(|block| block.ops.len()).sum()
    }

    /// Returns the addresses of the pages that have code of the region, in ascending order.
    #[must_use]
    pub fn pages(&self) -> Vec<u64> {
        let mut pages: Vec<u64> = self.blocks.iter().map(|block| block.pc & !PAGE).collect();
        pages.sort_unstable();
        pages.dedup();
        pages
    }

    /// Returns the block that begins at an address.
    #[must_use]
    pub fn block_at(&self, pc: u64) -> Option<usize> {
        self.blocks.iter().position(|block| block.pc == pc)
    }

    /// Returns for each block the blocks from which execution may go on there, in ascending order.
    #[must_use]
    pub fn predecessors(&self) -> Vec<Vec<usize>> {
        let mut predecessors = vec![Vec::new(); self.blocks.len()];
        for (number, block) in self.blocks.iter().enumerate() {
            for successor in block.successors() {
                if predecessors[successor].last() != Some(&number) {
                    predecessors[successor].push(number);
                }
            }
        }
        predecessors
    }

    /// Whether an edge goes back to a block.
    #[must_use]
    pub fn is_loop_head(&self, block: usize) -> bool {
        self.blocks[block..].iter().any(|from| from.successors().any(|to| to == block))
    }
}
