//! Bodies of loops: the instructions of an iteration, executed once with terms in place of numbers.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

use kvrm_arm64::micro_op::{
    CARRY_FLAG, Fields, Handler, INDEX_OFFSET, INDEX_POST, MicroOp, PLAIN, REGISTERS, ROTATED, SIGNED, SINK,
    ZERO,
};

use crate::atom::{Atom, Atoms, Loaded};
use crate::flags::{ALWAYS, Condition, Flags};
use crate::term::Term;

/// The largest number of instructions of a body.
pub const INSTRUCTIONS_MAX: usize = 64;

/// Why a loop has no body that is understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The instruction at the end is not a branch to itself or to one of the [`INSTRUCTIONS_MAX`] instructions up to it.
    NotALoop,
    /// The instruction at this address cannot be fetched, or is not understood: a call, a system instruction, an exclusive or
    /// atomic access, or a SIMD instruction.
    Instruction(u64),
    /// The branch at this address leads to another instruction of the body.
    InnerBranch(u64),
    /// The loop at this address within the loop has no summary.
    InnerLoop(u64),
}

impl Refusal {
    /// Returns a short name, the same for all addresses.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotALoop => "no loop",
            Self::Instruction(_) => "instruction",
            Self::InnerBranch(_) => "inner branch",
            Self::InnerLoop(_) => "inner loop",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotALoop => {
                write!(
                    f,
                    "the last instruction does not branch back by at most {INSTRUCTIONS_MAX} instructions"
                )
            }
            Self::Instruction(pc) => {
                write!(f, "the instruction at {pc:#x} is a call, or of a kind that is not analysed")
            }
            Self::InnerBranch(pc) => write!(f, "the branch at {pc:#x} stays in the loop"),
            Self::InnerLoop(pc) => write!(f, "the inner loop at {pc:#x} has no summary"),
        }
    }
}

/// A branch that may leave the loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exit {
    /// The place of the branch in the body.
    pub place: usize,
    /// When it leaves the loop.
    pub condition: Condition,
}

/// An access to memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// The place of the instruction in the body.
    pub place: usize,
    /// The address of the first byte.
    pub address: Term,
    /// The number of bytes of one register: 1, 2, 4 or 8.
    pub size: u64,
    /// How a loaded value is extended, as in [`Loaded`].
    pub extend: u32,
    /// The values to store, one or two for a pair; none for a load.
    pub stores: Vec<Term>,
    /// Whether two registers are transferred.
    pub is_pair: bool,
    /// Whether the address must be a multiple of the bytes of the access.
    pub is_aligned: bool,
    /// Whether it stands for the accesses of all iterations of the inner loop, whose addresses follow each other. The address is that
    /// of the lowest byte, and a loaded value is that of the same iteration of the inner loop.
    pub is_row: bool,
}

impl Access {
    /// Returns the number of bytes of the access, or of one of those for which it stands.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.size << self.is_pair as u32
    }

    /// Returns a value that the load with this number in [`Body::accesses`] loads.
    pub(crate) const fn loaded(&self, number: usize, is_second: bool) -> Loaded {
        Loaded { access: number, is_second, size: self.size, extend: self.extend }
    }
}

/// The body of a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body {
    /// The lowest address, to which the last instruction branches back.
    pub head: u64,
    /// The instructions as micro-ops, in the order in which an iteration executes them.
    pub ops: Vec<MicroOp>,
    /// The atoms of all terms.
    pub atoms: Atoms,
    /// The value of each register of micro-ops after the iteration.
    pub after: Vec<Term>,
    /// Whether the iteration reads the value that each register had at its beginning.
    pub is_read: Vec<bool>,
    /// Whether the iteration reads flags that it has not set.
    pub reads_flags: bool,
    /// The branches that may leave the loop, in the order of the body.
    pub exits: Vec<Exit>,
    /// The accesses to memory, in the order of the body.
    pub accesses: Vec<Access>,
    /// Whether the iteration sets the flags.
    pub sets_flags: bool,
}

impl Body {
    /// Finds the body of the loop whose branch back is at `end`, with iterations that begin at `entry`, or at the target of the
    /// branch. `fetch` returns the micro-op at an address.
    ///
    /// # Errors
    /// The loop has no body that is understood.
    pub(crate) fn find(
        end: u64,
        entry: Option<u64>,
        mut fetch: impl FnMut(u64) -> Option<MicroOp>,
    ) -> Result<Self, Refusal> {
        Self::walk(end, entry, Branches::Refused, &mut fetch).map(|(body, _)| body)
    }

