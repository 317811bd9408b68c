//! An iteration of a plan as a list of operations, for engines that execute iterations side by side.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use kvrm_arm64::micro_op::MicroOp;

use crate::atom::{Atom, Loaded};
use crate::body::Body;
use crate::flags::{Condition, Flags};
use crate::motion::{Fold, Loop};
use crate::plan::{Folded, Kind, Moving, Needle, Plan, Source};
use crate::term::{AtomId, Term};

/// The number of a value of an iteration, from 0.
pub type Slot = u32;

/// An operation of an iteration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// The start plus the number of the iteration times the step.
    Progression {
        /// Where the value goes.
        to: Slot,
        /// The value in the next iteration.
        start: u64,
        /// The difference to the iteration before.
        step: u64,
    },
    /// A constant plus multiples of values.
    Sum {
        /// Where the value goes.
        to: Slot,
        /// The constant.
        constant: u64,
        /// The values and their factors.
        parts: Vec<(Slot, u64)>,
    },
    /// The low word of a value, extended to 64 bits.
    Word {
        /// Where the value goes.
        to: Slot,
        /// The value.
        of: Slot,
        /// Whether it is extended with its sign.
        is_signed: bool,
    },
    /// A load. The iteration is not valid if it faults.
    Load {
        /// Where the value goes, and that of the second register of a pair.
        to: [Slot; 2],
        /// The address.
        address: Slot,
        /// The number of bytes of one register: 1, 2, 4 or 8.
        size: u64,
        /// How the values are extended, as in [`Loaded`].
        extend: u32,
        /// Whether there are two registers.
        is_pair: bool,
        /// Whether it may be where another iteration stores. The iteration is not valid then.
        may_meet_stores: bool,
    },
    /// The flags of a difference or a sum, of words unless it is `wide`.
    Compare {
        /// Where N, Z, C and V go, as 8, 4, 2 and 1.
        to: Slot,
        /// The operands.
        operands: [Slot; 2],
        /// Whether it is a sum.
        adds: bool,
        /// Whether operands have 64 bits.
        wide: bool,
    },
    /// The flags of the result of a logical instruction.
    Logic {
        /// Where the flags go.
        to: Slot,
        /// The result.
        of: Slot,
        /// Whether it has 64 bits.
        wide: bool,
    },
    /// The second value if a condition on flags holds, else the third.
    Select {
        /// Where the value goes.
        to: Slot,
        /// The four-bit condition.
        cond: u32,
        /// The flags.
        flags: Slot,
        /// The values.
        values: [Slot; 2],
    },
    /// The result of a micro-op whose registers are slots.
    Compute {
        /// Where the value goes.
        to: Slot,
        /// The micro-op.
        op: MicroOp,
        /// Its operands a, b and c; b is extracted already unless the handler is 0.
        operands: [Slot; 3],
    },
    /// The iteration is not valid if a condition on flags holds.
    LeaveIf {
        /// The four-bit condition.
        cond: u32,
        /// The flags.
        flags: Slot,
    },
    /// The iteration is not valid if a value is zero, or is not zero if it is `inverted`.
    LeaveIfZero {
        /// The value.
        of: Slot,
        /// Whether the condition is that it is not zero.
        inverted: bool,
    },
    /// A store. The iteration is not valid if it faults.
    Store {
        /// The address.
        address: Slot,
        /// The value, and that of the second register of a pair.
        values: [Slot; 2],
        /// The number of bytes of one register.
        size: u64,
        /// Whether there are two registers.
        is_pair: bool,
    },
    /// A register is combined with a value.
    Fold {
        /// The place in [`Tape::folds`].
        number: usize,
        /// The value.
        of: Slot,
    },
}

/// The operations of an iteration, and what they do to registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tape {
    /// The operations, in an order in which an iteration can execute them.
    pub operations: Vec<Operation>,
    /// The number of slots.
    pub slots: u32,
    /// The registers that change by a step in each iteration: register, step, and whether it has 64 bits.
    pub steps: Vec<(u32, u64, bool)>,
    /// The registers that are combined with values.
    pub folds: Vec<(u32, Fold)>,
}

