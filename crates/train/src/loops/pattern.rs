//! The exact rules for patterns of loops. They depend on the words of the body only.
//!
//! | pattern | rule |
//! | --- | --- |
//! | MEMSET | values that move in steps decide all exits; there are stores and no loads; stored values do not change, and their addresses move |
//! | MEMCPY | values that move in steps decide all exits; each stored value is what a load of the same iteration and size loads, each load is stored, their addresses move by the same step, and no two places are exchanged |
//! | STRLEN | no stores; all addresses of loads are known to move in steps, and one moves; an exit depends on a value that a moving load loads; all registers that are kept move in known steps |
//! | POLLING | no stores; there are loads, at addresses that do not change; an exit depends on a loaded value; all registers that are kept move in known steps |
//! | `BUBBLE_SORT` | one conditional branch leads to another place of the body, and skips the stores: two neighbours are loaded, the branch compares them, and each is stored where the other was; values that move in steps decide all other exits |
//! | UNKNOWN | everything else |
//!
//! A value counts as moving in steps if it does for registers that are all zero or all one. Exits that a conditional
//! comparison decides count as not understood.

use kvrm_arm64::Features;
use kvrm_arm64::lowering::lower;
use kvrm_arm64::micro_op::{Handler, REGISTERS, SINK};
use kvrm_loops::{Access, Atom, Condition, Flags, Loop, Motion, Term};
use kvrm_models::LoopPattern;

use super::symbolic::{FAR, find, is_understood};

/// The condition that always holds.
const ALWAYS: u32 = 14;

/// Returns the pattern of a body.
pub(super) fn pattern(words: &[u32]) -> LoopPattern {
    // This does not depend on whether the checker understands inner branches.
    if is_bubble_pass(words) {
        return LoopPattern::BubbleSort;
    }
    find(words).map_or(LoopPattern::Unknown, |found| straight(&View::new(&found)))
}

/// A loop with examples of registers.
struct View<'a> {
    found: &'a Loop,
}

impl<'a> View<'a> {
    const fn new(found: &'a Loop) -> Self {
        Self { found }
    }

    /// Returns the step of a term, if it is known whatever the registers are.
    fn step(&self, term: &Term, wide: bool) -> Option<Step> {
        let step =
            |value: u64| self.found.progression(term, &[value; REGISTERS as usize], wide).map(|at| at.step);
        // A step that is a register differs between the two.
        let [zero, one] = [step(0)?, step(1)?];
        Some(if zero == one { Step::Constant(zero) } else { Step::Register })
    }

    fn moves(&self, term: &Term) -> bool {
        !matches!(self.step(term, true), None | Some(Step::Constant(0)))
    }

    fn is_decided(&self, condition: &Condition) -> bool {
        let (terms, wide) = condition.compared();
        is_understood(condition) && terms.into_iter().all(|term| self.step(term, wide).is_some())
    }

    /// Returns whether values that move in steps decide all exits, except those at `but`.
    fn is_counted(&self, but: Option<usize>) -> bool {
        let exits = || self.found.body().exits.iter().filter(|exit| Some(exit.place) != but);
        let moves = |condition: &Condition| {
            let (terms, wide) = condition.compared();
            terms.into_iter().any(|term| !matches!(self.step(term, wide), None | Some(Step::Constant(0))))
        };
        exits().all(|exit| self.is_decided(&exit.condition)) && exits().any(|exit| moves(&exit.condition))
    }

    /// Returns the load whose value a term is, and the number of the register of a pair.
    fn loaded(&self, term: &Term) -> Option<(usize, u64)> {
        let ([(id, 1)], 0) = (term.parts(), term.addend()) else { return None };
        match self.found.body().atoms.atom(*id) {
            Atom::Loaded(load) => Some((load.access, load.is_second.into())),
            _ => None,
        }
    }

