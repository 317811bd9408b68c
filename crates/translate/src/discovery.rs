//! Finds the instructions of a region, and where its blocks begin.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use kvrm_arm64::micro_op::{Handler, MicroOp};

use crate::block::{Limits, PAGE};
use crate::effects::Flow;

/// The instructions of a region by address.
#[derive(Debug, Default)]
pub(crate) struct Leaders {
    pub(crate) ops: BTreeMap<u64, MicroOp>,
    /// The addresses at which blocks begin. Some may be outside the region.
    pub(crate) starts: BTreeSet<u64>,
    /// The addresses at which lanes enter the region.
    pub(crate) entries: BTreeSet<u64>,
    /// The addresses to which branches to registers may lead: entries to which no other code leads. Those that were given
    /// first, or are hottest, come first.
    pub(crate) indirect: Vec<u64>,
    /// The pages of the instructions.
    pages: BTreeSet<u64>,
}

/// The largest number of instructions that are added before one at which a lane was seen.
const BACK_MAX: usize = 16;

/// The largest number of targets of all branches to registers together.
const COMPARISONS_MAX: usize = 512;

fn is_nop(op: MicroOp) -> bool {
    op.handler() == Handler::NOP as u32
}

impl Leaders {
    /// Follows the code from `entries`, breadth first. The distance of a block is from the last hot one before it.
    pub(crate) fn find(
        entries: &[u64],
        limits: &Limits,
        is_hot: impl Fn(u64) -> bool,
        fetch: impl Fn(u64) -> Option<MicroOp>,
    ) -> Self {
        let indirect = entries.to_vec();
        let mut found = Self { entries: entries.iter().copied().collect(), indirect, ..Self::default() };
        found.follow(entries, limits, &is_hot, &fetch);
        found
    }

    /// Follows the code from addresses at which lanes have been seen, first of all the first. These are in the middle of
    /// blocks, so they are entries only if no other code that was found leads there.
    pub(crate) fn find_around(
        seen: &[u64],
        limits: &Limits,
        is_hot: impl Fn(u64) -> bool,
        fetch: impl Fn(u64) -> Option<MicroOp>,
    ) -> Self {
        let mut found = Self::default();
        found.follow(seen, limits, &is_hot, &fetch);
        let targets = found.targets();
        found.starts.retain(|pc| targets.contains(pc) || found.entries.contains(pc));
        for &pc in seen {
            if found.ops.contains_key(&pc) && !found.is_behind_another(pc) && !targets.contains(&pc) {
                let first = found.extend_back(pc, limits, &fetch);
                found.starts.insert(first);
                found.entries.insert(first);
                if Self::begins_code(first, &fetch) && !found.indirect.contains(&first) {
                    found.indirect.push(first);
                }
            }
        }
        found
    }

    /// Adds the code that can be reached from addresses.
    fn follow(
        &mut self,
        from: &[u64],
        limits: &Limits,
        is_hot: &impl Fn(u64) -> bool,
        fetch: &impl Fn(u64) -> Option<MicroOp>,
    ) {
        let mut waiting: VecDeque<(u64, usize)> = VecDeque::new();
        for &pc in from {
            if self.starts.insert(pc) {
                waiting.push_back((pc, 0));
            }
        }
        while let Some((start, mut distance)) = waiting.pop_front() {
            let mut pc = start;
            while !self.ops.contains_key(&pc) && self.has_room(pc, limits) {
                let page = pc & !PAGE;
                let next = pc.wrapping_add(4);
                let Some(op) = fetch(pc).filter(|op| Flow::of(pc, *op) != Flow::Stop) else {
                    // Lanes come back behind an instruction that is not translated.
                    if distance < limits.distance && fetch(next).is_some() && self.starts.insert(next) {
                        self.entries.insert(next);
                        waiting.push_back((next, distance + 1));
                    }
                    break;
                };
                self.pages.insert(page);
                self.ops.insert(pc, op);
                if is_hot(pc) {
                    distance = 0;
                }
                let flow = Flow::of(pc, op);
                let [mut first, mut second] = [None, None];
                match flow {
                    Flow::Next if next & !PAGE != page => first = Some(next),
                    Flow::Next | Flow::Return | Flow::Register | Flow::Stop => {}
                    Flow::Always(target) => first = Some(target),
                    Flow::Either(target) => [first, second] = [Some(next), Some(target)],
                    Flow::Call(target) => [first, second] = [Some(target), Some(next)],
                    Flow::RegisterCall => first = Some(next),
                }
                if matches!(flow, Flow::Call(_) | Flow::RegisterCall) {
                    self.entries.insert(next);
                }
                for target in [first, second].into_iter().flatten() {
                    if self.starts.insert(target) && distance < limits.distance {
                        waiting.push_back((target, distance + 1));
                    }
                }
                if flow != Flow::Next || next & !PAGE != page {
                    break;
                }
                pc = next;
            }
        }
    }

