//! Regions: the blocks of a program that are translated together, found from the block at which lanes enter them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use kvrm_arm64::micro_op::{Handler, MicroOp, SINK, ZERO};

/// The part of a program that is translated to one function: blocks that are reached from the first without a call or
/// an indirect branch.
#[derive(Debug)]
pub(crate) struct Region {
    /// The address at which lanes enter.
    pub(crate) entry: u64,
    /// The blocks by their addresses.
    pub(crate) blocks: BTreeMap<u64, Block>,
}

/// Instructions that are executed one after the other.
#[derive(Debug)]
pub(crate) struct Block {
    /// The instructions, at least one. The last one may be a branch.
    pub(crate) ops: Vec<MicroOp>,
    /// What comes after them.
    pub(crate) end: End,
    /// Whether the block has several predecessors or is the entry.
    pub(crate) is_root: bool,
    /// If the fuel is checked before the block: the largest number of steps from here to the next check or exit. That is
    /// so for the entry and in each cycle, for roots only.
    pub(crate) check: Option<u64>,
    /// If the block is the head of a loop: the general registers that the loop uses, a bit each.
    pub(crate) loop_registers: u64,
}

/// What comes after the instructions of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The instruction at this address.
    Next(u64),
    /// The target of the conditional branch, or the instruction after it.
    Fork { taken: u64, next: u64 },
    /// The target of an indirect branch.
    Indirect,
}

impl Region {
    /// Finds the region that begins at `entry`, with about `size` instructions at most. `lowered` returns the micro-op
    /// at an address, or `None` if it must not be translated. Returns `None` if the first instruction has to be
    /// interpreted.
    pub(crate) fn find(
        entry: u64,
        size: usize,
        mut lowered: impl FnMut(u64) -> Option<MicroOp>,
    ) -> Option<Self> {
        let mut ops = BTreeMap::new();
        let mut starts = BTreeSet::from([entry]);
        let mut queue = VecDeque::from([entry]);
        while let Some(start) = queue.pop_front() {
            let mut pc = start;
            while !ops.contains_key(&pc) && ops.len() < size {
                let Some(op) = lowered(pc).filter(is_translated) else { break };
                ops.insert(pc, op);
                let Some(end) = branch(pc, op) else {
                    pc = pc.wrapping_add(4);
                    continue;
                };
                let targets = match end {
                    // A call, whose target is another region.
                    End::Next(_) if op.dst() != SINK => [None; 2],
                    End::Next(target) => [Some(target), None],
                    End::Fork { taken, next } => [Some(next), Some(taken)],
                    End::Indirect => [None; 2],
                };
                for target in targets.into_iter().flatten() {
                    if starts.insert(target) {
                        queue.push_back(target);
                    }
                }
                break;
            }
        }
        ops.contains_key(&entry).then(|| Self::of_blocks(entry, blocks(&ops, &starts)))
    }

    /// Returns the region of these blocks, whose roots and checks are not known yet.
    fn of_blocks(entry: u64, mut blocks: BTreeMap<u64, Block>) -> Self {
        let mut predecessors: BTreeMap<u64, usize> = BTreeMap::from([(entry, 2)]);
        for target in blocks.values().flat_map(|block| block.end.targets()) {
            *predecessors.entry(target).or_default() += 1;
        }
        for (pc, block) in &mut blocks {
            block.is_root = predecessors.get(pc).is_none_or(|count| *count > 1);
        }
        blocks.entry(entry).and_modify(|block| block.check = Some(0));
        let mut region = Self { entry, blocks };
        region.visit(entry, &mut BTreeMap::new());
        let heads: Vec<u64> =
            region.blocks.iter().filter(|(_, block)| block.check.is_some()).map(|(pc, _)| *pc).collect();
        for head in heads {
            let registers = region.loop_registers(head);
            region.blocks.entry(head).and_modify(|block| block.loop_registers = registers);
        }
        region
    }

    /// Visits a block, and then what follows it, in a search from the entry. Returns the number of steps from the block to
    /// the next check or exit. `visited` has the result of finished visits.
    ///
    /// An edge to a block whose visit is not finished closes a cycle, so there is a check before that block.
    fn visit(&mut self, pc: u64, visited: &mut BTreeMap<u64, Option<u64>>) -> u64 {
        visited.insert(pc, None);
        let mut longest = 0;
        for target in self.blocks[&pc].end.targets() {
            let steps = match visited.get(&target) {
                Some(Some(steps)) => *steps,
                Some(None) => {
                    self.blocks.entry(target).and_modify(|head| head.check = Some(0));
                    0
                }
                None if self.blocks.contains_key(&target) => self.visit(target, visited),
                None => 0,
            };
            longest = longest.max(steps);
        }
        let Some(block) = self.blocks.get_mut(&pc) else { return 0 };
        let steps = block.ops.len() as u64 + longest;
        let has_check = block.check.is_some();
        block.check = has_check.then_some(steps);
        let steps = if has_check { 0 } else { steps };
        visited.insert(pc, Some(steps));
        steps
    }
}