    /// Finds the body as [`Self::find`] does, of a loop that may have other loops in it. `enter` is asked at each instruction whether a
    /// loop begins there that ends before an address. If so, it executes it with terms, and returns its instructions.
    ///
    /// # Errors
    /// The loop has no body that is understood.
    pub(crate) fn find_nest(
        end: u64,
        entry: Option<u64>,
        enter: &mut Enter<'_>,
        mut fetch: impl FnMut(u64) -> Option<MicroOp>,
    ) -> Result<Self, Refusal> {
        Self::walk(end, entry, Branches::Repeat(enter), &mut fetch).map(|(body, _)| body)
    }

    /// Finds a path through the loop whose branch back is at `end`, with a branch that skips some of its instructions, in iterations
    /// in which it does so, or does not. The instructions are those that the path executes. The decision is when the branch skips.
    ///
    /// # Errors
    /// The loop has no such path that is understood.
    pub(crate) fn find_path(
        end: u64,
        entry: Option<u64>,
        skips: bool,
        mut fetch: impl FnMut(u64) -> Option<MicroOp>,
    ) -> Result<(Self, Decision), Refusal> {
        let (body, decision) = Self::walk(end, entry, Branches::Skip(skips), &mut fetch)?;
        decision.map(|decision| (body, decision)).ok_or(Refusal::NotALoop)
    }

    fn walk(
        end: u64,
        entry: Option<u64>,
        mut branches: Branches<'_, '_>,
        fetch: &mut dyn FnMut(u64) -> Option<MicroOp>,
    ) -> Result<(Self, Option<Decision>), Refusal> {
        let branch = fetch(end).ok_or(Refusal::Instruction(end))?;
        let head = branch_target(branch, end).ok_or(Refusal::NotALoop)?;
        let distance = end.wrapping_sub(head);
        if branch.dst() != SINK || distance > 4 * (INSTRUCTIONS_MAX as u64 - 1) {
            return Err(Refusal::NotALoop);
        }
        let (length, first) = (distance / 4 + 1, entry.unwrap_or(head).wrapping_sub(head) / 4);
        if first >= length {
            return Err(Refusal::NotALoop);
        }
        let skips = if let Branches::Skip(skips) = branches { Some(skips) } else { None };
        let mut iteration = Iteration::new(head, (length, first), skips);
        let mut ops = Vec::new();
        let mut place = 0;
        while place < length {
            let pc = head.wrapping_add(4 * ((first + place) % length));
            if let Branches::Repeat(enter) = &mut branches {
                // No iteration begins in an inner loop.
                let begin = head.wrapping_add(4 * first);
                let behind = if pc < begin { begin } else { end };
                if let Some(inner) = enter(&mut iteration, place as usize, pc..behind)? {
                    place += inner.len() as u64;
                    ops.extend(inner);
                    continue;
                }
            }
            let op = fetch(pc).ok_or(Refusal::Instruction(pc))?;
            place = iteration.execute(place as usize, pc, op)?;
            ops.push(op);
        }
        let decision = iteration.decision.take();
        Ok((iteration.into_body(ops), decision))
    }
}

/// Returns the target of a micro-op at an address, if it is a branch with one.
#[must_use]
pub fn branch_target(op: MicroOp, pc: u64) -> Option<u64> {
    [Handler::BRANCH, Handler::TEST_BRANCH].contains(&Handler::of(op)).then(|| pc.wrapping_add(op.imm))
}

/// What branches in a loop to other instructions of it may do.
enum Branches<'a, 'b> {
    /// Nothing: there must be none.
    Refused,
    /// One of them may skip instructions, in iterations in which it does so, or does not.
    Skip(bool),
    /// They may be those of inner loops.
    Repeat(&'a mut Enter<'b>),
}

/// Executes the loop, if there is one, whose first instruction is at a place of the body and at the first address, and which ends
/// before the other address. Returns its instructions.
pub(crate) type Enter<'a> =
    dyn FnMut(&mut Iteration, usize, Range<u64>) -> Result<Option<Vec<MicroOp>>, Refusal> + 'a;

/// A branch that skips instructions of the body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Decision {
    /// The place of the branch in the body.
    pub(crate) place: usize,
    /// When it skips instructions.
    pub(crate) condition: Condition,
}