impl Plan {
    /// Returns an iteration as a list of operations.
    #[must_use]
    pub fn tape(&self, of: &Loop) -> Tape {
        let mut writer = Writer {
            plan: self,
            body: of.body(),
            operations: Vec::new(),
            slots: 0,
            atoms: BTreeMap::new(),
            loads: BTreeMap::new(),
        };
        // Also loads whose values nothing needs may fault.
        for number in 0..writer.body.accesses.len() {
            if writer.body.accesses[number].stores.is_empty() {
                writer.load(number);
            }
        }
        for search in &self.searches {
            writer.search(search.load, &search.with, search.stops_if_equal);
        }
        for condition in &self.tests {
            writer.leave(condition);
        }
        for (number, stream) in self.streams.iter().enumerate() {
            if let Some(stream) = stream.as_ref().filter(|stream| stream.is_store()) {
                let values = stream.sources.iter().map(|source| writer.source(source)).collect::<Vec<_>>();
                let address = writer.progression(stream.address, stream.step as u64);
                let access = &writer.body.accesses[number];
                let values = [values[0], values[values.len() - 1]];
                let (size, is_pair) = (access.size, access.is_pair);
                writer.operations.push(Operation::Store { address, values, size, is_pair });
            }
        }
        let mut folds = Vec::new();
        for (register, fold, values) in &self.folds {
            let of = match values {
                Folded::InOrder(loaded) => writer.loaded(*loaded),
                Folded::Term(term) => writer.term(term),
            };
            writer.operations.push(Operation::Fold { number: folds.len(), of });
            folds.push((*register, *fold));
        }
        let Writer { operations, slots, .. } = writer;
        let steps =
            self.registers.iter().map(|Moving { register, step, wide, .. }| (*register, *step, *wide));
        Tape { operations, slots, steps: steps.collect(), folds }
    }
}

/// A tape that is being written.
struct Writer<'a> {
    plan: &'a Plan,
    body: &'a Body,
    operations: Vec<Operation>,
    slots: u32,
    atoms: BTreeMap<AtomId, Slot>,
    /// The values of each load.
    loads: BTreeMap<usize, [Slot; 2]>,
}

