//! What a micro-op reads and writes, and where execution goes on.

use kvrm_arm64::micro_op::{
    CARRY_FLAG, Handler, INDEX_LITERAL, INDEX_OFFSET, INDEX_POST_REGISTER, MicroOp, SYSTEM_REGISTERS,
};
use kvrm_arm64::vector_op::TRANSFER_LANE;

use crate::registers::{FLOAT_CONTROL, Registers};
use crate::vector::{Operands, Target};

/// All flags: N is 8, Z is 4, C is 2, V is 1.
pub const NZCV: u32 = 15;

/// The number of the link register.
const LINK: u32 = 30;
/// FPCR and FPSR.
const CONTROL: Registers = Registers::of(FLOAT_CONTROL);

/// The effects of a micro-op on registers and flags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// The registers that it may read.
    pub reads: Registers,
    /// The registers that it writes whenever it retires.
    pub writes: Registers,
    /// The registers that it may write. These include `writes`.
    pub may_write: Registers,
    /// The flags that it may read.
    pub reads_flags: u32,
    /// The flags that it sets whenever it retires.
    pub sets_flags: u32,
    /// The flags that it may set. These include `sets_flags`.
    pub may_set_flags: u32,
}

/// Where execution goes on after a micro-op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// At the next word.
    Next,
    /// At the target.
    Always(u64),
    /// At the target if a condition holds or a register passes a test, else at the next word.
    Either(u64),
    /// At the target, and later at the next word, to which the link register points.
    Call(u64),
    /// At the address in the link register.
    Return,
    /// At the address in another register.
    Register,
    /// At the address in a register, and later at the next word, to which the link register points.
    RegisterCall,
    /// Nowhere: the lane stops, or the host serves a call.
    Stop,
}

/// Returns the handler of a micro-op, or `None` if there is none with its number.
#[must_use]
pub fn handler(op: MicroOp) -> Option<Handler> {
    Handler::ALL.get(op.handler() as usize).map(|(handler, ..)| *handler)
}

/// Returns the flags on which a condition depends.
#[must_use]
pub const fn condition_flags(cond: u32) -> u32 {
    match cond >> 1 {
        0 => 4,
        1 => 2,
        2 => 8,
        3 => 1,
        4 => 6,
        5 => 9,
        6 => 13,
        _ => 0,
    }
}