/// An iteration that is executed with terms.
#[derive(Debug)]
pub(crate) struct Iteration {
    head: u64,
    /// The number of instructions.
    length: u64,
    /// The number of the instruction at which iterations begin.
    first: u64,
    pub(crate) atoms: Atoms,
    /// The values of registers so far.
    pub(crate) registers: Vec<Term>,
    is_written: Vec<bool>,
    is_read: Vec<bool>,
    flags: Flags,
    has_set_flags: bool,
    reads_flags: bool,
    exits: Vec<Exit>,
    pub(crate) accesses: Vec<Access>,
    /// Whether the iteration skips instructions, if it may have a branch that does.
    skips: Option<bool>,
    decision: Option<Decision>,
}

impl Iteration {
    fn new(head: u64, (length, first): (u64, u64), skips: Option<bool>) -> Self {
        let mut atoms = Atoms::default();
        let registers = (0..REGISTERS).map(|register| match register {
            ZERO => Term::default(),
            register => atoms.entry(register),
        });
        Self {
            head,
            length,
            first,
            registers: registers.collect(),
            atoms,
            is_written: vec![false; REGISTERS as usize],
            is_read: vec![false; REGISTERS as usize],
            flags: Flags::Unknown,
            has_set_flags: false,
            reads_flags: false,
            exits: Vec::new(),
            accesses: Vec::new(),
            skips,
            decision: None,
        }
    }

    fn into_body(self, ops: Vec<MicroOp>) -> Body {
        Body {
            head: self.head,
            ops,
            atoms: self.atoms,
            after: self.registers,
            is_read: self.is_read,
            reads_flags: self.reads_flags,
            sets_flags: self.has_set_flags,
            exits: self.exits,
            accesses: self.accesses,
        }
    }

    /// Reads a register.
    pub(crate) fn read(&mut self, register: u32) -> Term {
        let index = register as usize;
        if !self.is_written[index] && register != ZERO {
            self.is_read[index] = true;
        }
        self.registers[index].clone()
    }

    /// Writes a register.
    pub(crate) fn write(&mut self, register: u32, value: Term) {
        if register != SINK && register != ZERO {
            self.registers[register as usize] = value;
            self.is_written[register as usize] = true;
        }
    }

    fn read_flags(&mut self) -> Flags {
        self.reads_flags |= !self.has_set_flags;
        self.flags.clone()
    }

    /// Sets the flags.
    pub(crate) fn set_flags(&mut self, flags: Flags) {
        self.flags = flags;
        self.has_set_flags = true;
    }

    /// Returns a value as an instruction of 32 or 64 bits gives it.
    fn truncated(&mut self, value: Term, op: MicroOp) -> Term {
        if op.wide() == 1 { value } else { self.atoms.low(&value) }
    }

    /// Returns the second operand of a micro-op before the immediate is added.
    fn extracted(&mut self, op: MicroOp) -> Term {
        let value = self.read(op.b());
        let (left, right) = (op.left(), op.right());
        match op.extraction() {
            PLAIN => return value,
            ROTATED => {}
            _ if right == 0 => return value.times(1 << left),
            // A word that is extended and then shifted to the left.
            kind if left == 32 && right <= 32 => {
                let word = if kind == SIGNED { self.atoms.signed(&value) } else { self.atoms.low(&value) };
                return word.times(1 << (32 - right));
            }
            _ => {}
        }
        let extraction = MicroOp { imm: 0, ..without_registers(op) };
        let extraction = MicroOp { control: 0, ..extraction };
        self.atoms.term(Atom::Result(extraction, vec![value]))
    }

    /// Returns the second operand of a micro-op.
    fn second(&mut self, op: MicroOp) -> Term {
        let sum = self.extracted(op).plus(&Term::constant(op.imm));
        if op.invert() == 1 { sum.complement() } else { sum }
    }

