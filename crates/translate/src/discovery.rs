//! Finds the instructions of a region, and where its blocks begin.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use kvrm_arm64::micro_op::MicroOp;

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
}

impl Leaders {
    /// Follows the code from `entries`, breadth first. The distance of a block is from the last hot one before it.
    pub(crate) fn find(
        entries: &[u64],
        limits: &Limits,
        is_hot: impl Fn(u64) -> bool,
        fetch: impl Fn(u64) -> Option<MicroOp>,
    ) -> Self {
        let mut found = Self::default();
        let mut pages = BTreeSet::new();
        let mut waiting: VecDeque<(u64, usize)> = VecDeque::new();
        for &pc in entries {
            found.entries.insert(pc);
            if found.starts.insert(pc) {
                waiting.push_back((pc, 0));
            }
        }
        while let Some((start, mut distance)) = waiting.pop_front() {
            let mut pc = start;
            while !found.ops.contains_key(&pc) && pc & 3 == 0 && found.ops.len() < limits.instructions {
                let page = pc & !PAGE;
                if !pages.contains(&page) && pages.len() == limits.pages {
                    break;
                }
                let Some(op) = fetch(pc).filter(|op| Flow::of(pc, *op) != Flow::Stop) else { break };
                pages.insert(page);
                found.ops.insert(pc, op);
                if is_hot(pc) {
                    distance = 0;
                }
                let next = pc.wrapping_add(4);
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
                    found.entries.insert(next);
                }
                for target in [first, second].into_iter().flatten() {
                    if found.starts.insert(target) && distance < limits.distance {
                        waiting.push_back((target, distance + 1));
                    }
                }
                if flow != Flow::Next || next & !PAGE != page {
                    break;
                }
                pc = next;
            }
        }
        found
    }

    /// Returns for each return, by address, the addresses to which it may return: behind the calls of the functions
    /// that contain it. A function is what can be reached from a call's target without following calls.
    pub(crate) fn returns(&self) -> BTreeMap<u64, BTreeSet<u64>> {
        let mut sites: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
        for (&pc, &op) in &self.ops {
            if let Flow::Call(target) = Flow::of(pc, op) {
                sites.entry(target).or_default().insert(pc.wrapping_add(4));
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