impl Effects {
    /// Returns the effects of a micro-op.
    #[must_use]
    pub fn of(op: MicroOp) -> Self {
        use Handler as H;
        let [dst, a, b, c] = [op.dst(), op.a(), op.b(), op.c()].map(Registers::of);
        let plain = |reads: Registers| Self { reads, writes: dst, may_write: dst, ..Self::default() };
        let flags_if = |sets: bool| if sets { NZCV } else { 0 };
        let based = |effects: Self, always: bool| {
            let base = if always || op.index() != INDEX_OFFSET { a } else { Registers::NONE };
            effects.writing(base)
        };
        let Some(handler) = handler(op) else { return Self::unknown(op) };
        match handler {
            H::ADD => {
                let carry = if op.carry() == CARRY_FLAG { 2 } else { 0 };
                plain(a.with(b)).flags(carry, flags_if(op.flags() == 1))
            }
            H::AND | H::ORR | H::EOR => plain(a.with(b)).flags(0, flags_if(op.flags() == 1)),
            H::CONDITIONAL_COMPARE => plain(a.with(b)).flags(condition_flags(op.cond()), NZCV),
            H::SELECT => plain(a.with(b)).flags(condition_flags(op.cond()), 0),
            H::BRANCH => plain(Registers::NONE).flags(condition_flags(op.cond()), 0),
            H::TEST_BRANCH => plain(b),
            H::BRANCH_REGISTER => plain(a),
            H::LOAD => {
                let second = if op.pair() == 1 { c } else { Registers::NONE };
                based(plain(a.with(b)).writing(second), false)
            }
            H::STORE => {
                let second = if op.pair() == 1 { dst } else { Registers::NONE };
                based(Self { reads: a.with(b).with(c).with(second), ..Self::default() }, false)
            }
            H::BIT_FIELD_INSERT => plain(b.with(c)),
            H::EXTRACT | H::SHIFT | H::MULTIPLY_HIGH | H::DIVIDE | H::CRC32 => plain(a.with(b)),
            H::MULTIPLY_ADD | H::MULTIPLY_ADD_LONG => plain(a.with(b).with(c)),
            H::REVERSE_BITS | H::REVERSE_BYTES | H::COUNT_LEADING_ZEROS | H::COUNT_LEADING_SIGNS => plain(a),
            H::PC_RELATIVE | H::NOP | H::CLEAR_EXCLUSIVE | H::LOAD_LITERAL => plain(Registers::NONE),
            H::READ_SYSTEM => match system_register(op) {
                "nzcv" => plain(Registers::NONE).flags(NZCV, 0),
                "fpcr" | "fpsr" => plain(CONTROL),
                _ => plain(Registers::NONE),
            },
            H::WRITE_SYSTEM => match system_register(op) {
                "nzcv" => plain(a).flags(0, NZCV),
                "fpcr" | "fpsr" => plain(a.with(CONTROL)).writing(CONTROL),
                _ => plain(a),
            },
            H::MANIPULATE_FLAGS => plain(a).flags(NZCV, NZCV),
            H::AUTHENTICATE => plain(a.with(b)),
            H::LOAD_EXCLUSIVE => plain(a).writing(if op.pair() == 1 { c } else { Registers::NONE }),
            H::STORE_EXCLUSIVE => plain(a.with(b).with(c)),
            H::ATOMIC => plain(a.with(b)),
            H::COMPARE_AND_SWAP => {
                let reads = a.with(b).with(c);
                if op.pair() == 0 {
                    return plain(reads);
                }
                let [second, compared] = [op.c() + 1, op.b() + 1].map(Registers::of);
                plain(reads.with(second).with(compared)).writing(compared)
            }
            H::ZERO_BLOCK | H::CHECK_READ => plain(a),
            H::VECTOR_LOAD | H::VECTOR_STORE => {
                let is_load = handler == H::VECTOR_LOAD;
                let (first, second) = if is_load { (op.dst(), op.c()) } else { (op.c(), op.dst()) };
                let second = if op.pair() == 1 { second } else { first };
                let transferred = Registers::vector(first).with(Registers::vector(second));
                let is_literal = op.index() == INDEX_LITERAL;
                let base = Self { reads: a.with(b), ..Self::default() };
                let effects = if is_literal { Self::default() } else { based(base, false) };
                effects.transferring(is_load, transferred)
            }
            H::VECTOR_LOAD_STRUCTURES | H::VECTOR_STORE_STRUCTURES => {
                let offset = if op.index() == INDEX_POST_REGISTER { b } else { Registers::NONE };
                let first = op.imm as u32;
                let transferred = (first..first + op.registers())
                    .fold(Registers::NONE, |all, register| all.with(Registers::vector(register & 31)));
                let is_load = handler == H::VECTOR_LOAD_STRUCTURES;
                // A load to one element keeps the others.
                let kept = if op.transfer() == TRANSFER_LANE { transferred } else { Registers::NONE };
                let effects = Self { reads: a.with(offset).with(kept), ..Self::default() };
                based(effects, false).transferring(is_load, transferred)
            }
            H::VECTOR_MOVE | H::VECTOR_PERMUTE | H::VECTOR_INTEGER | H::VECTOR_FLOAT | H::VECTOR_CRYPTO => {
                Operands::of(op).map_or_else(|| Self::unknown(op), Self::of_vectors)
            }
            H::AUTHENTICATE_BRANCH
            | H::AUTHENTICATE_LOAD
            | H::STALE
            | H::SUPERVISOR_CALL
            | H::BREAKPOINT
            | H::HALT
            | H::UNDEFINED => Self::unknown(op),
        }
    }