    /// Whether the limits permit the instruction at an address.
    fn has_room(&self, pc: u64, limits: &Limits) -> bool {
        let is_page = self.pages.contains(&(pc & !PAGE)) || self.pages.len() < limits.pages;
        pc & 3 == 0 && self.ops.len() < limits.instructions && is_page
    }

    /// Adds the instructions that lead to an address without a branch, up to [`BACK_MAX`]. Returns the address of the first.
    /// Compilers align code with NOPs, so these are not added.
    fn extend_back(&mut self, pc: u64, limits: &Limits, fetch: &impl Fn(u64) -> Option<MicroOp>) -> u64 {
        let mut first = pc;
        for _ in 0..BACK_MAX {
            let before = first.wrapping_sub(4);
            let is_near = before & !PAGE == pc & !PAGE && self.has_room(before, limits);
            let leads_on = |op: &MicroOp| Flow::of(before, *op) == Flow::Next && !is_nop(*op);
            let Some(op) = fetch(before).filter(|op| is_near && leads_on(op)) else {
                break;
            };
            if self.ops.insert(before, op).is_some() {
                break;
            }
            first = before;
        }
        first
    }

    /// Whether the instruction before an address, if there is one, never leads there, or aligns it.
    fn begins_code(pc: u64, fetch: &impl Fn(u64) -> Option<MicroOp>) -> bool {
        let before = pc.wrapping_sub(4);
        fetch(before).is_none_or(|op| {
            let ends =
                matches!(Flow::of(before, op), Flow::Always(_) | Flow::Return | Flow::Register | Flow::Stop);
            ends || is_nop(op)
        })
    }

    /// Whether the instruction before an address was found, and leads there.
    fn is_behind_another(&self, pc: u64) -> bool {
        let before = pc.wrapping_sub(4);
        let falls = |op: &MicroOp| matches!(Flow::of(before, *op), Flow::Next | Flow::Either(_));
        self.ops.get(&before).is_some_and(falls)
    }

    /// Returns the addresses to which branches lead, and those behind branches.
    fn targets(&self) -> BTreeSet<u64> {
        let mut targets = BTreeSet::new();
        for (&pc, &op) in &self.ops {
            let next = pc.wrapping_add(4);
            match Flow::of(pc, op) {
                Flow::Next if next & !PAGE == pc & !PAGE => {}
                Flow::Next => drop(targets.insert(next)),
                Flow::Always(target) => drop(targets.insert(target)),
                Flow::Either(target) | Flow::Call(target) => targets.extend([target, next]),
                Flow::RegisterCall => drop(targets.insert(next)),
                Flow::Return | Flow::Register | Flow::Stop => {}
            }
        }
        targets
    }

    /// Returns for each return, by address, the addresses to which it may return: behind the calls of the functions
    /// that contain it. A function is what can be reached from a call's target without following calls. Calls of a
    /// register may be calls of every function that they may lead to.
    pub(crate) fn returns(&self) -> BTreeMap<u64, BTreeSet<u64>> {
        let mut sites: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
        let indirect = self.indirect_targets();
        for (&pc, &op) in &self.ops {
            let functions = match Flow::of(pc, op) {
                Flow::Call(target) => &[target],
                Flow::RegisterCall => indirect,
                _ => continue,
            };
            for function in functions {
                sites.entry(*function).or_default().insert(pc.wrapping_add(4));
            }
        }
        let mut returns: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
        for (function, sites) in sites {
            for end in self.returns_of(function) {
                returns.entry(end).or_default().extend(&sites);
            }
        }
        returns
    }

    /// Returns the addresses that a branch to a register is compared with. They are few if many branches are compared.
    pub(crate) fn indirect_targets(&self) -> &[u64] {
        let is_branch =
            |(pc, op): &(&u64, &MicroOp)| matches!(Flow::of(**pc, **op), Flow::Register | Flow::RegisterCall);
        let branches = self.ops.iter().filter(is_branch).count().max(1);
        &self.indirect[..self.indirect.len().min(COMPARISONS_MAX / branches)]
    }

    /// Returns the addresses of the returns of a function.
    fn returns_of(&self, function: u64) -> Vec<u64> {
        let mut seen = BTreeSet::new();
        let mut returns = Vec::new();
        let mut waiting = vec![function];
        while let Some(pc) = waiting.pop() {
            let Some(&op) = self.ops.get(&pc).filter(|_| seen.insert(pc)) else { continue };
            let next = pc.wrapping_add(4);
            match Flow::of(pc, op) {
                Flow::Next | Flow::Call(_) | Flow::RegisterCall => waiting.push(next),
                Flow::Always(target) => waiting.push(target),
                Flow::Either(target) => waiting.extend([next, target]),
                Flow::Return => returns.push(pc),
                Flow::Register | Flow::Stop => {}
            }
        }
        returns
    }
}
