//! Which registers and flags are still needed, by a backward analysis, and which have changed, by a forward one.

use kvrm_arm64::micro_op::MicroOp;

use crate::block::{Block, Edge, End};
use crate::checks::Checks;
use crate::effects::{Effects, NZCV};
use crate::region::Region;
use crate::registers::Registers;

/// What is needed of registers and flags at a place in a region.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Live {
    /// The registers whose values may be read before they are written, by instructions or by an exit. An exit reads the
    /// registers that may have changed since the lane entered the region, because it has to store them.
    pub registers: Registers,
    /// The flags that instructions of the region may read before they are set.
    pub flags: u32,
    /// The flags that an exit may read before they are set.
    pub flags_at_exits: u32,
}

impl Live {
    fn join(&mut self, other: Self) {
        self.registers = self.registers.with(other.registers);
        self.flags |= other.flags;
        self.flags_at_exits |= other.flags_at_exits;
    }

    /// Adds what an exit needs at which `changed` may have changed.
    fn exit(&mut self, changed: Registers) {
        self.registers = self.registers.with(changed);
        self.flags_at_exits = NZCV;
    }

    /// Goes from behind a micro-op to its front.
    fn before(mut self, op: MicroOp) -> Self {
        let effects = Effects::of(op);
        self.registers = self.registers.without(effects.writes).with(effects.reads);
        self.flags = self.flags & !effects.sets_flags | effects.reads_flags;
        self.flags_at_exits &= !effects.sets_flags;
        self
    }
}

/// What is needed of registers and flags, and what has changed, everywhere in a region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Liveness {
    /// For each block what is needed in front of it.
    pub before: Vec<Live>,
    /// For each block and each of its micro-ops what is needed behind it.
    pub after: Vec<Vec<Live>>,
    /// For each block the registers that may have changed, since the lane entered the region, when it begins.
    pub changed: Vec<Registers>,
}

impl Liveness {
    /// Analyses a region. `may_exit` says whether execution may leave the region before a micro-op, because the
    /// translated code cannot do it in all cases. Exits at edges and at checks of the budget need no mention.
    #[must_use]
    pub fn of(region: &Region, checks: &Checks, may_exit: impl Fn(MicroOp) -> bool) -> Self {
        let changed = changed(region);
        let mut all = Self {
            before: vec![Live::default(); region.blocks.len()],
            after: region.blocks.iter().map(|block| vec![Live::default(); block.ops.len()]).collect(),
            changed,
        };
        let mut is_settled = false;
        while !is_settled {
            is_settled = true;
            for (number, block) in region.blocks.iter().enumerate().rev() {
                let before = all.update(number, block, checks.steps[number].is_some(), &may_exit);
                is_settled &= before == all.before[number];
                all.before[number] = before;
            }
        }
        all
    }

    /// Returns the registers that may have changed when a block has executed `count` micro-ops.
    #[must_use]
    pub fn changed_after(&self, region: &Region, block: usize, count: usize) -> Registers {
        let ops = &region.blocks[block].ops[..count];
        ops.iter().fold(self.changed[block], |changed, op| changed.with(Effects::of(*op).may_write))
    }

    /// Computes a block anew from its successors. Returns what is needed in front of it.
    fn update(
        &mut self,
        number: usize,
        block: &Block,
        has_check: bool,
        may_exit: impl Fn(MicroOp) -> bool,
    ) -> Live {
        let mut changes = vec![self.changed[number]];
        for op in &block.ops {
            changes.push(changes[changes.len() - 1].with(Effects::of(*op).may_write));
        }
        let mut live = Live::default();
        if leaves(&block.end) {
            live.exit(changes[block.ops.len()]);
        }
        for successor in block.successors() {
            live.join(self.before[successor]);
        }
        for (index, &op) in block.ops.iter().enumerate().rev() {
            self.after[number][index] = live;
            live = live.before(op);
            if may_exit(op) {
                live.exit(changes[index]);
            }
        }
        if has_check {
            live.exit(changes[0]);
        }
        live
    }
}

/// Whether execution may leave the region at the end of a block.
fn leaves(end: &End) -> bool {
    let is_exit = |edge: &Edge| edge.block.is_none() || edge.leaves_page;
    match end {
        End::Always(edge) => is_exit(edge),
        End::Either { taken, next } => is_exit(taken) || is_exit(next),
        End::Register(_) => true,
    }
}

/// Returns for each block the registers that may have changed when it begins.
fn changed(region: &Region) -> Vec<Registers> {
    let mut changed = vec![Registers::NONE; region.blocks.len()];
    let mut is_settled = false;
    while !is_settled {
        is_settled = true;
        for (number, block) in region.blocks.iter().enumerate() {
            let after =
                block.ops.iter().fold(changed[number], |all, op| all.with(Effects::of(*op).may_write));
            for successor in block.successors() {
                let joined = changed[successor].with(after);
                is_settled &= joined == changed[successor];
                changed[successor] = joined;
            }
        }
    }
    changed
}