    /// Returns the effects of a micro-op of vectors that does not access memory.
    fn of_vectors(operands: Operands) -> Self {
        let Operands { n, table, m, d, general, cond, uses_control, result } = operands;
        let vectors = [n, m, d].into_iter().flatten().map(Registers::vector);
        let tables = (1..table).filter_map(|next| n.map(|n| Registers::vector((n + next) & 31)));
        let control = if uses_control { CONTROL } else { Registers::NONE };
        let general = general.map_or(Registers::NONE, Registers::of);
        let reads = vectors.chain(tables).fold(general.with(control), Registers::with);
        let (written, sets_flags) = match result {
            Target::Vector(register) => (Registers::vector(register), 0),
            Target::General(register) => (Registers::of(register), 0),
            Target::Flags => (Registers::NONE, NZCV),
        };
        let effects = Self { reads, ..Self::default() }.writing(written.with(control));
        effects.flags(cond.map_or(0, condition_flags), sets_flags)
    }

    /// Returns the effects of a micro-op of which only the register fields are known: it may do anything to them.
    fn unknown(op: MicroOp) -> Self {
        let [dst, a, b, c] = [op.dst(), op.a(), op.b(), op.c()].map(Registers::of);
        let reads = a.with(b).with(c);
        Self { reads, may_write: dst, reads_flags: NZCV, may_set_flags: NZCV, ..Self::default() }
    }

    /// Adds registers that are written.
    const fn writing(mut self, registers: Registers) -> Self {
        self.writes = self.writes.with(registers);
        self.may_write = self.may_write.with(registers);
        self
    }

    /// Adds the registers that a load writes, or a store reads.
    const fn transferring(mut self, is_load: bool, registers: Registers) -> Self {
        if is_load {
            return self.writing(registers);
        }
        self.reads = self.reads.with(registers);
        self
    }

    /// Sets the flags that are read and set.
    const fn flags(mut self, reads: u32, sets: u32) -> Self {
        self.reads_flags = reads;
        self.sets_flags = sets;
        self.may_set_flags = sets;
        self
    }
}

/// Returns the name of the register of MRS or MSR.
pub(crate) fn system_register(op: MicroOp) -> &'static str {
    SYSTEM_REGISTERS.get(op.operation() as usize).copied().unwrap_or_default()
}

/// Returns the condition that a micro-op reads.
#[must_use]
pub(crate) fn condition_of(op: MicroOp) -> Option<u32> {
    match handler(op)? {
        Handler::SELECT | Handler::BRANCH | Handler::CONDITIONAL_COMPARE => Some(op.cond()),
        _ => Operands::of(op)?.cond,
    }
}

impl Flow {
    /// Returns where execution goes on after the micro-op at `pc`.
    #[must_use]
    pub fn of(pc: u64, op: MicroOp) -> Self {
        use Handler as H;
        let target = pc.wrapping_add(op.imm);
        let links = op.dst() == LINK;
        match handler(op) {
            // Conditions 14 and 15 always hold.
            Some(H::BRANCH) if op.cond() < 14 => Self::Either(target),
            Some(H::BRANCH) if links => Self::Call(target),
            Some(H::BRANCH) => Self::Always(target),
            Some(H::TEST_BRANCH) => Self::Either(target),
            Some(H::BRANCH_REGISTER) if links => Self::RegisterCall,
            Some(H::BRANCH_REGISTER) if op.a() == LINK => Self::Return,
            Some(H::BRANCH_REGISTER) => Self::Register,
            Some(
                H::AUTHENTICATE_BRANCH
                | H::AUTHENTICATE_LOAD
                | H::STALE
                | H::SUPERVISOR_CALL
                | H::BREAKPOINT
                | H::HALT
                | H::UNDEFINED,
            )
            | None => Self::Stop,
            Some(_) => Self::Next,
        }
    }
}