impl Writer<'_> {
    fn slot(&mut self) -> Slot {
        self.slots += 1;
        self.slots - 1
    }

    fn progression(&mut self, start: u64, step: u64) -> Slot {
        let to = self.slot();
        self.operations.push(Operation::Progression { to, start, step });
        to
    }

    fn term(&mut self, term: &Term) -> Slot {
        if let ([(id, 1)], 0) = (term.parts(), term.addend()) {
            return self.atom(*id);
        }
        let parts: Vec<_> = term.parts().iter().map(|(id, factor)| (self.atom(*id), *factor)).collect();
        let to = self.slot();
        self.operations.push(Operation::Sum { to, constant: term.addend(), parts });
        to
    }

    fn atom(&mut self, id: AtomId) -> Slot {
        if let Some(slot) = self.atoms.get(&id) {
            return *slot;
        }
        let needed = self.plan.needed.iter().find(|(needed, _)| *needed == id);
        let slot = if let Some((_, Kind::Progression(start, step))) = needed {
            self.progression(*start, *step)
        } else {
            self.column(id)
        };
        self.atoms.insert(id, slot);
        slot
    }

    fn column(&mut self, id: AtomId) -> Slot {
        let operation = match self.body.atoms.atom(id) {
            Atom::Loaded(loaded) => return self.loaded(*loaded),
            Atom::Low(of) => (self.term(of), false),
            Atom::Signed(of) => (self.term(of), true),
            Atom::Result(op, terms) => {
                // An operand that is missing is zero.
                let zero = Term::default();
                let operands = [0, 1, 2].map(|number| self.term(terms.get(number).unwrap_or(&zero)));
                let to = self.slot();
                self.operations.push(Operation::Compute { to, op: *op, operands });
                return to;
            }
            Atom::Select { cond, flags, yes, no, .. } => {
                let flags = self.flags(flags);
                let values = [self.term(yes), self.term(no)];
                return self.select(*cond, flags, values);
            }
            // Plans need none of these but as progressions.
            Atom::Entry(_) | Atom::Unknown(_) | Atom::Trips => return self.progression(0, 0),
        };
        let to = self.slot();
        self.operations.push(Operation::Word { to, of: operation.0, is_signed: operation.1 });
        to
    }

    fn select(&mut self, cond: u32, flags: Slot, values: [Slot; 2]) -> Slot {
        let to = self.slot();
        self.operations.push(Operation::Select { to, cond, flags, values });
        to
    }

    fn loaded(&mut self, loaded: Loaded) -> Slot {
        self.load(loaded.access)[usize::from(loaded.is_second)]
    }

    fn load(&mut self, number: usize) -> [Slot; 2] {
        if let Some(slots) = self.loads.get(&number) {
            return *slots;
        }
        let access = &self.body.accesses[number];
        let stream = &self.plan.streams[number];
        let address = match stream {
            Some(stream) => self.progression(stream.address, stream.step as u64),
            None => self.term(&access.address),
        };
        let to = [self.slot(), self.slot()];
        let (size, extend, is_pair) = (access.size, access.extend, access.is_pair);
        let may_meet_stores = stream.is_none();
        self.operations.push(Operation::Load { to, address, size, extend, is_pair, may_meet_stores });
        self.loads.insert(number, to);
        to
    }

    fn flags(&mut self, flags: &Flags) -> Slot {
        let operation = match flags {
            Flags::Unknown => return self.progression(0, 0),
            Flags::Difference { x, y, wide } | Flags::Sum { x, y, wide, .. } => {
                let operands = [self.term(x), self.term(y)];
                let (to, adds) = (self.slot(), matches!(flags, Flags::Sum { .. }));
                self.operations.push(Operation::Compare { to, operands, adds, wide: *wide });
                return to;
            }
            Flags::Logic { value, wide } => {
                let of = self.term(value);
                (of, *wide)
            }
            Flags::Conditional { cond, before, then, nzcv } => {
                let before = self.flags(before);
                let values = [self.flags(then), self.progression((*nzcv).into(), 0)];
                return self.select(*cond, before, values);
            }
        };
        let to = self.slot();
        self.operations.push(Operation::Logic { to, of: operation.0, wide: operation.1 });
        to
    }

    fn leave(&mut self, condition: &Condition) {
        let operation = match condition {
            Condition::Flags { cond, flags } => Operation::LeaveIf { cond: *cond, flags: self.flags(flags) },
            Condition::Zero { value, inverted } => {
                Operation::LeaveIfZero { of: self.term(value), inverted: *inverted }
            }
            Condition::Never => return,
        };
        self.operations.push(operation);
    }

    fn search(&mut self, load: usize, with: &Needle, stops_if_equal: bool) {
        // The loaded values are extended with zeros, so numbers of any size may be compared as doublewords.
        let with = match with {
            Needle::Number(number) => self.progression(*number, 0),
            Needle::Load(other) => self.load(*other)[0],
        };
        let operands = [self.load(load)[0], with];
        let flags = self.slot();
        self.operations.push(Operation::Compare { to: flags, operands, adds: false, wide: true });
        self.operations.push(Operation::LeaveIf { cond: u32::from(!stops_if_equal), flags });
    }

    fn source(&mut self, source: &Source) -> Slot {
        match source {
            Source::Progression(values) => self.progression(values.start, values.step),
            Source::Copy(loaded) => self.loaded(*loaded),
            Source::Term(term) => self.term(term),
        }
    }
}