    /// Executes the instruction at a place of the body, and at an address. Returns the place of the next one.
    fn execute(&mut self, place: usize, pc: u64, op: MicroOp) -> Result<u64, Refusal> {
        use Handler as H;
        match Handler::of(op) {
            H::NOP => {}
            H::ADD => self.add(place, op),
            H::AND | H::ORR | H::EOR => self.logic(op),
            H::CONDITIONAL_COMPARE => self.conditional_compare(op),
            H::SELECT => self.select(place, op),
            H::BRANCH | H::TEST_BRANCH => return self.branch(place, op, pc),
            H::LOAD => self.load(place, op),
            H::STORE => self.store(place, op),
            H::MULTIPLY_ADD => self.multiply_add(op),
            H::PC_RELATIVE => {
                let base = if op.operation() == 1 { pc & !0xfff } else { pc };
                self.write(op.dst(), Term::constant(base.wrapping_add(op.imm)));
            }
            H::BIT_FIELD_INSERT
            | H::EXTRACT
            | H::SHIFT
            | H::MULTIPLY_ADD_LONG
            | H::MULTIPLY_HIGH
            | H::DIVIDE
            | H::CRC32
            | H::REVERSE_BITS
            | H::REVERSE_BYTES
            | H::COUNT_LEADING_ZEROS
            | H::COUNT_LEADING_SIGNS => {
                let operands = vec![self.read(op.a()), self.second(op), self.read(op.c())];
                let result = self.atoms.term(Atom::Result(without_registers(op), operands));
                self.write(op.dst(), result);
            }
            _ => return Err(Refusal::Instruction(pc)),
        }
        Ok(place as u64 + 1)
    }

    fn add(&mut self, place: usize, op: MicroOp) {
        let a = self.read(op.a());
        let second = self.second(op);
        let value = if op.carry() == CARRY_FLAG {
            self.read_flags();
            self.atoms.term(Atom::Unknown(place))
        } else {
            let sum = a.plus(&second).plus(&Term::constant(op.carry().into()));
            self.truncated(sum, op)
        };
        if op.flags() == 1 {
            self.set_flags(flags_of_sum(op, a, second, value.clone()));
        }
        self.write(op.dst(), value);
    }

    fn conditional_compare(&mut self, op: MicroOp) {
        let (a, second) = (self.read(op.a()), self.second(op));
        let sum = a.plus(&second).plus(&Term::constant(op.carry().into()));
        let value = self.truncated(sum, op);
        let before = Box::new(self.read_flags());
        let then = Box::new(flags_of_sum(op, a, second, value));
        self.set_flags(Flags::Conditional { cond: op.cond(), before, then, nzcv: op.nzcv() });
    }

    fn select(&mut self, place: usize, op: MicroOp) {
        let a = self.read(op.a());
        let second = self.second(op).plus(&Term::constant(op.carry().into()));
        let flags = self.read_flags();
        let [yes, no] = [a, second].map(|value| self.truncated(value, op));
        let selected = match (op.cond() >= ALWAYS, flags.is_known()) {
            (true, _) => yes,
            (false, true) => {
                let wide = op.wide() == 1;
                self.atoms.term(Atom::Select { cond: op.cond(), flags, yes, no, wide })
            }
            (false, false) => self.atoms.term(Atom::Unknown(place)),
        };
        self.write(op.dst(), selected);
    }

    fn logic(&mut self, op: MicroOp) {
        let a = self.read(op.a());
        let second = self.second(op);
        let is_move = a.as_constant() == Some(0) && op.handler() != Handler::AND as u32;
        let value = if is_move {
            self.truncated(second, op)
        } else {
            let operands = if op.wide() == 1 {
                vec![a, second]
            } else {
                vec![self.atoms.low(&a), self.atoms.low(&second)]
            };
            self.atoms.term(Atom::Result(without_operand(op), operands))
        };
        if op.flags() == 1 {
            self.set_flags(Flags::Logic { value: value.clone(), wide: op.wide() == 1 });
        }
        self.write(op.dst(), value);
    }

    /// Returns the product of two values modulo 2^64.
    pub(crate) fn product(&mut self, a: Term, b: Term) -> Term {
        match (a.as_constant(), b.as_constant()) {
            (Some(factor), _) => b.times(factor),
            (_, Some(factor)) => a.times(factor),
            _ => {
                let multiplies = Fields::new(Handler::MULTIPLY_ADD).0;
                self.atoms.term(Atom::Result(multiplies, vec![a, b]))
            }
        }
    }

    fn multiply_add(&mut self, op: MicroOp) {
        let [a, c] = [op.a(), op.c()].map(|register| self.read(register));
        let b = self.second(op);
        // Only the low word matters to a sum of words, so the product may have 64 bits.
        let product = self.product(a, b);
        let sum = if op.operation() == 1 { c.minus(&product) } else { c.plus(&product) };
        let sum = self.truncated(sum, op);
        self.write(op.dst(), sum);
    }

