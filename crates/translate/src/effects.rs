//! What a micro-op reads and writes, and where execution goes on.

use kvrm_arm64::micro_op::{
    CARRY_FLAG, Handler, INDEX_LITERAL, INDEX_OFFSET, INDEX_POST_REGISTER, MicroOp, SYSTEM_REGISTERS,
};

use crate::registers::Registers;

/// All flags: N is 8, Z is 4, C is 2, V is 1.
pub const NZCV: u32 = 15;

/// The number of the link register.
const LINK: u32 = 30;

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
            H::READ_SYSTEM => plain(Registers::NONE).flags(flags_if(is_flags(op)), 0),
            H::WRITE_SYSTEM => plain(a).flags(0, flags_if(is_flags(op))),
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
            // In these, dst and c are SIMD&FP registers.
            H::VECTOR_LOAD | H::VECTOR_STORE => {
                let index = if op.index() == INDEX_LITERAL { INDEX_OFFSET } else { op.index() };
                let base = if index == INDEX_OFFSET { Registers::NONE } else { a };
                Self { reads: a.with(b), ..Self::default() }.writing(base)
            }
            H::VECTOR_LOAD_STRUCTURES | H::VECTOR_STORE_STRUCTURES => {
                let offset = if op.index() == INDEX_POST_REGISTER { b } else { Registers::NONE };
                based(Self { reads: a.with(offset), ..Self::default() }, false)
            }
            H::STALE
            | H::VECTOR_MOVE
            | H::VECTOR_PERMUTE
            | H::VECTOR_INTEGER
            | H::VECTOR_FLOAT
            | H::VECTOR_CRYPTO
            | H::SUPERVISOR_CALL
            | H::BREAKPOINT
            | H::HALT
            | H::UNDEFINED => Self::unknown(op),
        }
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

    /// Sets the flags that are read and set.
    const fn flags(mut self, reads: u32, sets: u32) -> Self {
        self.reads_flags = reads;
        self.sets_flags = sets;
        self.may_set_flags = sets;
        self
    }
}

/// Whether MRS or MSR is of the flags.
fn is_flags(op: MicroOp) -> bool {
    SYSTEM_REGISTERS.get(op.operation() as usize) == Some(&"nzcv")
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
            Some(H::STALE | H::SUPERVISOR_CALL | H::BREAKPOINT | H::HALT | H::UNDEFINED) | None => Self::Stop,
            Some(_) => Self::Next,
        }
    }
}