impl Region {
    /// Returns the registers that are used by blocks on paths from a block back to itself, a bit each.
    fn loop_registers(&self, head: u64) -> u64 {
        let mut reached = BTreeSet::new();
        let mut left = vec![head];
        while let Some(block) = left.pop().and_then(|pc| self.blocks.get(&pc)) {
            left.extend(block.end.targets().filter(|to| self.blocks.contains_key(to) && reached.insert(*to)));
        }
        // Those from which the head is reached, those that are nearest to it first.
        let mut inside = BTreeSet::new();
        loop {
            let leads_back = |to: u64| to == head || inside.contains(&to);
            let leads = |pc: &u64| self.blocks[pc].end.targets().any(leads_back);
            let more: Vec<u64> =
                reached.iter().copied().filter(|pc| !inside.contains(pc) && leads(pc)).collect();
            if more.is_empty() {
                break;
            }
            inside.extend(more);
        }
        inside.iter().flat_map(|pc| &self.blocks[pc].ops).fold(0, |all, op| all | registers(*op))
    }
}

/// Returns the general registers that an instruction may use, a bit each.
fn registers(op: MicroOp) -> u64 {
    let named = [op.dst(), op.a(), op.b(), op.c()].into_iter().fold(0, |all, register| all | 1 << register);
    named & !(1 << ZERO | 1 << SINK)
}

impl End {
    /// Returns the addresses that are known.
    pub(crate) fn targets(self) -> impl Iterator<Item = u64> {
        let targets = match self {
            Self::Next(next) => [Some(next), None],
            Self::Fork { taken, next } => [Some(taken), Some(next)],
            Self::Indirect => [None, None],
        };
        targets.into_iter().flatten()
    }
}

/// Divides instructions into blocks, which begin at `starts` and after branches.
fn blocks(ops: &BTreeMap<u64, MicroOp>, starts: &BTreeSet<u64>) -> BTreeMap<u64, Block> {
    let mut blocks = BTreeMap::new();
    for &start in starts.iter().filter(|start| ops.contains_key(start)) {
        let mut block =
            Block { ops: Vec::new(), end: End::Indirect, is_root: false, check: None, loop_registers: 0 };
        let mut pc = start;
        while let Some(&op) = ops.get(&pc) {
            block.ops.push(op);
            let end = branch(pc, op);
            pc = pc.wrapping_add(4);
            // The instruction there may be outside the region: interpreted, or in another region.
            block.end = end.unwrap_or(End::Next(pc));
            if end.is_some() || starts.contains(&pc) {
                break;
            }
        }
        blocks.insert(start, block);
    }
    blocks
}

/// Returns where a branch leads, or `None` if the instruction is none.
fn branch(pc: u64, op: MicroOp) -> Option<End> {
    let next = pc.wrapping_add(4);
    let taken = pc.wrapping_add(op.imm);
    let handler = op.handler();
    if handler == Handler::BRANCH_REGISTER as u32 {
        Some(End::Indirect)
    } else if handler == Handler::BRANCH as u32 && op.cond() >= 14 {
        Some(End::Next(taken))
    } else if handler == Handler::BRANCH as u32 || handler == Handler::TEST_BRANCH as u32 {
        Some(End::Fork { taken, next })
    } else {
        None
    }
}

/// Returns whether an instruction can be part of a region. Those that authenticate an address that they use, and those that always
/// stop the lane, cannot.
fn is_translated(op: &MicroOp) -> bool {
    let interpreted = [
        Handler::AUTHENTICATE_BRANCH,
        Handler::AUTHENTICATE_LOAD,
        Handler::STALE,
        Handler::SUPERVISOR_CALL,
        Handler::BREAKPOINT,
        Handler::HALT,
        Handler::UNDEFINED,
    ];
    interpreted.iter().all(|handler| op.handler() != *handler as u32)
}

#[cfg(test)]
mod tests {
    use kvrm_arm64::Features;
    use kvrm_arm64::asm::{Assembler, X0, X1};
    use kvrm_arm64::lowering::lower;

    use super::*;

    /// Returns the region of a program at address 0.
    fn region(size: usize, write: impl FnOnce(&mut Assembler)) -> Option<Region> {
        let mut assembler = Assembler::new(0);
        write(&mut assembler);
        let words = assembler.finish().expect("the program assembles");
        Region::find(0, size, |pc| words.get(pc as usize / 4).map(|word| lower(*word, Features::ARMV8_0)))
    }

    #[test]
    fn a_loop_is_two_blocks_with_one_root() {
        let found = region(100, |a| {
            let again = a.label();
            a.bind(again);
            a.add(X0, X0, X1);
            a.cbz(X1, again);
            a.add(X0, X0, X1);
            a.svc(0);
        });
        let blocks = found.expect("the first instruction is translated").blocks;
        let seen: Vec<_> =
            blocks.iter().map(|(pc, block)| (*pc, block.end, block.is_root, block.check)).collect();
        let fork = End::Fork { taken: 0, next: 8 };
        assert_eq!(
            seen,
            [(0, fork, true, Some(3)), (8, End::Next(12), false, None)],
            "the loop and what follows"
        );
    }

    #[test]
    fn an_instruction_that_stops_is_no_region() {
        let found = region(100, |a| {
            a.svc(0);
        });
        assert!(found.is_none(), "SVC is interpreted");
    }
}