    /// Returns the load whose value a term is, perhaps extended.
    fn loaded_and_extended(&self, term: &Term) -> Option<(usize, u64)> {
        self.loaded(term).or_else(|| {
            let ([(id, 1)], 0) = (term.parts(), term.addend()) else { return None };
            match self.found.body().atoms.atom(*id) {
                Atom::Low(inner) | Atom::Signed(inner) => self.loaded_and_extended(inner),
                Atom::Result(op, operands) if op.handler() == 0 && operands.len() == 1 => {
                    self.loaded_and_extended(&operands[0])
                }
                _ => None,
            }
        })
    }

    /// Returns whether a term depends on a load for which `test` holds.
    fn depends_on(&self, term: &Term, test: impl Fn(usize) -> bool) -> bool {
        self.found.body().atoms.any(term, &mut |atom| match atom {
            Atom::Loaded(load) => test(load.access),
            _ => false,
        })
    }

    /// Returns whether an exit depends on a load for which `test` holds.
    fn exit_depends_on(&self, test: impl Fn(usize) -> bool + Copy) -> bool {
        let exits = &self.found.body().exits;
        exits
            .iter()
            .any(|exit| exit.condition.compared().0.into_iter().any(|term| self.depends_on(term, test)))
    }

    fn has_other_motion(&self) -> bool {
        (0..REGISTERS).any(|register| matches!(self.found.motion(register), Motion::Fold(..) | Motion::Other))
    }