    fn branch(&mut self, place: usize, op: MicroOp, pc: u64) -> Result<u64, Refusal> {
        let is_last = pc.wrapping_sub(self.head) == 4 * (self.length - 1);
        let target = pc.wrapping_add(op.imm);
        let is_inside = target.wrapping_sub(self.head) < 4 * self.length;
        let is_always = op.handler() == Handler::BRANCH as u32 && op.cond() >= ALWAYS;
        if op.dst() != SINK {
            return Err(Refusal::Instruction(pc));
        }
        // The place of the target, if it comes later in the iteration, or at its end.
        let number = target.wrapping_sub(self.head) / 4;
        let behind =
            if number > self.first { number - self.first } else { number + self.length - self.first };
        let is_ahead = is_inside && target > pc && behind > place as u64;
        let skips = self.skips.filter(|_| is_ahead && self.decision.is_none());
        if !is_last && (is_always || is_inside && skips.is_none()) {
            return Err(Refusal::InnerBranch(pc));
        }
        // The last branch leaves the loop if it is not taken, the others if they are.
        let condition = if is_always {
            Condition::Never
        } else if op.handler() == Handler::BRANCH as u32 {
            Condition::Flags { cond: op.cond() ^ u32::from(is_last), flags: self.read_flags() }
        } else {
            let value = self.extracted(op);
            Condition::Zero { value, inverted: (op.operation() == 1) != is_last }
        };
        let next = place as u64 + 1;
        match skips {
            Some(skips) => {
                self.decision = Some(Decision { place, condition });
                Ok(if skips { behind } else { next })
            }
            None => {
                self.exits.push(Exit { place, condition });
                Ok(next)
            }
        }
    }

    /// Returns the address of an access, and the base register with its value after write-back, if there is one.
    fn address(&mut self, op: MicroOp) -> (Term, Option<(u32, Term)>) {
        let a = self.read(op.a());
        let indexed = a.plus(&self.second(op));
        let address = if op.index() == INDEX_POST { a } else { indexed.clone() };
        (address, (op.index() != INDEX_OFFSET).then_some((op.a(), indexed)))
    }

    fn load(&mut self, place: usize, op: MicroOp) {
        let (address, write_back) = self.address(op);
        let number = self.accesses.len();
        self.push_access(place, op, address, Vec::new());
        let access = &self.accesses[number];
        let [first, second] = [false, true].map(|is_second| access.loaded(number, is_second));
        if op.pair() == 1 {
            let second = self.atoms.term(Atom::Loaded(second));
            self.write(op.c(), second);
        }
        let first = self.atoms.term(Atom::Loaded(first));
        self.write(op.dst(), first);
        if let Some((base, value)) = write_back {
            self.write(base, value);
        }
    }

    fn store(&mut self, place: usize, op: MicroOp) {
        let (address, write_back) = self.address(op);
        let mut stores = vec![self.read(op.c())];
        if op.pair() == 1 {
            // In the micro-op of a store, the field of the destination is the second register of a pair.
            stores.push(self.read(op.dst()));
        }
        self.push_access(place, op, address, stores);
        if let Some((base, value)) = write_back {
            self.write(base, value);
        }
    }

    fn push_access(&mut self, place: usize, op: MicroOp, address: Term, stores: Vec<Term>) {
        self.accesses.push(Access {
            place,
            address,
            size: 1 << op.size(),
            extend: op.extend(),
            stores,
            is_pair: op.pair() == 1,
            is_aligned: op.aligned() == 1,
            is_row: false,
        });
    }
}

/// Returns the flags of a sum or a difference, without or with a constant carry.
fn flags_of_sum(op: MicroOp, a: Term, second: Term, value: Term) -> Flags {
    let wide = op.wide() == 1;
    match (op.invert(), op.carry()) {
        (1, 1) => Flags::Difference { x: a, y: second.complement(), wide },
        (_, 0) => Flags::Sum { x: a, y: second, value, wide },
        _ => Flags::Unknown,
    }
}

/// Returns a micro-op without the numbers of its registers.
const fn without_registers(op: MicroOp) -> MicroOp {
    MicroOp { control: op.handler(), ..op }
}

/// Returns a micro-op without the numbers of its registers, and without what its second operand and its flags depend on.
const fn without_operand(op: MicroOp) -> MicroOp {
    MicroOp { control: op.handler(), parameters: op.wide() << 17, imm: 0 }
}