    /// Returns whether a term is the same in all iterations, if the memory that steady loads read does not change.
    fn is_steady(&self, term: &Term) -> bool {
        let body = self.found.body();
        !body.atoms.any(term, &mut |atom| match atom {
            Atom::Entry(register) => *self.found.motion(*register) != Motion::Invariant,
            // A load depends on loads before it only.
            Atom::Loaded(load) => !self.is_steady(&body.accesses[load.access].address),
            Atom::Unknown(_) => true,
            Atom::Low(_) | Atom::Signed(_) | Atom::Result(..) | Atom::Select { .. } | Atom::Trips => false,
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Constant(u64),
    Register,
}

/// Returns the pattern of a loop without inner branches.
fn straight(view: &View<'_>) -> LoopPattern {
    let accesses = &view.found.body().accesses;
    let (mut loads, mut stores) = (accesses.iter().filter(|access| access.stores.is_empty()).peekable(), 0);
    stores += accesses.iter().filter(|access| !access.stores.is_empty()).count();
    let has_loads = loads.peek().is_some();
    if stores > 0 {
        let is_counted = view.is_counted(None);
        return match has_loads {
            false if is_counted && accesses.iter().all(|access| is_fill(view, access)) => LoopPattern::Memset,
            true if is_counted && is_copy(view, accesses) => LoopPattern::Memcpy,
            _ => LoopPattern::Unknown,
        };
    }
    if !has_loads || view.has_other_motion() {
        return LoopPattern::Unknown;
    }
    let moves = |load: usize| view.moves(&accesses[load].address);
    if loads.clone().all(|access| view.step(&access.address, true).is_some()) && view.exit_depends_on(moves) {
        return LoopPattern::Strlen;
    }
    if loads.all(|access| view.is_steady(&access.address)) && view.exit_depends_on(|_| true) {
        return LoopPattern::Polling;
    }
    LoopPattern::Unknown
}

fn is_fill(view: &View<'_>, access: &Access) -> bool {
    let is_same = |value: &Term| view.step(value, access.size == 8) == Some(Step::Constant(0));
    view.moves(&access.address) && access.stores.iter().all(is_same)
}

fn is_copy(view: &View<'_>, accesses: &[Access]) -> bool {
    let mut is_stored = vec![false; accesses.len()];
    let mut moved = Vec::new();
    for access in accesses.iter().filter(|access| !access.stores.is_empty()) {
        let step = view.step(&access.address, true);
        for (place, value) in access.stores.iter().enumerate() {
            let Some((load, second)) = view.loaded(value) else { return false };
            moved.push((address_of(&accesses[load], second), address_of(access, place as u64)));
            let from = &accesses[load];
            if from.size != access.size || view.step(&from.address, true) != step {
                return false;
            }
            is_stored[load] = true;
        }
        if matches!(step, None | Some(Step::Constant(0))) {
            return false;
        }
    }
    // After an exchange neither place has what the other one has, so it copies nothing.
    let is_exchanged =
        |(from, to): &(Term, Term)| moved.iter().any(|other| (&other.0, &other.1) == (to, from));
    let are_all_stored =
        accesses.iter().zip(is_stored).all(|(access, is_stored)| is_stored || !access.stores.is_empty());
    are_all_stored && !moved.iter().any(is_exchanged)
}

/// Returns the address of a register of an access, which has two if it is a pair.
fn address_of(access: &Access, number: u64) -> Term {
    access.address.plus(&Term::constant(number * access.size))
}

/// Returns whether a body is the inner pass of a bubble sort.
fn is_bubble_pass(words: &[u32]) -> bool {
    let ops: Vec<_> = words.iter().map(|word| lower(*word, Features::ARMV8_0)).collect();
    let Some(last) = ops.len().checked_sub(1) else { return false };
    let is_branch = |place: usize| {
        ops[place].dst() == SINK
            && (ops[place].handler() == Handler::BRANCH as u32
                || ops[place].handler() == Handler::TEST_BRANCH as u32)
    };
    let target = |place: usize| (4 * place as u64).wrapping_add(ops[place].imm);
    let inner: Vec<usize> =
        (0..last).filter(|place| is_branch(*place) && target(*place) <= 4 * last as u64).collect();
    let &[place] = &inner[..] else { return false };
    let is_conditional = ops[place].handler() == Handler::BRANCH as u32 && ops[place].cond() < ALWAYS;
    // The stores are between the branch and its target, or the end if it begins the next iteration.
    let target = target(place) as usize / 4;
    let skipped_end = if target == 0 { last + 1 } else { target };
    if !is_conditional || (target != 0 && target <= place) {
        return false;
    }
    let fetch = |pc: u64| {
        let mut op = *ops.get(pc as usize / 4)?;
        if pc as usize / 4 == place {
            op.imm = FAR;
        }
        Some(op)
    };
    let Ok(found) = Loop::find(4 * last as u64, fetch) else { return false };
    found.body().head == 0 && swaps(&View::new(&found), place, skipped_end)
}

/// Returns whether the branch at `place` compares two neighbours, and the skipped words after it exchange them.
fn swaps(view: &View<'_>, place: usize, skipped_end: usize) -> bool {
    let accesses = &view.found.body().accesses;
    let Some(exit) = view.found.body().exits.iter().find(|exit| exit.place == place) else { return false };
    let Condition::Flags { flags: Flags::Difference { x, y, .. }, .. } = &exit.condition else {
        return false;
    };
    let (Some(a), Some(b)) = (view.loaded_and_extended(x), view.loaded_and_extended(y)) else { return false };
    // The address of each element that is loaded or stored.
    let address = |(access, second): (usize, u64)| address_of(&accesses[access], second);
    let size = accesses[a.0].size;
    let distance = address(a).minus(&address(b)).as_constant();
    let are_neighbours = distance == Some(size) || distance == Some(size.wrapping_neg());
    let loads = accesses.iter().enumerate().filter(|(_, access)| access.stores.is_empty());
    let are_loads = loads.clone().all(|(load, access)| (load == a.0 || load == b.0) && access.place < place);
    let mut stored = Vec::new();
    for (number, access) in accesses.iter().enumerate().filter(|(_, access)| !access.stores.is_empty()) {
        if !(place..skipped_end).contains(&access.place) || access.size != size {
            return false;
        }
        for (index, value) in access.stores.iter().enumerate() {
            stored.push((address((number, index as u64)), view.loaded_and_extended(value)));
        }
    }
    let crosses = |to, from| stored.contains(&(address(to), Some(from)));
    stored.len() == 2
        && crosses(a, b)
        && crosses(b, a)
        && are_neighbours
        && are_loads
        && view.moves(&accesses[a.0].address)
        && view.is_counted(Some(place))
}
